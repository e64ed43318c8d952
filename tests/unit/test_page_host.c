#include "apps/treacle/page_host.h"

#include "unit/unit.h"

static const char* const names[] = {"studio.local", "render-1:9000", "farm:80"};

static bool is_ours(const char* address, int port, const char* host) {
    page_hosts hosts = {.address = address, .port = port, .name_count = 3, .names = names};
    return page_host_is_ours(&hosts, "192.168.1.5", host);
}

static void test_this_machine_is_known_by_its_names(void** state) {
    (void)state;
    static const char* const addresses[] = {NULL, "127.0.0.1", "0.0.0.0", "192.168.1.5"};
    for (size_t k = 0; k < 4; ++k) {
        assert_true(is_ours(addresses[k], 8357, "localhost:8357"));
        assert_true(is_ours(addresses[k], 8357, "LocalHost:8357"));
        assert_true(is_ours(addresses[k], 8357, "127.0.0.1:8357"));
        assert_true(is_ours(addresses[k], 8357, "[::1]:8357"));
    }
}

static void test_names_of_others_are_refused_wherever_it_listens(void** state) {
    (void)state;
    static const char* const addresses[] = {NULL, "0.0.0.0", "192.168.1.5"};
    static const char* const hosts[] = {"evil.example:8357",
                                        "evil.example",
                                        "",
                                        ":8357",
                                        "127.0.0.1.evil.example:8357",
                                        "localhost.evil.example:8357",
                                        "192.168.1.5.evil.example:8357",
                                        "10.0.0.7:8357",
                                        "evil.example:8357@localhost:8357",
                                        "localhost:8357:8357",
                                        "localhost:+8357",
                                        "localhost: 8357",
                                        "localhost:",
                                        "localhost:8357x",
                                        "localhost:008357",
                                        "[::1:8357",
                                        "studio.local.evil.example:8357"};
    for (size_t k = 0; k < 3; ++k) {
        for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); ++i) {
            if (is_ours(addresses[k], 8357, hosts[i])) {
                print_error("%s is let in\n", hosts[i]);
            }
            assert_false(is_ours(addresses[k], 8357, hosts[i]));
        }
        assert_false(is_ours(addresses[k], 8357, NULL));
    }
}

static void test_an_address_is_ours_where_it_is_listened_on(void** state) {
    (void)state;
    assert_true(is_ours("192.168.1.5", 8357, "192.168.1.5:8357"));
    assert_true(is_ours("0.0.0.0", 8357, "192.168.1.5:8357")); // that the request arrived at
    assert_false(is_ours("0.0.0.0", 8357, "192.168.1.6:8357"));
    assert_false(is_ours("0.0.0.0", 8357, "0.0.0.0:8357"));
    assert_false(is_ours(NULL, 8357, "192.168.1.5:8357"));
    assert_false(is_ours("192.168.1.5", 8357, "192.168.1.5:8358"));
}

static void test_the_port_of_http_need_not_be_said(void** state) {
    (void)state;
    assert_true(is_ours(NULL, 80, "localhost"));
    assert_true(is_ours(NULL, 80, "127.0.0.1"));
    assert_true(is_ours(NULL, 80, "[::1]"));
    assert_true(is_ours(NULL, 80, "localhost:80"));
    assert_true(is_ours("0.0.0.0", 80, "192.168.1.5"));
    assert_true(is_ours(NULL, 80, "studio.local"));
    assert_false(is_ours(NULL, 80, "evil.example"));
    assert_false(is_ours(NULL, 8357, "localhost"));
}

static void test_names_that_the_user_gave_are_ours(void** state) {
    (void)state;
    assert_true(is_ours("0.0.0.0", 8357, "studio.local:8357"));
    assert_true(is_ours("0.0.0.0", 8357, "Studio.Local:8357"));
    assert_false(is_ours("0.0.0.0", 8357, "studio.local:9000"));
    assert_true(is_ours("0.0.0.0", 8357, "render-1:9000"));
    assert_false(is_ours("0.0.0.0", 8357, "render-1:8357"));
    assert_true(is_ours("0.0.0.0", 8357, "farm"));
    assert_true(is_ours("0.0.0.0", 8357, "farm:80"));
}

static void test_only_names_can_be_given(void** state) {
    (void)state;
    assert_true(page_host_is_name("studio.local"));
    assert_true(page_host_is_name("render-1:9000"));
    assert_true(page_host_is_name("10.0.0.7"));
    static const char* const wrong[] = {
        "", "*", "http://studio.local", "a b", "a:", "a:x", "a:0", ":80", "a/b", "a:123456"};
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); ++k) {
        assert_false(page_host_is_name(wrong[k]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_this_machine_is_known_by_its_names),
        cmocka_unit_test(test_names_of_others_are_refused_wherever_it_listens),
        cmocka_unit_test(test_an_address_is_ours_where_it_is_listened_on),
        cmocka_unit_test(test_the_port_of_http_need_not_be_said),
        cmocka_unit_test(test_names_that_the_user_gave_are_ours),
        cmocka_unit_test(test_only_names_can_be_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
