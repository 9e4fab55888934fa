#include "cmd_open.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

void bz_cmd_open_diags(struct bz_cmd_env *env, struct bz_pipeline *p)
{
    BZ_CLEANUP(bz_buf_release) struct bz_buf text = {0};

    if (!p->library)
        return;
    bz_library_diags(p->library, &text);
    bz_out_put(&env->log, bz_buf_text(&text), text.len);
}

int bz_cmd_open_project(struct bz_cmd_env *env, struct bz_pipeline *p,
                        struct bz_err *err)
{
    char cwd[PATH_MAX];
    struct bz_pipeline_opts opts = {.cwd = cwd, .env = (const char *const *)environ};
    int rc;

    if (!getcwd(cwd, sizeof(cwd)))
        return bz_fail_sys(err, "find the working directory");
    rc = bz_pipeline_open(p, &opts, err);
    bz_cmd_open_diags(env, p);
    return rc;
}
