/* crowd.h - what the programs of a crowd share. */
#ifndef BZ_TEST_JOBS_CROWD_H
#define BZ_TEST_JOBS_CROWD_H

#include <bitzel/jobs.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    CROWD_LINE = 160,
    CROWD_WINDOW = 32,         /* jobs that a client has under way */
    CROWD_WRONG = 1000,        /* requests of the vandal */
    CROWD_PATIENCE_MS = 60000, /* for one result, on a machine with much else to do */
    CROWD_VANDAL = 9999,       /* its number among the clients */
};

struct crowd {
    const struct crowd_way *way;
    unsigned clients, victims;
    unsigned each; /* jobs of a client */
    char dir[64], socket[80], mail[80];
    atomic_uchar *ran; /* how often a job was run, for all processes */
};

/* A way in. Both end the process if something is wrong. */
struct crowd_way {
    const char *name;
    void (*client)(const struct crowd *c, unsigned number, unsigned jobs);
    void (*vandal)(const struct crowd *c);
};

extern const struct crowd_way crowd_socket, crowd_memory, crowd_directory;

void crowd_die(const char *what) __attribute__((noreturn));

/* The request for a job, and what it is answered with; each returns its length. */
size_t crowd_request(char *line, unsigned client, unsigned number);
size_t crowd_reply(char *text, unsigned client, unsigned number);

/* A request that is wrong. */
size_t crowd_wrong(char *line, unsigned i);

#endif
