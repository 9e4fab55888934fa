#include "jobs/jobconf.h"

#include <ctype.h>
#include <fcntl.h>
#include <stddef.h>

#include "base/mem.h"
#include "os/fs.h"
#include "os/path.h"

#define TEXT_MAX ((size_t)1 << 20)
#define LISTED_MAX 256

/* The numbers that can be set. */
static const struct number {
    const char *name;
    size_t at;
    uint64_t min, max;
    bool small; /* a field of 32 bits */
} numbers[] = {
    {"thread_count",          offsetof(struct bz_jobconf, threads),    1, 1024,               true },
    {"io_thread_count",       offsetof(struct bz_jobconf, io_threads), 1, 1024,               true },
    {"initial_task_capacity", offsetof(struct bz_jobconf, tasks),      1, 1 << 24,            false},
    {"task_capacity",         offsetof(struct bz_jobconf, tasks_max),  1, 1 << 24,            false},
    {"result_queue_capacity", offsetof(struct bz_jobconf, results),    1, 1 << 24,            false},
    {"mailbox_capacity",      offsetof(struct bz_jobconf, mail),       1, 1 << 24,            false},
    {"timeout_ms",            offsetof(struct bz_jobconf, timeout),    0, BZ_REQUEST_TIMEOUT, true },
};

static int set_number(struct bz_jobconf *c, const struct number *n, struct bz_str value,
                      struct bz_err *err)
{
    uint64_t u;
    char *field = (char *)c + n->at;
    int rc = bz_str_parse_u64(value, 10, n->max, &u, err);

    if (rc < 0 || u < n->min)
        return bz_fail(err, BZ_E_INVAL, "%s is a number from %llu to %llu, not '%.*s'",
                       n->name, (unsigned long long)n->min, (unsigned long long)n->max,
                       BZ_STR_ARG(value));
    if (n->small)
        memcpy(field, &(uint32_t){(uint32_t)u}, sizeof(uint32_t));
    else
        memcpy(field, &(size_t){u}, sizeof(size_t));
    return 0;
}

static int add_path(struct bz_jobconf *c, struct bz_jobconf_texts *to,
                    struct bz_str value, struct bz_err *err)
{
    if (!bz_path_is_absolute(value))
        return bz_fail(err, BZ_E_INVAL, "'%.*s' is no absolute path",
                       BZ_STR_ARG(value));
    if (to->len == LISTED_MAX)
        return bz_fail(err, BZ_E_LIMIT, "more than %d", LISTED_MAX);
    while (value.n > 1 && value.p[value.n - 1] == '/')
        value.n--;
    BZ_VEC_PUSH(to, bz_arena_dup(&c->arena, value));
    return 0;
}

static int add_load(struct bz_jobconf *c, struct bz_str value, unsigned line,
                    struct bz_err *err)
{
    int rc = add_path(c, &c->loads, value, err);

    if (rc == 0)
        BZ_VEC_PUSH(&c->load_lines, line);
    return rc;
}

static int add_binding(struct bz_jobconf *c, struct bz_str name, struct bz_str value,
                       unsigned line, struct bz_err *err)
{
    struct bz_jobconf_binding b = {.line = line};
    struct bz_str word;
    uint64_t opcode;

    if (bz_str_parse_u64(name, 10, BZ_REQUEST_OPCODES - 1, &opcode, err) < 0)
        return bz_fail(err, BZ_E_INVAL, "an opcode is a number below %d, not '%.*s'",
                       BZ_REQUEST_OPCODES, BZ_STR_ARG(name));
    b.opcode = (uint32_t)opcode;
    for (size_t i = 0; i < c->bindings.len; i++)
        if (c->bindings.at[i].opcode == b.opcode)
            return bz_fail(err, BZ_E_INVAL,
                           "opcode %u has a handler in line %u already", b.opcode,
                           c->bindings.at[i].line);
    if (!bz_str_next_word(&value, &word) || word.n > BZ_REQUEST_NAME)
        return bz_fail(err, BZ_E_INVAL, "opcode %u wants the name of a handler",
                       b.opcode);
    b.name = bz_arena_dup(&c->arena, word);
    while (bz_str_next_word(&value, &word)) {
        b.isolate |= bz_str_eq(word, BZ_STR("process"));
        b.here |= bz_str_eq(word, BZ_STR("thread"));
        if (!bz_str_eq(word, BZ_STR("process")) && !bz_str_eq(word, BZ_STR("thread")))
            return bz_fail(err, BZ_E_INVAL,
                           "'%.*s': a handler runs in a \"process\" or a \"thread\"",
                           BZ_STR_ARG(word));
    }
    BZ_VEC_PUSH(&c->bindings, b);
    return 0;
}

static int read_setting(struct bz_jobconf *c, struct bz_str name, struct bz_str value,
                        unsigned line, struct bz_err *err)
{
    for (size_t i = 0; i < BZ_COUNTOF(numbers); i++)
        if (bz_str_eq(name, bz_str_from(numbers[i].name)))
            return set_number(c, &numbers[i], value, err);
    if (bz_str_eq(name, BZ_STR("root")))
        return add_path(c, &c->roots, value, err);
    if (bz_str_eq(name, BZ_STR("load")))
        return add_load(c, value, line, err);
    if (bz_str_eq(name, BZ_STR("watch")) && c->watches.len > 0)
        return bz_fail(err, BZ_E_INVAL, "one directory is watched already");
    if (bz_str_eq(name, BZ_STR("watch")))
        return add_path(c, &c->watches, value, err);
    if (name.n > 0 && isdigit((unsigned char)name.p[0]))
        return add_binding(c, name, value, line, err);
    return bz_fail(err, BZ_E_INVAL, "there is no setting '%.*s'",
                   (int)(name.n > 60 ? 60 : name.n), name.p);
}

int bz_jobconf_parse(struct bz_jobconf *c, struct bz_str text, const char *path,
                     struct bz_err *err)
{
    struct bz_str line;
    unsigned number = 0;

    while (text.n > 0 && bz_str_next_part(&text, '\n', &line)) {
        size_t equals;
        int rc;

        number++;
        line = bz_str_trim(line);
        if (line.n == 0 || line.p[0] == '#')
            continue;
        equals = bz_str_find_byte(line, '=');
        rc =
            equals == BZ_STR_NONE
                ? bz_fail(err, BZ_E_INVAL, "expected name=value")
                : read_setting(c, bz_str_trim(bz_str_sub(line, 0, equals)),
                               bz_str_trim(bz_str_drop(line, equals + 1)), number, err);
        if (rc < 0)
            return bz_err_wrap(err, "%s:%u", path, number);
    }
    return 0;
}

int bz_jobconf_read(struct bz_jobconf *c, const char *path, struct bz_err *err)
{
    BZ_CLEANUP(bz_mem_freep) char *text = NULL;
    size_t n;
    int rc = bz_fs_read(AT_FDCWD, path, TEXT_MAX, &text, &n, err);

    return rc < 0 ? rc : bz_jobconf_parse(c, bz_str_of(text, n), path, err);
}

void bz_jobconf_release(struct bz_jobconf *c)
{
    bz_vec_release(&c->bindings);
    bz_vec_release(&c->roots);
    bz_vec_release(&c->loads);
    bz_vec_release(&c->load_lines);
    bz_vec_release(&c->watches);
    bz_arena_release(&c->arena);
    *c = (struct bz_jobconf){0};
}
