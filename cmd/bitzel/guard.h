/* guard.h - what the bitzel.conf of a project may not decide.
 *
 * Whoever looks at a project, a pull request say, has not read that file yet. It may be
 * stricter than the system and the user are, never less so: else it could send their
 * results or tokens elsewhere, have their keys sign for it, or put results of strangers
 * into a store that other projects use as well. So in a project's file
 *
 *   - cache.upload, cache.verify and sandbox count only if they allow no more;
 *   - cache.sign, cache.keys and state.dir, where keys are, do not count;
 *   - cache.tiers counts if every tier is one that the system or the user names, with
 * no more rights than there, or else one that is only read and trusts certain keys:
 *     where they say which keys to trust, one of these.
 */
#ifndef BZ_CMD_GUARD_H
#define BZ_CMD_GUARD_H

#include "config/settings.h"

/* As bz_settings_guard_fn. */
int bz_guard_check(const struct bz_settings_entry *before, enum bz_setting_id id,
                   const struct bz_settings_entry *now,
                   struct bz_err *err) BZ_MUST_CHECK;

#endif
