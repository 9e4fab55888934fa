/* request.h - what a client asks for, taken from a JSON text without building a tree.
 *
 *     {"opcode": 3, "task_id": 42, "args": {...}, "timeout_ms": 500, "priority":
 * "high"}
 *
 * opcode is a number or a name; all others may be left out. The text is checked as a
 * whole, strictly (RFC 8259, UTF-8, at most BZ_REQUEST_DEPTH deep); what is in "args"
 * is left as text for the handler. Members that are not known are an error: a misspelt
 * one would be ignored silently otherwise.
 */
#ifndef BZ_JOBS_REQUEST_H
#define BZ_JOBS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

#define BZ_REQUEST_MAX ((size_t)16 << 20) /* bytes of a text */
#define BZ_REQUEST_DEPTH 64
#define BZ_REQUEST_NAME 63           /* bytes of an opcode's name */
#define BZ_REQUEST_OPCODES 4096      /* a number is below this */
#define BZ_REQUEST_TIMEOUT 86400000U /* milliseconds at most: a day */

enum bz_request_priority { BZ_REQUEST_HIGH, BZ_REQUEST_NORMAL, BZ_REQUEST_PRIORITIES };

struct bz_request {
    struct bz_str opname; /* of the opcode; n == 0: it was given by number */
    uint32_t opcode;
    uint64_t id;        /* 0: none was given; it is never 0 */
    struct bz_str args; /* a JSON object, or n == 0 */
    uint32_t timeout;   /* milliseconds; 0: none was given */
    enum bz_request_priority priority;
};

/* Slices are of the text. BZ_E_INVAL with "column 7: ..."; if an id was read before
 * that, it is in *out. BZ_E_LIMIT if it is too long or deep. */
int bz_request_parse(struct bz_str text, struct bz_request *out,
                     struct bz_err *err) BZ_MUST_CHECK;

#endif
