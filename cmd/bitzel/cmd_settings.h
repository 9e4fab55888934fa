/* cmd_settings.h - the settings that hold where a command runs.
 *
 * They are read once, before the command. A mistake in them is an error of the commands
 * that need settings; the others go on without.
 */
#ifndef BZ_CMD_CMD_SETTINGS_H
#define BZ_CMD_CMD_SETTINGS_H

#include "cmd.h"

/* Reads them for the current directory: to be called by main. */
void bz_cmd_settings_load(struct bz_cmd_env *env);

/* What was read. BZ_E_INVAL if something there is wrong. */
int bz_cmd_settings_get(struct bz_cmd_env *env, struct bz_settings **out,
                        struct bz_err *err) BZ_MUST_CHECK;

#endif
