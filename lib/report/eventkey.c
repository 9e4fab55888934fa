#include "report/eventkey.h"

const char *bz_eventkey_name(enum bz_eventkey key)
{
    static const char *const names[BZ_EVENTKEY_COUNT] = {
        [BZ_EVENTKEY_AFTER] = "after",
        [BZ_EVENTKEY_AHEAD] = "ahead",
        [BZ_EVENTKEY_AT] = "at",
        [BZ_EVENTKEY_BITZEL] = "bitzel",
        [BZ_EVENTKEY_BLOBS_READ] = "blobs_read",
        [BZ_EVENTKEY_BLOBS_WRITTEN] = "blobs_written",
        [BZ_EVENTKEY_BYTES] = "bytes",
        [BZ_EVENTKEY_BYTES_READ] = "bytes_read",
        [BZ_EVENTKEY_BYTES_WRITTEN] = "bytes_written",
        [BZ_EVENTKEY_CACHED] = "cached",
        [BZ_EVENTKEY_CPU] = "cpu",
        [BZ_EVENTKEY_ERROR] = "error",
        [BZ_EVENTKEY_EVALUATED] = "evaluated",
        [BZ_EVENTKEY_EVENT] = "event",
        [BZ_EVENTKEY_EXECUTED] = "executed",
        [BZ_EVENTKEY_EXIT_CODE] = "exit_code",
        [BZ_EVENTKEY_EXPECT] = "expect",
        [BZ_EVENTKEY_FAILED] = "failed",
        [BZ_EVENTKEY_HITS] = "hits",
        [BZ_EVENTKEY_JOBS] = "jobs",
        [BZ_EVENTKEY_KEY] = "key",
        [BZ_EVENTKEY_KIND] = "kind",
        [BZ_EVENTKEY_LOG] = "log",
        [BZ_EVENTKEY_MEMORY] = "memory",
        [BZ_EVENTKEY_MEMORY_USED] = "memory_used",
        [BZ_EVENTKEY_MISSES] = "misses",
        [BZ_EVENTKEY_MORE] = "more",
        [BZ_EVENTKEY_NETWORK] = "network",
        [BZ_EVENTKEY_NOEXEC] = "noexec",
        [BZ_EVENTKEY_NOT_NEEDED] = "not_needed",
        [BZ_EVENTKEY_NOT_STARTED] = "not_started",
        [BZ_EVENTKEY_OOM_KILLS] = "oom_kills",
        [BZ_EVENTKEY_OTHER] = "other",
        [BZ_EVENTKEY_PATH] = "path",
        [BZ_EVENTKEY_PLACE] = "place",
        [BZ_EVENTKEY_SAME] = "same",
        [BZ_EVENTKEY_SAVED] = "saved",
        [BZ_EVENTKEY_SIGNAL] = "signal",
        [BZ_EVENTKEY_TARGETS] = "targets",
        [BZ_EVENTKEY_TASK] = "task",
        [BZ_EVENTKEY_TASKS] = "tasks",
        [BZ_EVENTKEY_TEXT] = "text",
        [BZ_EVENTKEY_TIME] = "time",
        [BZ_EVENTKEY_TIMEOUT] = "timeout",
        [BZ_EVENTKEY_TOOK] = "took",
        [BZ_EVENTKEY_TOTAL] = "total",
        [BZ_EVENTKEY_UNLESS] = "unless",
        [BZ_EVENTKEY_VERSION] = "version",
        [BZ_EVENTKEY_WHAT] = "what",
        [BZ_EVENTKEY_WORK] = "work",
    };

    return names[key];
}

#define F(key, help)                                                                   \
    {                                                                                  \
        BZ_EVENTKEY_##key, help                                                        \
    }

static const struct bz_eventkey_field begin[] = {
    F(EVENT, "'begin'"),
    F(VERSION, "The version of this format: 1"),
    F(BITZEL, "The version of the program"),
    F(TIME, "When the build began, in UTC: 2026-01-31T12:34:56Z"),
    F(TARGETS, "What was asked for, a list"),
    F(JOBS, "How many tasks may run at a time"),
};

static const struct bz_eventkey_field passed[] = {
    F(EVENT, "'passed'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(AFTER, "The tasks that it waits for directly; a build that found at once that it "
             "has nothing to do does not know them"),
};

static const struct bz_eventkey_field cached[] = {
    F(EVENT, "'cached'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(VERSION, "The version of the recipe"),
    F(KEY, "Its signature, in hexadecimal digits"),
    F(AFTER, "The tasks that it waits for directly; a build that found at once that it "
             "has nothing to do does not know them"),
    F(SAME, "Whether it was found by the trees it sees, not by its signature"),
    F(SAVED, "How long it took when it ran, in seconds, if that is known"),
};

static const struct bz_eventkey_field unneeded[] = {
    F(EVENT, "'unneeded'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(SAVED, "How long it took when it ran, in seconds, if that is known"),
};

static const struct bz_eventkey_field planned[] = {
    F(EVENT, "'planned'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASKS, "Tasks of the graph"),
    F(CACHED, "Results that were used"),
    F(NOT_NEEDED, "Tasks that only stored results would have needed"),
    F(NOEXEC, "Tasks without anything to run"),
    F(SAVED, "How long all that is not needed took when it ran, in seconds, as far as "
             "that is known"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

static const struct bz_eventkey_field wanted[] = {
    F(EVENT, "'wanted'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(VERSION, "The version of the recipe"),
    F(KEY, "Its signature, in hexadecimal digits"),
    F(AFTER, "The tasks that it waits for directly; a build that found at once that it "
             "has nothing to do does not know them"),
    F(UNLESS, "Whether it runs only if the output of a task changes that it waits for"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

static const struct bz_eventkey_field started[] = {
    F(EVENT, "'started'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(VERSION, "The version of the recipe"),
    F(KEY, "Its signature, in hexadecimal digits"),
    F(AFTER, "The tasks that it waits for directly; a build that found at once that it "
             "has nothing to do does not know them"),
    F(LOG, "The path of its log, if it has one"),
    F(EXPECT, "How long it takes, by earlier runs, in seconds"),
    F(AHEAD, "How long it takes until the last task that waits for it is done, "
             "likewise; each only if earlier runs tell"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

static const struct bz_eventkey_field progress[] = {
    F(EVENT, "'progress'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(WHAT, "Its address"),
    F(BYTES, "How many have come"),
    F(TOTAL, "How many there are; 0 if that is not known"),
};

static const struct bz_eventkey_field fetched[] = {
    F(EVENT, "'fetched'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(WHAT, "Its address"),
    F(BYTES, "Its size; 0 if that is not known"),
    F(TOOK, "How long it took, in seconds"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

static const struct bz_eventkey_field done[] = {
    F(EVENT, "'done'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(TOOK, "How long it ran, in seconds"),
    F(CPU, "Its CPU time in seconds, if it was measured"),
    F(MEMORY, "The most bytes that one of its processes had, likewise"),
    F(LOG, "The path of its log, if it has one"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

static const struct bz_eventkey_field failed[] = {
    F(EVENT, "'failed'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(TOOK, "How long it ran, in seconds"),
    F(CPU, "Its CPU time in seconds, if it was measured"),
    F(MEMORY, "The most bytes that one of its processes had, likewise"),
    F(EXIT_CODE, "Its exit status, if it ended by itself"),
    F(SIGNAL, "The number of the signal that ended it, if one did"),
    F(OOM_KILLS, "How many processes, its own or others, the kernel killed for lack of "
                 "memory while it ran, if any"),
    F(TIMEOUT, "The seconds after which it was stopped, if it was"),
    F(ERROR, "Why it could not be run, if that is so"),
    F(NETWORK, "What it tried to reach without being allowed to: ADDRESS port PORT"),
    F(LOG, "The path of its log, if it has one"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

static const struct bz_eventkey_field overlap[] = {
    F(EVENT, "'overlap'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(OTHER, "The other task"),
    F(PATH, "The path"),
    F(MORE, "How many more paths they have written so"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

static const struct bz_eventkey_field remark[] = {
    F(EVENT, "'remark'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(TEXT, "A line of its log, which says that it is a warning or an error"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

static const struct bz_eventkey_field differs[] = {
    F(EVENT, "'differs'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TASK, "The task: [mc:CONFIGURATION:]RECIPE:TASK"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

static const struct bz_eventkey_field traffic[] = {
    F(EVENT, "'traffic'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(PLACE, "Its directory or address"),
    F(KIND, "'local', 'directory' or 'http'"),
    F(HITS, "Results that were found there"),
    F(MISSES, "Results that were not"),
    F(BLOBS_READ, "Files that came from there"),
    F(BYTES_READ, "Their size"),
    F(BLOBS_WRITTEN, "Files that went there"),
    F(BYTES_WRITTEN, "Their size"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

static const struct bz_eventkey_field end[] = {
    F(EVENT, "'end'"),
    F(AT, "Seconds since tasks were looked at first"),
    F(TOOK, "How long tasks were looked at and run, in seconds"),
    F(EXECUTED, "Tasks that ran to a good end"),
    F(FAILED, "Tasks that failed"),
    F(NOT_STARTED,
      "Tasks that were not started because others failed, or the build was stopped"),
    F(TASKS, "Tasks of the graph"),
    F(CACHED, "Results that were used"),
    F(NOT_NEEDED, "Tasks that only stored results would have needed"),
    F(NOEXEC, "Tasks without anything to run"),
    F(EVALUATED, "How many times a recipe was evaluated; 0 if all were remembered"),
    F(MEMORY_USED, "The most bytes of the machine's memory that were in use while "
                   "tasks ran, if any did"),
    F(WORK,
      "What all tasks take that are left to run, added, by earlier runs, in seconds"),
};

#define L(name, help)                                                                  \
    {                                                                                  \
#name, help, name, BZ_COUNTOF(name)                                            \
    }

static const struct bz_eventkey_line lines[BZ_EVENTKEY_LINES] = {
    [BZ_EVENTKEY_LINE_BEGIN] = L(begin, "The first line: which build it is"),
    [BZ_EVENTKEY_LINE_PASSED] =
        L(passed,
          "There is nothing to be run for a task (noexec) that another one waits for"),
    [BZ_EVENTKEY_LINE_CACHED] =
        L(cached, "A stored result is used: the task does not run"),
    [BZ_EVENTKEY_LINE_UNNEEDED] =
        L(unneeded, "A task that only stored results would have needed; such lines "
                    "come just before 'planned'"),
    [BZ_EVENTKEY_LINE_PLANNED] =
        L(planned, "It is known what is to be done; if stored results turn out to be "
                   "lost, it comes again"),
    [BZ_EVENTKEY_LINE_WANTED] = L(wanted, "In a dry run: the task would run"),
    [BZ_EVENTKEY_LINE_STARTED] = L(started, "A task starts"),
    [BZ_EVENTKEY_LINE_PROGRESS] = L(progress, "How far a download of a task is"),
    [BZ_EVENTKEY_LINE_FETCHED] = L(fetched, "A download has ended well"),
    [BZ_EVENTKEY_LINE_DONE] =
        L(done, "A task has ended well, and its result is stored"),
    [BZ_EVENTKEY_LINE_FAILED] =
        L(failed, "A task has failed, or its result could not be stored"),
    [BZ_EVENTKEY_LINE_OVERLAP] =
        L(overlap,
          "Two tasks that do not wait for each other have written a path differently"),
    [BZ_EVENTKEY_LINE_REMARK] =
        L(remark, "A task that has ended said something that should be seen"),
    [BZ_EVENTKEY_LINE_DIFFERS] =
        L(differs, "A task that ran has made something else from what it saw before; "
                   "the first result stays"),
    [BZ_EVENTKEY_LINE_TRAFFIC] =
        L(traffic, "What went to and from one place of the cache; such lines come just "
                   "before the last one"),
    [BZ_EVENTKEY_LINE_END] = L(end, "The last line: the build has ended"),
};

const struct bz_eventkey_line *bz_eventkey_line(enum bz_eventkey_kind kind)
{
    return &lines[kind];
}

uint64_t bz_eventkey_mask(enum bz_eventkey_kind kind)
{
    uint64_t mask = 0;

    for (size_t i = 0; i < lines[kind].nfields; i++)
        mask |= (uint64_t)1 << lines[kind].fields[i].key;
    return mask;
}
