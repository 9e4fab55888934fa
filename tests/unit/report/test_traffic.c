#include "report/traffic.h"

#include "os/clock.h"
#include "tests/unit/report/example.h"

#define FETCHED(what, bytes, took)                                                     \
    "{\"event\":\"fetched\",\"at\":1,\"task\":\"a:do_fetch\",\"what\":\"" what         \
    "\",\"bytes\":" #bytes ",\"took\":" #took "}\n"
#define PLACE(place, kind, n)                                                          \
    "{\"event\":\"traffic\",\"at\":2,\"place\":\"" place "\",\"kind\":\"" kind         \
    "\",\"hits\":" #n ",\"misses\":1,\"blobs_read\":2,\"bytes_read\":" #n              \
    "0,\"blobs_written\":3,\"bytes_written\":" #n "00}\n"

static void read_log(struct bz_account *a, const char *text)
{
    struct bz_err err;

    assert_ok(bz_account_read(a, bz_str_from(text), "log", &err), &err);
}

static void downloads_are_added_up_by_server_the_largest_first(void **state)
{
    static const struct {
        const char *from;
        uint64_t files, bytes;
        int64_t took;
    } want[] = {
        {"https://two.example", 1, 50, BZ_CLOCK_S    },
        {"https://one.example", 2, 7,  3 * BZ_CLOCK_S},
        {"file://",             1, 0,  0             },
        {"strange",             1, 0,  0             },
    };
    struct bz_account a = {0};
    struct bz_traffic t = {0};

    (void)state;
    read_log(&a, EXAMPLE_BEGIN FETCHED("https://one.example/x", 3, 1)
                     FETCHED("file:///srv/mirror/y", 0, 0) FETCHED("strange", -4, -1)
                         FETCHED("https://two.example/x/y/z", 50, 1)
                             FETCHED("https://one.example/y", 4, 2));
    bz_traffic_downloads(&t, &a);
    assert_int_equal(t.len, BZ_COUNTOF(want));
    for (size_t i = 0; i < BZ_COUNTOF(want); i++) {
        assert_true(bz_str_eq(t.at[i].from, bz_str_from(want[i].from)));
        assert_int_equal(t.at[i].files, want[i].files);
        assert_int_equal(t.at[i].bytes, want[i].bytes);
        assert_int_equal(t.at[i].took, want[i].took);
    }
    bz_vec_release(&t);
    bz_account_release(&a);
}

static void the_local_store_is_told_apart(void **state)
{
    struct bz_account a = {0};

    (void)state;
    read_log(&a, EXAMPLE_BEGIN FETCHED("https://one.example/x", 3, 1)
                     PLACE("/store", "local", 9) PLACE("dir:/team", "directory", 2)
                         PLACE("https://cache.example", "http", 4));
    assert_true(bz_traffic_is_local(&a.places.at[0]));
    assert_false(bz_traffic_is_local(&a.places.at[2]));
    assert_int_equal(a.places.at[1].blobs_written, 3);
    bz_account_release(&a);
}

static void without_such_events_there_is_nothing(void **state)
{
    struct bz_account a = {0};
    struct bz_traffic t = {0};

    (void)state;
    read_log(&a, EXAMPLE);
    bz_traffic_downloads(&t, &a);
    assert_int_equal(t.len, 0);
    bz_vec_release(&t);
    bz_account_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(downloads_are_added_up_by_server_the_largest_first),
        cmocka_unit_test(the_local_store_is_told_apart),
        cmocka_unit_test(without_such_events_there_is_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
