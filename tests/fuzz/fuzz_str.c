#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdlib.h>

#include "base/str.h"

/* Against strtoull(3), which sees only texts that it reads by the same rules. */
static void check_number(struct bz_str s, unsigned base, const char *digits)
{
    char text[72];
    uint64_t value = 0;
    struct bz_err err;
    int rc = bz_str_parse_u64(s, base, UINT64_MAX, &value, &err);

    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\0' || !strchr(digits, s.p[i]))
            BZ_ASSERT(rc == BZ_E_INVAL);
    BZ_ASSERT(s.n > 0 || rc == BZ_E_INVAL);
    if (rc == BZ_E_INVAL || s.n >= sizeof(text))
        return;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    errno = 0;
    BZ_ASSERT(strtoull(text, NULL, (int)base) == value || rc == BZ_E_LIMIT);
    BZ_ASSERT((errno == ERANGE) == (rc == BZ_E_LIMIT));
}

/* Words lie in s one after the other, are not empty, and have no space at an end. */
static void check_words(struct bz_str s)
{
    const char *at = s.p;
    struct bz_str rest = s, word;

    while (bz_str_next_word(&rest, &word)) {
        BZ_ASSERT(word.n > 0 && word.p >= at && word.p + word.n <= s.p + s.n);
        BZ_ASSERT(bz_str_trim(word).n == word.n);
        at = word.p + word.n;
    }
}

/* Parts and separators together are as long as s. */
static void check_parts(struct bz_str s)
{
    struct bz_str rest = s, part;
    size_t total = 0, parts = 0;

    while (bz_str_next_part(&rest, ':', &part)) {
        BZ_ASSERT(bz_str_find_byte(part, ':') == BZ_STR_NONE);
        total += part.n;
        parts++;
    }
    BZ_ASSERT(parts > 0 && total + parts - 1 == s.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_str s = bz_str_of(data ? (const char *)data : "", size);

    check_number(s, 8, "01234567");
    check_number(s, 10, "0123456789");
    check_number(s, 16, "0123456789abcdefABCDEF");
    check_words(s);
    check_parts(s);
    return 0;
}
