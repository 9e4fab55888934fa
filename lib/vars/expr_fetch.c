#include "vars/expr_fetch.h"

#include <ctype.h>

#include "vars/expr_lib.h"
#include "vars/expr_os.h"
#include "vars/expr_str.h"
#include "vars/vars.h"

/* What is fetched from elsewhere. */
static const char remote_schemes[] =
    "az ccrc crate ftp ftps git gitannex gitsm gomod gomodgit gs hg http https npm "
    "npmsw p4 repo s3 sftp ssh svn";

/* As Python's urlparse() takes it: "" if the text does not begin with one. */
static struct bz_str scheme_of(struct bz_str url)
{
    size_t n = bz_str_find_byte(url, ':');

    if (n == BZ_STR_NONE || n == 0 || !isalpha((unsigned char)url.p[0]))
        return BZ_STR("");
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)url.p[i];

        if (c >= 0x80 || (!isalnum(c) && !strchr("+-.", c)))
            return BZ_STR("");
    }
    return bz_str_sub(url, 0, n);
}

static bool is_scheme(struct bz_str scheme, const char *words)
{
    struct bz_str rest = bz_str_from(words), word;

    while (bz_str_next_word(&rest, &word))
        if (word.n == scheme.n && strncasecmp(word.p, scheme.p, word.n) == 0)
            return true;
    return false;
}

static int digit_of(char c)
{
    return isdigit((unsigned char)c)    ? c - '0'
           : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10
                                        : -1;
}

/* %41 becomes A. Bytes beyond ASCII might not be UTF-8, and are left to Python. */
static int unquote(struct bz_expr_run *r, struct bz_str path, struct bz_str *out)
{
    char *to;
    size_t n = 0;
    int rc = bz_expr_value_room(r, path.n + 1, &to);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < path.n; i++) {
        int high = path.p[i] == '%' && i + 2 < path.n ? digit_of(path.p[i + 1]) : -1;
        int low = high >= 0 ? digit_of(path.p[i + 2]) : -1;

        if (low < 0) {
            to[n++] = path.p[i];
            continue;
        }
        if (high >= 8)
            return bz_expr_value_unknown(r, "such a quoted character in a URL");
        to[n++] = (char)(high * 16 + low);
        i += 2;
    }
    *out = bz_str_of(to, n);
    return 0;
}

/* The path of a file: URL without its parameters. One or two slashes after the colon
 * may be missing; a query and a fragment do not belong to the path. */
static int path_of(struct bz_expr_run *r, struct bz_str url, struct bz_str *out)
{
    struct bz_str path = url, unused;

    path = bz_str_sub(path, scheme_of(url).n + 1, path.n);
    if (bz_str_cut_prefix(&path, BZ_STR("//")) && path.n == 0)
        path = BZ_STR("/");
    (void)bz_str_cut(path, '#', &path, &unused);
    (void)bz_str_cut(path, '?', &path, &unused);
    if (path.n == 0)
        path = BZ_STR("/");
    return unquote(r, path, out);
}

static int push_place(struct bz_expr_run *r, struct bz_expr_seq *list,
                      struct bz_str path, bool *there)
{
    struct bz_str answer;
    struct bz_expr_value v;
    char *text;
    int rc;

    if ((rc = bz_expr_os_exists(r, path, false, there)) < 0)
        return rc;
    answer = *there ? BZ_STR(":True") : BZ_STR(":False");
    if ((rc = bz_expr_value_room(r, path.n + answer.n, &text)) < 0)
        return rc;
    memcpy(text, path.p, path.n);
    memcpy(text + path.n, answer.p, answer.n);
    v = bz_expr_value_str(bz_str_of(text, path.n + answer.n));
    return bz_expr_value_push(r, list, &v);
}

/* The first of the directories that has it, and all that come before. */
static int search(struct bz_expr_run *r, struct bz_expr_seq *list, struct bz_str path,
                  bool *there)
{
    struct bz_expr_value dirs, next;
    struct bz_str rest, dir;
    int rc = bz_expr_lib_get_named(r, BZ_STR("FILESPATH"), &dirs);

    if (rc < 0 || !bz_expr_value_true(&dirs))
        return rc;
    rest = dirs.s;
    while (rc == 0 && !*there && bz_str_next_part(&rest, ':', &dir)) {
        rc = bz_expr_os_join(r, dir, path, &next);
        if (rc == 0)
            rc = push_place(r, list, next.s, there);
    }
    return rc;
}

static int nowhere(struct bz_expr_run *r, struct bz_str path)
{
    struct bz_expr_value pn;
    size_t slash = bz_str_rfind_byte(path, '/');
    int rc = bz_expr_lib_get_named(r, BZ_STR("PN"), &pn);

    if (rc < 0)
        return rc;
    if (pn.kind != BZ_EXPR_STR)
        pn.s = BZ_STR("None");
    return bz_fail(r->err, BZ_E_INVAL,
                   "BBHandledException: Unable to get checksum for %.*s SRC_URI entry "
                   "%.*s: file could not be found; the directories of FILESPATH were "
                   "searched",
                   BZ_STR_ARG(pn.s), BZ_STR_ARG(bz_str_sub(path, slash + 1, path.n)));
}

static bool has_name_list(struct bz_str params)
{
    struct bz_str part;

    while (params.n > 0 && bz_str_next_part(&params, ';', &part))
        if (bz_str_cut_prefix(&part, BZ_STR("name=")) &&
            bz_str_find_byte(part, ',') != BZ_STR_NONE)
            return true;
    return false;
}

static int add_url(struct bz_expr_run *r, struct bz_expr_seq *list, struct bz_str url)
{
    struct bz_str text = {0}, place, params = {0}, path = {0};
    bool there = false;
    int rc = bz_vars_expand(r->vars, url, (struct bz_str){0}, NULL, &text, r->err);

    if (rc < 0)
        return rc;
    (void)bz_str_cut(text, ';', &place, &params);
    if (has_name_list(params))
        return bz_expr_value_unknown(r, "a URL with several names");
    if (is_scheme(scheme_of(place), remote_schemes))
        return 0;
    if (!is_scheme(scheme_of(place), "file"))
        return bz_expr_value_unknown(r, "a URL of such a kind");
    if ((rc = path_of(r, place, &path)) < 0)
        return rc;
    if (bz_str_find_byte(path, '*') != BZ_STR_NONE)
        return bz_fail(r->err, BZ_E_INVAL,
                       "bb.fetch2.ParameterError: '%.*s': file:// urls using globbing "
                       "are no longer supported; name the directory instead",
                       BZ_STR_ARG(url));
    rc = bz_str_starts(path, BZ_STR("/")) ? push_place(r, list, path, &there)
                                          : search(r, list, path, &there);
    return rc < 0 || there ? rc : nowhere(r, path);
}

int bz_expr_fetch_list(struct bz_expr_run *r, const struct bz_expr_args *a,
                       struct bz_expr_value *out)
{
    struct bz_expr_value urls, list;
    struct bz_expr_seq *seq;
    struct bz_str rest, url;
    int rc;

    if ((rc = bz_expr_lib_want_data(r, &a->at[0])) < 0 ||
        (rc = bz_expr_lib_get_named(r, BZ_STR("SRC_URI"), &urls)) < 0 ||
        (rc = bz_expr_lib_want_str(r, &urls, "split")) < 0 ||
        (rc = bz_expr_value_new_seq(r, 0, &seq)) < 0)
        return rc;
    rest = urls.s;
    while (rc == 0 && bz_str_next_word(&rest, &url))
        rc = add_url(r, seq, url);
    if (rc < 0)
        return rc;
    list = bz_expr_value_seq(BZ_EXPR_LIST, seq);
    return bz_expr_str_join(r, BZ_STR(" "), &list, out);
}
