#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "jobs/jobconf.h"

static void check_bindings(const struct bz_jobconf *c, size_t size)
{
    for (size_t i = 0; i < c->bindings.len; i++) {
        const struct bz_jobconf_binding *b = &c->bindings.at[i];

        BZ_ASSERT(b->opcode < BZ_REQUEST_OPCODES && b->line > 0 && b->line <= size);
        BZ_ASSERT(b->name.n > 0 && b->name.n <= BZ_REQUEST_NAME);
        for (size_t k = 0; k < i; k++)
            BZ_ASSERT(c->bindings.at[k].opcode != b->opcode);
    }
}

static void check_paths(const struct bz_jobconf_texts *paths)
{
    for (size_t i = 0; i < paths->len; i++)
        BZ_ASSERT(paths->at[i].n > 0 && paths->at[i].p[0] == '/' &&
                  strlen(paths->at[i].p) <= paths->at[i].n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bz_jobconf c = {0};
    struct bz_err err = {0};
    int rc = bz_jobconf_parse(&c, bz_str_of((const char *)data, size), "config", &err);

    BZ_ASSERT(rc == 0 || strncmp(err.msg, "config:", 7) == 0);
    if (rc == 0) {
        BZ_ASSERT(c.threads <= 1024 && c.io_threads <= 1024);
        BZ_ASSERT(c.timeout <= BZ_REQUEST_TIMEOUT);
        check_bindings(&c, size);
        check_paths(&c.roots);
        check_paths(&c.loads);
    }
    bz_jobconf_release(&c);
    return 0;
}
