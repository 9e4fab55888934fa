#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/bz_test.h"

/* Remembers the last line, and how many there were. */
struct memory {
    char line[BZ_LOG_MAX + 2];
    size_t n;
    enum bz_log_level level;
    int count;
};

static void remember(void *arg, enum bz_log_level level, const char *line, size_t n)
{
    struct memory *m = arg;

    memcpy(m->line, line, n + 2);
    m->n = n;
    m->level = level;
    m->count++;
    errno = EIO; /* a sink may fail inside; its errno is nobody's business */
}

static struct memory memory;
static const struct bz_log_sink to_memory = {remember, &memory};

static int setup(void **state)
{
    (void)state;
    memory = (struct memory){0};
    bz_log_set_level(BZ_LOG_WARN);
    bz_log_set_sink(&to_memory);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    bz_log_set_sink(NULL);
    bz_log_set_level(BZ_LOG_WARN);
    return 0;
}

static void line_is_tag_level_message(void **state)
{
    (void)state;
    bz_log_set_level(BZ_LOG_DEBUG);
    bz_log_error("cache", "lost %d", 1);
    assert_string_equal(memory.line, "cache: error: lost 1\n");
    assert_int_equal(memory.n, strlen("cache: error: lost 1"));
    assert_int_equal(memory.level, BZ_LOG_ERROR);
    bz_log_warn("fetch", "%s", "slow");
    assert_string_equal(memory.line, "fetch: warn: slow\n");
    assert_int_equal(memory.level, BZ_LOG_WARN);
    bz_log_info("exec", "start");
    assert_string_equal(memory.line, "exec: info: start\n");
    assert_int_equal(memory.level, BZ_LOG_INFO);
    bz_log_debug("sig", "why");
    assert_string_equal(memory.line, "sig: debug: why\n");
    assert_int_equal(memory.level, BZ_LOG_DEBUG);
}

static void lines_above_the_level_are_dropped(void **state)
{
    static const enum bz_log_level levels[] = {BZ_LOG_ERROR, BZ_LOG_WARN, BZ_LOG_INFO,
                                               BZ_LOG_DEBUG};
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(levels); i++) {
        bz_log_set_level(levels[i]);
        memory.count = 0;
        bz_log_error("t", "x");
        bz_log_warn("t", "x");
        bz_log_info("t", "x");
        bz_log_debug("t", "x");
        assert_int_equal(memory.count, i + 1);
        assert_true(bz_log_on(levels[i]));
        assert_true(bz_log_on(BZ_LOG_ERROR));
        assert_int_equal(bz_log_on(BZ_LOG_DEBUG), levels[i] == BZ_LOG_DEBUG);
    }
}

static void unprintable_bytes_are_escaped(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"a\nb\r\tc",                              "a\\x0ab\\x0d\\x09c"  },
        {"\x1b[31m\x7f",                           "\\x1b[31m\\x7f"      },
        {"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7",
         "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7"                        },
        {"\xc2\xa0",                               "\xc2\xa0"            },
        {"\xc2\x9b"
         "31m",                           "\\xc2\\x9b31m"       }, /* C1: CSI */
        {"\x9b",                                   "\\x9b"               },
        {"\xc3",                                   "\\xc3"               }, /* cut short */
        {"\xe2\x82",                               "\\xe2\\x82"          },
        {"\xe2\x82x",                              "\\xe2\\x82x"         },
        {"\xc0\x8a",                               "\\xc0\\x8a"          }, /* overlong */
        {"\xe0\x80\x8a",                           "\\xe0\\x80\\x8a"     },
        {"\xf0\x80\x80\x8a",                       "\\xf0\\x80\\x80\\x8a"},
        {"\xed\xa0\x80",                           "\\xed\\xa0\\x80"     }, /* surrogate */
        {"\xf4\x90\x80\x80",                       "\\xf4\\x90\\x80\\x80"}, /* above U+10FFFF */
        {"\xff\xfe",                               "\\xff\\xfe"          },
        {"back\\slash",                            "back\\slash"         },
        {"",                                       ""                    },
    };
    char expected[128];
    size_t i;

    (void)state;
    for (i = 0; i < BZ_COUNTOF(cases); i++) {
        bz_log_warn("t", "%s", cases[i].in);
        snprintf(expected, sizeof(expected), "t: warn: %s\n", cases[i].out);
        assert_string_equal(memory.line, expected);
    }
    bz_log_warn("a\nb", "x");
    assert_string_equal(memory.line, "a\\x0ab: warn: x\n");
}

/* Logs n characters and returns whether the line was cut. */
static bool logs_cut(int n, const char *character)
{
    static char text[4 * BZ_LOG_MAX];
    size_t width = strlen(character);
    int i;

    for (i = 0; i < n; i++)
        memcpy(text + (size_t)i * width, character, width);
    text[(size_t)n * width] = '\0';
    bz_log_warn("t", "%s", text);
    assert_true(memory.n <= BZ_LOG_MAX);
    assert_int_equal(memory.line[memory.n], '\n');
    assert_int_equal(strlen(memory.line), memory.n + 1);
    return memory.n >= 3 && memcmp(memory.line + memory.n - 3, "...", 3) == 0;
}

static void long_lines_are_cut_with_a_mark(void **state)
{
    const int room = BZ_LOG_MAX - (int)strlen("t: warn: ");
    int n;

    (void)state;
    assert_false(logs_cut(room, "x"));
    assert_int_equal(memory.n, BZ_LOG_MAX);
    assert_true(logs_cut(room + 1, "x"));
    assert_int_equal(memory.n, BZ_LOG_MAX);
    assert_true(logs_cut(BZ_LOG_MAX + 1000, "x"));
    for (n = 0; n < 6; n++) { /* escapes and characters do not end at the limit */
        assert_false(logs_cut(room / 4 - n, "\n"));
        assert_true(logs_cut(room / 4 + 1 + n, "\n"));
    }
}

static void cutting_does_not_split_a_character(void **state)
{
    size_t pad;

    (void)state;
    for (pad = 0; pad < 4; pad++) {
        char text[BZ_LOG_MAX + 64] = "ppp";
        size_t n;

        for (n = pad; n + 4 < sizeof(text); n += 4)
            memcpy(text + n, "\xf0\x9f\x90\xa7", 5);
        bz_log_warn("t", "%s", text);
        n = memory.n - 3 - strlen("t: warn: ") - pad;
        assert_memory_equal(memory.line + memory.n - 3, "...", 3);
        assert_int_equal(n % 4, 0);
        assert_true(memory.n > BZ_LOG_MAX - 4);
    }
}

static void errno_survives_logging(void **state)
{
    (void)state;
    errno = ENOENT;
    bz_log_warn("t", "x");
    assert_int_equal(errno, ENOENT);
}

enum { THREADS = 4, LINES = 200 };

static void *log_lines(void *arg)
{
    int i;

    for (i = 0; i < LINES; i++)
        bz_log_warn("thread", "%s %0*d", (const char *)arg, 200 + i, i);
    return NULL;
}

/* What was read from the pipe, judged after the threads are done. */
struct reader {
    int fd;
    FILE *copy;
};

static void *read_all(void *arg)
{
    struct reader *r = arg;
    char bytes[4096];
    ssize_t n;

    while ((n = read(r->fd, bytes, sizeof(bytes))) > 0)
        fwrite(bytes, 1, (size_t)n, r->copy);
    return NULL;
}

/* Each thread's lines come whole and in its order. */
static void judge(FILE *copy)
{
    int next[THREADS] = {0};
    char line[1024], name;
    int number, lines = 0;

    rewind(copy);
    while (fgets(line, sizeof(line), copy)) {
        assert_int_equal(sscanf(line, "thread: warn: %c %d", &name, &number), 2);
        assert_in_range(name, 'a', 'a' + THREADS - 1);
        assert_int_equal(number, next[name - 'a']++);
        assert_int_equal(strlen(line),
                         strlen("thread: warn: a \n") + 200 + (size_t)number);
        lines++;
    }
    assert_int_equal(lines, THREADS * LINES);
}

static void lines_of_many_threads_on_stderr_never_mix(void **state)
{
    static char names[THREADS][2] = {"a", "b", "c", "d"};
    pthread_t threads[THREADS], reading;
    struct reader r = {.copy = tmpfile()};
    int fds[2], saved, i;

    (void)state;
    bz_log_set_sink(NULL);
    assert_non_null(r.copy);
    assert_int_equal(pipe(fds), 0);
    r.fd = fds[0];
    saved = dup(STDERR_FILENO);
    assert_true(saved >= 0);
    assert_true(dup2(fds[1], STDERR_FILENO) >= 0);
    close(fds[1]);
    pthread_create(&reading, NULL, read_all, &r);
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, log_lines, names[i]);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    dup2(saved, STDERR_FILENO); /* closes the last writer, so the reader ends */
    close(saved);
    pthread_join(reading, NULL);
    close(fds[0]);
    judge(r.copy);
    fclose(r.copy);
}

static void closed_stderr_is_no_catastrophe(void **state)
{
    int saved = dup(STDERR_FILENO);

    (void)state;
    bz_log_set_sink(NULL);
    close(STDERR_FILENO);
    errno = 0;
    bz_log_error("t", "nobody hears this");
    assert_int_equal(errno, 0);
    dup2(saved, STDERR_FILENO);
    close(saved);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(line_is_tag_level_message, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_above_the_level_are_dropped, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(unprintable_bytes_are_escaped, setup, teardown),
        cmocka_unit_test_setup_teardown(long_lines_are_cut_with_a_mark, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(cutting_does_not_split_a_character, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(errno_survives_logging, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_of_many_threads_on_stderr_never_mix,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(closed_stderr_is_no_catastrophe, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
