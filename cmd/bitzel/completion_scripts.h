/* completion_scripts.h - the files of completion/ as text; CMake writes the source. */
#ifndef BZ_CMD_COMPLETION_SCRIPTS_H
#define BZ_CMD_COMPLETION_SCRIPTS_H

struct bz_completion_script {
    const char *shell; /* NULL: the row after the last one */
    const char *text;
};
extern const struct bz_completion_script bz_completion_scripts[];

#endif
