/* deque.pml - the work-stealing deque of lib/pool/deque.h: one owner, two thieves.
 *
 * Every atomic block is one atomic access of the C code. The owner's plain stores go
 * through a first-in first-out store buffer that drains at any time; its
 * read-modify-writes wait until it is empty, as on x86. The owner pushes ITEMS items
 * and pops in between as it likes, then pops until there is nothing left.
 *
 * Each item must be taken exactly once. The rings hold 2, 4 and 8 items, so that
 * indices wrap and rings are replaced.
 */
#ifndef ITEMS
#define ITEMS 4
#endif
#ifndef POPS
#define POPS 2 /* before the last push; afterwards as many as it takes */
#endif

#define MASK(r) ((2 << (r)) - 1)
#define AT(r, i) (((2 << (r)) - 2) + ((i) & MASK(r))) /* where index i of ring r is */
#define FREED 99

mtype = { SLOT, BOTTOM, RING };
chan buffer = [4] of { mtype, byte, byte };

byte top, bottom, ring, slot[14]; /* memory */
byte taken[ITEMS + 1];
bit done;

inline take(it)
{
    atomic {
        assert(it > 0 && it <= ITEMS);
        assert(taken[it] == 0);
        taken[it] = 1
    }
}

active proctype store_buffer()
{
    mtype what;
    byte where, value;

end:
    do
    :: atomic {
        buffer?what, where, value ->
        if
        :: what == SLOT -> slot[where] = value
        :: what == BOTTOM -> bottom = value
        :: what == RING ->
            ring = value
#ifdef OLD_RING_FREED
            ;
            slot[AT(value - 1, 0)] = FREED;
            slot[AT(value - 1, 1)] = FREED
#endif
        fi;
        what = 0;
        where = 0;
        value = 0
       }
    od
}

active proctype owner()
{
    byte b, t, r, top_seen, next = 1, pops, i; /* b, r: its view of bottom and ring */
    byte item[ITEMS + 1];                      /* its view of the slots, by index */

    do
    :: next <= ITEMS -> /* bz_deque_push */
        if
        :: b - top_seen > MASK(r) -> /* bz_deque_grow */
            top_seen = top;
            if
            :: b - top_seen > MASK(r) ->
                atomic { /* nobody can see the new ring yet */
                    r++;
                    i = top_seen;
                    do
                    :: i < b -> slot[AT(r, i)] = item[i]; i++
                    :: else -> i = 0; break
                    od
                }
                buffer!RING, 0, r
            :: else
            fi
        :: else
        fi;
#ifdef BOTTOM_FIRST
        buffer!BOTTOM, 0, b + 1;
        buffer!SLOT, AT(r, b), next;
#else
        buffer!SLOT, AT(r, b), next;
        buffer!BOTTOM, 0, b + 1;
#endif
        atomic { item[b] = next; b++; next++ }

    :: pops < POPS || next > ITEMS -> /* bz_deque_pop */
        if
        :: b == 0 || top > b - 1 -> /* empty: thieves have had the rest */
            if
            :: next > ITEMS -> break
            :: else -> pops++
            fi
        :: else ->
            atomic { pops = (next > ITEMS -> POPS : pops + 1); b-- }
#ifdef POP_PLAIN_STORE
            buffer!BOTTOM, 0, b;
#else
            atomic { empty(buffer) -> bottom = b }
#endif
            t = top;
            if
            :: t < b -> take(item[b]) /* out of every thief's reach */
#ifdef LAST_WITHOUT_CAS
            :: t == b -> take(item[b])
            :: t > b -> b++; buffer!BOTTOM, 0, b
#else
            :: t == b ->
                atomic {
                    empty(buffer) ->
                    if
                    :: top == t -> top = t + 1; take(item[b])
                    :: else
                    fi
                }
                b++;
                buffer!BOTTOM, 0, b
            :: t > b -> b++; buffer!BOTTOM, 0, b
#endif
            fi;
            t = 0
        fi
    od;
    done = 1
}

active[2] proctype thief() /* bz_deque_steal */
{
    byte t, b, r, item;

end:
    do
    :: top < bottom -> /* otherwise a steal finds nothing and changes nothing */
#ifdef STEAL_BOTTOM_FIRST
        b = bottom;
        t = top;
#else
        t = top;
        b = bottom;
#endif
        if
        :: t < b ->
#ifdef READ_AFTER_CAS
            r = ring;
            atomic {
                item = (top == t -> 255 : 0);
                top = (top == t -> t + 1 : top)
            }
            if
            :: item != 0 -> atomic { item = slot[AT(r, t)]; take(item) }
            :: else
            fi
#else
            r = ring;
            item = slot[AT(r, t)];
            atomic {
                if
#ifdef STEAL_WITHOUT_CAS
                :: true -> top = t + 1; take(item)
#else
                :: top == t -> top = t + 1; take(item)
                :: else
#endif
                fi
            }
#endif
        :: else
        fi;
        atomic { t = 0; b = 0; r = 0; item = 0 }
    od
}

active proctype judge()
{
    byte i = 1;

    timeout;
    assert(done);
    do
    :: i <= ITEMS -> assert(taken[i] == 1); i++
    :: else -> break
    od
}
