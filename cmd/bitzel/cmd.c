#include "cmd.h"

#include <string.h>

#include "base/near.h"

const struct bz_cmd *bz_cmd_find(const struct bz_cmd_env *env, const char *name,
                                 struct bz_err *err)
{
    struct bz_near near;
    char hint[96];

    bz_near_init(&near, name);
    for (const struct bz_cmd *const *cmd = env->commands; *cmd; cmd++) {
        if (strcmp((*cmd)->name, name) == 0)
            return *cmd;
        bz_near_offer(&near, (*cmd)->name);
    }
    (void)bz_fail(err, BZ_E_INVAL, "there is no command '%.48s'%s", name,
                  bz_near_text(&near, "", hint, sizeof(hint)));
    return NULL;
}
