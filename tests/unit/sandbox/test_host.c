#include "sandbox/host.h"

#include "tests/unit/bz_test.h"

static void policy(bool network, struct bz_buf *out)
{
    BZ_CLEANUP(bz_spec_release) struct bz_spec s;

    bz_spec_init(&s);
    s.network = network;
    bz_host_add(&s);
    bz_spec_print(&s, BZ_SPEC_POLICY, out);
}

static void tools_are_shown_and_homes_are_not(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    (void)state;
    policy(false, &text);
    assert_non_null(strstr(bz_buf_text(&text), "host \"/usr\"\n"));
    assert_non_null(strstr(bz_buf_text(&text), "host \"/etc/alternatives\"\n"));
    assert_null(strstr(bz_buf_text(&text), "/home"));
    assert_null(strstr(bz_buf_text(&text), "resolv.conf"));
}

static void with_the_network_names_and_certificates_are_shown(void **state)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    (void)state;
    policy(true, &text);
    assert_non_null(strstr(bz_buf_text(&text), "host \"/etc/resolv.conf\"\n"));
    assert_non_null(strstr(bz_buf_text(&text), "host \"/etc/ssl\"\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tools_are_shown_and_homes_are_not),
        cmocka_unit_test(with_the_network_names_and_certificates_are_shown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
