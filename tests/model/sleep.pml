/* sleep.pml - how workers fall asleep, are woken and are started, step for step.
 *
 * The labels I1..I10, W1, N1..N3, L1, P1, D1, D2 are those of lib/pool. Every atomic
 * block is one atomic access of the C code, together with the thread's own
 * calculations. A compare-and-swap loop is one block, since its failed attempts change
 * nothing. Plain stores of a deque's bottom wait in a store buffer (`unseen`) that
 * drains at any time, and at the latest with the next read-modify-write of the same
 * thread, as on x86.
 *
 * judge() says what must hold once nothing can move any more. README.md says what is
 * left out; check.py lists the configurations and the mutants, each a set of defines.
 */

/* Who takes part. */
#ifndef WORKERS
#define WORKERS 2 /* they find nothing at first and go to sleep */
#endif
#ifndef EAGER
#define EAGER WORKERS /* how many of them run from the start */
#endif
#ifndef PUSHES
#define PUSHES 0 /* items a busy thread pushes to its deque; it never looks again */
#endif
#ifndef POST1
#define POST1 0 /* items an outside thread posts in one go, */
#endif
#ifndef POST2
#define POST2 0 /* and in a second go */
#endif
#ifndef POST3
#define POST3 0 /* items another outside thread posts */
#endif
#ifndef FORKS
#define FORKS 0 /* how many of the items push one more when they run */
#endif
#ifndef JUST_DONE
#define JUST_DONE 0 /* 1: those that run from the start have just finished an item */
#endif
#ifndef SETS
#define SETS 0 /* 1: worker 0 awaits a latch that another thread sets; */
#endif         /* WORKERS: all await theirs, which shutting down sets */
/* FENCED: there is no membarrier; pushes are read-modify-writes instead.
 * TAKE_ONE: the injector hands out one item at a time, which keeps the deques empty.
 * LONG: every item takes for ever, instead of any of them.
 * FUTEX: the kernel's part is modelled too: late, missing and spurious wake-ups. */

#define PUSHER WORKERS /* the busy thread has the main worker's slot */
#define OUTSIDE (WORKERS + 1)
#define DEQUES (WORKERS + 1)

/* The deques that can ever hold something: the others are not worth looking at. */
#if FORKS > 0 || (POST1 + POST2 + POST3 > 1 && !defined(TAKE_ONE))
#define FIRST_DEQUE 0
#else
#define FIRST_DEQUE PUSHER
#endif
#if PUSHES > 0
#define LAST_DEQUE PUSHER
#else
#define LAST_DEQUE (WORKERS - 1)
#endif
#define IS_VISIBLE(q) ((q) < started || (q) == PUSHER)
#define HOLDS(q) (top[q] < bottom[q])

#define OUTSIDERS ((SETS > 0) + (PUSHES > 0) + (POST1 > 0) + (POST3 > 0))

#define AWAKE 0
#define DROWSY 1
#define ASLEEP 2

#define UNSET 0
#define SLEEPY 1
#define SLEEPING 2
#define SET 3

/* The word `counters`; `events` starts even, as in bz_sleep_init. */
byte sleeping, inactive, events;
byte nap[WORKERS];
bit parked[WORKERS]; /* in the kernel, waiting on its nap */
byte latch[WORKERS];

byte top[DEQUES + 1], bottom[DEQUES + 1]; /* bottom: as the other threads see it */
byte unseen[DEQUES + 1];                  /* pushes in the owner's store buffer */
byte injector;

byte started = EAGER;
bit start_mu, stopped;

/* For judge() alone. */
byte queued, ran, busy, left, alive, forks = FORKS;
byte outsiders = OUTSIDERS;

#define IS_SLEEPY (events % 2 == 0)
#ifdef IDLE_UNSIGNED
#define IDLE (inactive >= sleeping -> inactive - sleeping : 255)
#else
#define IDLE (inactive >= sleeping -> inactive - sleeping : 0)
#endif

/* Part of every read-modify-write by thread `who`. */
inline drain(who)
{
    bottom[who] = bottom[who] + unseen[who];
    unseen[who] = 0
}

/* bz_membarrier_all: reaches one thread after the other. */
inline membarrier()
{
    i = FIRST_DEQUE;
    do
    :: atomic { i <= LAST_DEQUE -> drain(i); i++ }
    :: atomic { i > LAST_DEQUE -> i = 0; break }
    od
}

/* bz_sleep_wake_any(k): uses i and old, sets woke if it took a nap from anybody. Waking
 * the worker `i` alone is wake_any with only = 1. */
inline wake_any(only)
{
    do
    :: atomic { k > 0 && i < WORKERS && nap[i] == AWAKE -> i = (only -> WORKERS : i + 1) }
    :: k > 0 && i < WORKERS && nap[i] != AWAKE ->
        atomic {
            drain(me);
            old = nap[i];
            nap[i] = AWAKE;
            k = (old == AWAKE -> k : k - 1);
            woke = (old == AWAKE -> woke : 1);
            printf("%d takes the nap of %d, which was %d\n", me, i, old)
        }
        if
        :: old == ASLEEP ->
#ifndef SLEEPER_ALONE
            atomic {
                assert(sleeping > 0);
                sleeping--;
                printf("%d counts %d out: sleeping=%d\n", me, i, sleeping)
            }
#endif
#if defined(FUTEX) && !defined(NO_FUTEX_WAKE)
            parked[i] = 0
#endif
        :: old != ASLEEP
        fi;
        atomic { old = 0; i = (only -> WORKERS : i + 1) }
    :: atomic { k == 0 || i >= WORKERS -> k = 0; i = 0; break }
    od
}

/* bz_sleep_new_work: uses s, idle, and what wake_any uses. */
inline new_work(n, was_empty)
{
    atomic { /* N1 */
        if
        :: IS_SLEEPY -> drain(me); events++
        :: else
        fi;
        s = sleeping;
        idle = (was_empty -> IDLE : 0);
        printf("%d N1: events=%d sleeping=%d idle=%d\n", me, events, s, idle)
    }
    if
    :: s == 0 /* N2 */
#ifndef NO_REREAD
    :: s > 0 && idle > 0 ->
        atomic { /* N3 */
            drain(me);
            k = (IDLE < n -> n - IDLE : 0);
            printf("%d N3: wakes %d\n", me, k)
        }
        wake_any(0)
    :: s > 0 && idle == 0 -> k = n; wake_any(0)
#else
    :: s > 0 -> k = (idle < n -> n - idle : 0); wake_any(0)
#endif
    fi;
    atomic { s = 0; idle = 0 }
}

/* Starts one more worker if that is allowed. */
inline start_one()
{
    atomic { start_mu == 0 -> start_mu = 1; drain(me) }
    if
    :: started < WORKERS && !stopped ->
#ifdef START_COUNTS_LATE
        atomic { run worker(started); alive++ }
        started++
#else
        started++;
        atomic { run worker(started - 1); alive++ }
#endif
    :: else
    fi;
    start_mu = 0
}

/* After new_work: if nobody is idle and nobody was woken, another thread may help. */
inline grow()
{
#if EAGER < WORKERS
    if
    :: !woke && started < WORKERS ->
        atomic {
#ifndef GROW_NO_BARRIER
            drain(me);
#endif
            s = inactive
        }
        if
        :: s == 0 -> start_one()
        :: else
        fi;
        s = 0
    :: else
    fi;
#endif
    woke = 0
}

/* D1: n items to the own deque. Sets was: it was empty before. */
inline push(n)
{
    atomic { was = (top[me] == bottom[me] + unseen[me] -> 1 : 0); k = n }
    do
    :: atomic {
        k > 0 ->
        unseen[me]++;
#ifdef FENCED
        drain(me);
#endif
        k--;
        printf("%d D1: pushes\n", me)
       }
    :: k == 0 -> break
    od
}

/* bz_worker_find: uses q and t; sets got, the number of items in hand. */
inline find()
{
#if FIRST_DEQUE == 0
    atomic { /* bz_deque_pop */
        if
        :: top[me] < bottom[me] + unseen[me] ->
            drain(me);
            got = 1;
            if
            :: top[me] + 1 < bottom[me] -> bottom[me] = bottom[me] - 1
            :: else -> top[me] = top[me] + 1
            fi;
            printf("%d pops\n", me)
        :: else
        fi
    }
#endif
    q = FIRST_DEQUE;
    do
    :: atomic { !got && q <= LAST_DEQUE && (!IS_VISIBLE(q) || q == me || !HOLDS(q)) -> q++ }
    :: atomic {
        !got && q <= LAST_DEQUE && IS_VISIBLE(q) && q != me && HOLDS(q) -> t = top[q]
       }
        atomic { /* bz_deque_steal, the compare-and-swap */
            if
            :: t == top[q] ->
                drain(me);
                top[q] = top[q] + 1;
                got = 1;
                printf("%d steals from %d\n", me, q)
            :: else
#ifdef NO_RETRY
                -> q++
#endif
            fi;
            t = 0
        }
    :: atomic { got || q > LAST_DEQUE -> q = 0; break }
    od;
    if
    :: !got && injector > 0 ->
        atomic { /* bz_injector_take: all or, if somebody was faster, nothing */
            drain(me);
#ifdef TAKE_ONE
            got = (injector > 0 -> 1 : 0);
#else
            got = injector;
#endif
            injector = injector - got;
            printf("%d takes %d from the injector\n", me, got)
        }
    :: else
    fi
}

/* bz_lane_has_work: uses q, sets got. */
inline has_work()
{
    atomic { got = (injector > 0 -> 1 : 0); q = FIRST_DEQUE }
    do
    :: atomic { !got && q <= LAST_DEQUE -> got = (IS_VISIBLE(q) && HOLDS(q) -> 1 : 0); q++ }
    :: atomic { got || q > LAST_DEQUE -> q = 0; break }
    od
}

/* W1 and the cascade: it leaves the idle, on whom somebody may have relied. */
inline stop_looking(cascade)
{
    if
    :: round > 0 ->
        atomic {
            drain(me);
            assert(inactive > 0);
            inactive--;
            s = sleeping;
            round = 0;
            snapshot = 0;
            printf("%d W1: inactive=%d sleeping=%d\n", me, inactive, s)
        }
        if
        :: cascade && (s > 0 || started < WORKERS) ->
            s = 0;
            has_work();
            if
            :: got ->
                atomic { got = 0; k = 1 }
                wake_any(0);
                if
                :: !woke && started < WORKERS -> start_one()
                :: else
                fi;
                woke = 0
            :: else
            fi
        :: else -> s = 0
        fi
    :: else
    fi
}

#ifdef NO_CASCADE
#define CASCADE 0
#else
#define CASCADE 1
#endif
#ifdef LEAVE_NO_CASCADE
#define CASCADE_LEAVING 0
#else
#define CASCADE_LEAVING CASCADE
#endif

proctype worker(byte me)
{
    byte round, snapshot, got, q, t, s, idle, k, i, old;
    bit was, woke;

#ifdef START_ACTIVE
    skip;
#else
    /* A new thread is one that looks for work: if it finds some it brings in the next. */
    atomic {
        if
        :: JUST_DONE && me < EAGER
        :: else ->
            inactive++;
            round = 1;
            printf("%d starts, inactive=%d\n", me, inactive)
        fi
    }
#endif

look:
#if SETS > 0
    if
    :: latch[me] == SET -> goto leave
    :: latch[me] != SET
    fi;
#endif
    find();
    if
    :: got -> goto found
    :: !got && round == 0 -> goto start_looking
    :: !got && round == 1 -> goto announce
    :: !got && round == 2 -> goto fall_asleep
    fi;

start_looking:
    atomic { /* I1 */
        inactive++;
        round = 1;
        printf("%d I1: inactive=%d\n", me, inactive)
    }
#ifdef SEARCH_TWICE
    goto look; /* I2 */
#endif

announce:
    atomic { /* I3 */
        drain(me);
        if
#ifdef SEED_JEC
        :: IS_SLEEPY -> events++
#else
        :: !IS_SLEEPY -> events++
#endif
        :: else
        fi;
        snapshot = events;
        round = 2;
        printf("%d I3: is sleepy, events=%d\n", me, events)
    }
#if !defined(NO_BARRIER) && !defined(FENCED)
    membarrier();
#endif
    goto look; /* I4 */

fall_asleep:
#if SETS > 0 && !defined(NO_SLEEPY)
    atomic { /* I5 */
        if
        :: latch[me] == SET -> goto leave
#ifdef LATCH_BEFORE_NAP
        :: latch[me] == UNSET -> latch[me] = SLEEPING
#else
        :: latch[me] == UNSET -> latch[me] = SLEEPY
#endif
        fi
    }
#endif
    atomic { /* I6 */
        nap[me] = DROWSY;
        printf("%d I6: is drowsy\n", me)
    }
#if SETS > 0 && !defined(LATCH_BEFORE_NAP)
    atomic { /* I7 */
        if
        :: latch[me] == SET -> nap[me] = AWAKE; goto leave
        :: latch[me] != SET -> latch[me] = SLEEPING
        fi
    }
#endif
    atomic { /* I8 */
        if
#ifdef NO_JEC_RECHECK
        :: true ->
#else
        :: events != snapshot -> goto stay_up
        :: events == snapshot ->
#endif
            sleeping++;
            printf("%d I8: registers, sleeping=%d\n", me, sleeping)
        fi
    }
    atomic { /* I9 */
        if
        :: nap[me] == DROWSY ->
            nap[me] = ASLEEP;
            printf("%d I9: falls asleep\n", me)
        :: nap[me] == AWAKE -> goto taken
        fi
    }
asleep:
#ifdef FUTEX
    atomic { /* bz_futex_wait: compares and blocks in one step */
        if
        :: nap[me] == ASLEEP -> parked[me] = 1
        :: nap[me] != ASLEEP -> goto woken
        fi
    }
    /* It returns when a waker calls, be it one from long ago, or by itself. */
    if
    :: true ->
end_parked:
        parked[me] == 0
    :: true ->
end_parked_lightly:
        atomic { nap[me] != ASLEEP -> parked[me] = 0 }
    fi;
#ifndef WAIT_ONCE
    goto asleep;
#endif
#else
end_asleep:
    nap[me] != ASLEEP;
#endif
    goto woken;

taken:
    atomic { /* the waker saw DROWSY and left the count alone */
        assert(sleeping > 0);
        sleeping--;
        printf("%d I9: was taken, sleeping=%d\n", me, sleeping)
    }
    goto up;

stay_up:
    nap[me] = AWAKE;
#ifdef NO_REANNOUNCE
    goto look;
#else
    goto up;
#endif

woken:
#if defined(SLEEPER_TOO) || defined(SLEEPER_ALONE)
    atomic {
        assert(sleeping > 0);
        sleeping--
    }
#endif

up:
    atomic { /* I10 */
        round = 1;
        snapshot = 0;
#if SETS > 0
        latch[me] = (latch[me] == SET -> SET : UNSET);
#endif
        printf("%d I10: is up\n", me)
    }
    goto look;

found:
    if
    :: got > 1 -> /* what else was in the injector goes to the own deque */
        got--;
        push(got);
#ifndef REST_UNANNOUNCED
        new_work(got, 0);
#ifndef REST_NO_GROW
        grow();
#endif
#endif
        atomic { was = 0; woke = 0 }
    :: else
    fi;
    got = 0;
    stop_looking(CASCADE);
    atomic {
        ran++;
        printf("%d runs an item\n", me)
    }
#if FORKS > 0
    if
    :: atomic { forks > 0 -> forks--; queued++ }
        push(1);
        new_work(1, was); /* D2 */
        was = 0;
#ifndef PUSH_NO_GROW
        grow();
#endif
        woke = 0
    :: forks == 0
    fi;
#endif
    if
#ifndef LONG
    :: true -> goto look
#endif
#if SETS < WORKERS
    :: atomic { busy++; printf("%d stays busy\n", me) }
#endif
    fi;
end_busy:
    false;

leave: /* what it waited for is there */
    stop_looking(CASCADE_LEAVING);
    left++
}

#if PUSHES > 0
active proctype pusher()
{
    byte me = PUSHER, s, idle, k, i, old, n;
    bit was, woke;

    do
    :: atomic { n < PUSHES -> queued++; n++ }
        push(1);
        new_work(1, was); /* D2 */
#ifndef PUSH_NO_GROW
        grow();
#endif
        atomic { was = 0; woke = 0 }
    :: n == PUSHES -> break
    od;
    outsiders--
}
#endif

/* bz_lane_inject for n items, each a read-modify-write (P1), announced at once (P2). */
inline post(n)
{
    atomic { was = (injector == 0 -> 1 : 0); injector++; queued++; k = n - 1 }
    do
    :: atomic { k > 0 -> injector++; queued++; k-- }
    :: k == 0 -> break
    od;
    printf("%d P1: has posted %d\n", me, n);
    new_work(n, was);
    was = 0;
    grow()
}

proctype poster(byte first, second)
{
    byte me = OUTSIDE, s, idle, k, i, old;
    bit was, woke;

    post(first);
    if
    :: second > 0 -> post(second)
    :: second == 0
    fi;
    outsiders--
}

#if SETS > 0
active proctype setter()
{
    byte me = OUTSIDE, k, i, old, n, last;
    bit woke;

#if SETS == WORKERS && !defined(STOP_UNLOCKED)
    atomic { start_mu == 0 -> stopped = 1; last = started }
#elif SETS == WORKERS
    last = started;
#else
    last = SETS;
#endif
    do
    :: n < last ->
        atomic { /* L1 */
            k = (latch[n] == SLEEPING -> 1 : 0);
            latch[n] = SET;
            i = n;
            printf("%d L1: sets the latch of %d\n", me, n)
        }
        wake_any(1);
        n++
    :: n == last -> break
    od;
    outsiders--
}
#endif

active proctype store_buffers()
{
end:
    do
    :: atomic { unseen[0] > 0 -> bottom[0]++; unseen[0]-- }
    :: atomic { unseen[1] > 0 -> bottom[1]++; unseen[1]-- }
    :: atomic { unseen[2] > 0 -> bottom[2]++; unseen[2]-- }
#if WORKERS > 2
    :: atomic { unseen[3] > 0 -> bottom[3]++; unseen[3]-- }
#endif
    od
}

init
{
    byte i;

    atomic {
#if POST1 > 0
        run poster(POST1, POST2);
#endif
#if POST3 > 0
        run poster(POST3, 0);
#endif
        do
        :: i < EAGER -> run worker(i); alive++; i++
        :: else -> break
        od
    }
}

/* Once nothing moves any more: everybody sleeps, is busy for ever, or has left. */
active proctype judge()
{
    byte i, asleep;
    bool waiting;

    timeout;
    d_step {
        do
        :: i < WORKERS ->
            asleep = asleep + (nap[i] == ASLEEP -> 1 : 0);
            i++
        :: else -> break
        od;
        i = 0;
        waiting = injector > 0;
        do
        :: i < DEQUES -> waiting = waiting || HOLDS(i); i++
        :: else -> break
        od;
        printf("in the end: asleep=%d busy=%d left=%d waiting=%d\n",
               asleep, busy, left, waiting)
    }
    assert(outsiders == 0);
    assert(asleep + busy + left == alive);
    assert(sleeping == asleep);
    assert(inactive == asleep);
    assert(waiting -> ran < queued : ran == queued);
#if SETS == WORKERS
    assert(left == alive);
#else
    assert(SETS == 0 || nap[0] != ASLEEP);
    /* No lost wake-up: work waits only while everybody who may exist is busy. */
    assert(!(waiting && asleep > 0));
    assert(!(waiting && started < WORKERS));
#endif
}
