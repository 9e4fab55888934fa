/* check_tools.h - checks of programs and of the surroundings that tasks and people see:
 * a part of check.h. Nothing that is made for a try stays. */
#ifndef BZ_CMD_CHECK_TOOLS_H
#define BZ_CMD_CHECK_TOOLS_H

#include "check.h"

/* Programs that bitzel starts by itself. */
void bz_check_tools_present(const struct bz_check_host *host, struct bz_check_row *row);
/* A named pipe for makes, and a make that knows of it. */
void bz_check_tools_jobserver(const struct bz_check_host *host,
                              struct bz_check_row *row);
/* An overlay mounted in a user namespace, as for a task. */
void bz_check_tools_overlay(const struct bz_check_host *host, struct bz_check_row *row);
/* The devices that every sandbox shows. */
void bz_check_tools_devices(const struct bz_check_host *host, struct bz_check_row *row);
/* A whole sandbox, with its overlay where the store is. */
void bz_check_tools_sandbox(const struct bz_check_host *host, struct bz_check_row *row);
/* Whether texts are UTF-8. */
void bz_check_tools_locale(const struct bz_check_host *host, struct bz_check_row *row);
/* What a build can draw on. */
void bz_check_tools_terminal(const struct bz_check_host *host,
                             struct bz_check_row *row);

#endif
