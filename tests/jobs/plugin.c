/* Handlers that a config file loads, for loaded.c. */
#include <bitzel/jobs.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int tell_pid(bitzel_call *call, void *user_data)
{
    char text[24];

    (void)user_data;
    return bitzel_call_reply(call, text,
                             (size_t)snprintf(text, sizeof(text), "%d", (int)getpid()));
}

static int crash(bitzel_call *call, void *user_data)
{
    (void)call;
    (void)user_data;
    abort();
}

extern const bitzel_handler_row bitzel_handlers[];
__attribute__((visibility("default"))) const bitzel_handler_row bitzel_handlers[] = {
    {"tell_pid", tell_pid, NULL, 0},
    {"crash",    crash,    NULL, 0},
    {NULL,       NULL,     NULL, 0},
};
