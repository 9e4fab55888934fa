/* sandbox.h - starts programs that see only what a spec shows them.
 *
 * A child has user, mount, pid, ipc, uts and cgroup namespaces of its own, and, unless
 * its spec allows the network, one of the network that no other sandbox uses at the
 * same time. It has no capabilities but those of a root over its own files, if it is
 * root inside; it can gain none; and system calls that only administrators need are
 * refused (filter.h). Everything in it dies when its first process does, and that dies
 * with us. No privilege is needed, no helper program, and root is treated like anybody.
 *
 * Any thread may call anything but close. The children are those of the calling thread:
 * they die when it ends.
 */
#ifndef BZ_SANDBOX_SANDBOX_H
#define BZ_SANDBOX_SANDBOX_H

#include "os/proc.h"
#include "sandbox/spec.h"

struct bz_sandbox;
struct bz_sandbox_seat; /* namespaces that one child at a time has */

struct bz_sandbox_child {
    struct bz_proc proc; /* for bz_proc_reap() or bz_proc_pump_adopt() */
    struct bz_sandbox_seat *seat;
    char tried[72]; /* after bz_sandbox_leave(): "ADDRESS port PORT" that it tried to
                       reach though it had no network, the first one; or empty */
};

/* `anchor` is an empty directory, which stays empty. BZ_E_NOSUP if this machine has no
 * namespaces for us; the message says why. BZ_E_IO, here and for bare ones, if a device
 * that sandboxes show is something else (devices.h). */
int bz_sandbox_open(const char *anchor, struct bz_sandbox **out,
                    struct bz_err *err) BZ_MUST_CHECK;

/* Whether this machine has namespaces for us, without anything that stays open.
 * BZ_E_NOSUP as above. */
int bz_sandbox_probe(struct bz_err *err) BZ_MUST_CHECK;

/* For machines without: what runs in it is on the host's root, as the user that we are,
 * and is kept by landlock.h and filter.h from all that its spec does not show, as far
 * as these can; nothing is mounted, so paths are those of the host. Still it is in a
 * session of its own, and all that it leaves is killed when it ends or we do.
 * BZ_E_NOSUP if this kernel has not what it takes. */
int bz_sandbox_open_bare(struct bz_sandbox **out, struct bz_err *err) BZ_MUST_CHECK;
int bz_sandbox_probe_bare(struct bz_err *err) BZ_MUST_CHECK;
/* No child may be left. NULL is fine. */
void bz_sandbox_close(struct bz_sandbox *sb);
void bz_sandbox_closep(struct bz_sandbox **sb);

/* Starts spec->argv. Of `io` the three standard streams count. That the program does
 * not exist inside is not a failure of this call: its exit status is 127 then. */
int bz_sandbox_start(struct bz_sandbox *sb, const struct bz_spec *spec,
                     const struct bz_proc_spec *io, struct bz_sandbox_child *child,
                     struct bz_err *err) BZ_MUST_CHECK;

/* To be called when the child has been reaped. */
void bz_sandbox_leave(struct bz_sandbox *sb, struct bz_sandbox_child *child);

#endif
