/* apart.h: how far apart two CPUs are while something is measured.
 * A virtual machine may put its two CPUs on one core, on neighbours, or on distant cores, and does so anew after seconds. Then
 * everything that goes between them takes other times, and who was measured here does not compare with who was measured there.
 * So the hand-off of a cache line is measured before and after each batch, and a batch counts where both lie between the
 * bounds in BENCH_HANDOFF ("LEAST MOST", us). Without that variable, or without apart_begin, all batches count. */
#ifndef APART_H
#define APART_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What both sides share, zero at first. Each word is in a pair of lines: processors fetch pairs. */
struct apart_flags {
    struct {
        _Alignas(128) _Atomic uint64_t word;
    } turn[2], decision, heard;
};

/* Until when a process waits for the hand-off that is wanted, in seconds from its beginning. */
enum { APART_PATIENCE = 20 };

static struct {
    struct apart_flags *flags;
    int side;
    uint64_t turn, decisions;
    double least, most, until, wrong_at;
} apart;

/* For so many seconds after another hand-off a library may still go by what it had found out there. */
static const double apart_settles = 0.3;

static double apart_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Whether bounds are given. */
static int apart_is_wanted(void)
{
    const char *bounds = getenv("BENCH_HANDOFF");
    return bounds != NULL && sscanf(bounds, "%lf %lf", &apart.least, &apart.most) == 2;
}

/* `flags` are shared by both sides, 0 and 1. */
static void apart_begin(struct apart_flags *flags, int side)
{
    apart.flags = flags, apart.side = side, apart.turn = apart.decisions = 0;
    apart.until = apart_now() + APART_PATIENCE;
}

/* The hand-off now, in microseconds: the least of some tries, for whoever is interrupted takes longer in one. Much where the other side
 * does not run. Both sides must call it at about the same time. */
static double apart_handoff(void)
{
    enum { TRIES = 4, TURNS = 20 };
    const double patience = 1e-3;
    _Atomic uint64_t *own = &apart.flags->turn[apart.side].word, *other = &apart.flags->turn[1 - apart.side].word;
    double begun = apart_now(), start = begun, best = 1e6 * patience;
    uint64_t end = apart.turn + TRIES * TURNS;
    for (int looks = 0; apart.turn < end;) {
        uint64_t next = apart.turn + 1;
        if (apart.side == 0) atomic_store_explicit(own, next, memory_order_release);
        while (atomic_load_explicit(other, memory_order_acquire) < next) {
            if (++looks % 1024 == 0 && apart_now() - begun > patience) {
                apart.turn = end;
                atomic_store_explicit(own, end, memory_order_release);
                return best;
            }
        }
        if (apart.side == 1) atomic_store_explicit(own, next, memory_order_release);
        apart.turn = next;
        if ((end - next) % TURNS == 0) {
            double now = apart_now(), each = (now - start) / TURNS / 2 * 1e6;
            if (each < best) best = each;
            start = now;
        }
    }
    return best;
}

/* The hand-off, where it matters. */
static double apart_look(void)
{
    return apart.flags == NULL ? 0 : apart_handoff();
}

/* Whether the hand-off is as wanted. */
static int apart_is_right(double is)
{
    int right = apart.flags == NULL || (is >= apart.least && is <= apart.most);
    if (!right) apart.wrong_at = apart_now();
    return right;
}

/* Whether what was measured between two looks counts: at the hand-off that is wanted, and not shortly after another one. */
static int apart_counts(double before, double after)
{
    return apart_is_right(before) && apart_is_right(after) && apart_now() - apart.wrong_at >= apart_settles;
}

/* What side 0 says, where there are two that must agree. It goes on to its next decision when this one has been heard. */
static int apart_agree(int yes)
{
    if (apart.flags == NULL) return yes;
    _Atomic uint64_t *decision = &apart.flags->decision.word, *heard = &apart.flags->heard.word;
    uint64_t now = ++apart.decisions << 1, said;
    if (apart.side == 0) {
        while (atomic_load_explicit(heard, memory_order_acquire) < now - 2) {}
        atomic_store_explicit(decision, now | (yes != 0), memory_order_release);
        return yes;
    }
    do said = atomic_load_explicit(decision, memory_order_acquire);
    while (said < now);
    atomic_store_explicit(heard, now, memory_order_release);
    return said & 1;
}

/* Both sides wait for the hand-off that is wanted, until the time is over. */
static void apart_wait(void)
{
    const struct timespec between = {0, 20000000};
    for (;;) {
        double is = apart_look();
        if (apart_agree(apart_is_right(is) || apart_now() > apart.until)) return;
        nanosleep(&between, NULL);
    }
}

/* After batches: whether there are more of them, because too few counted, and then waits. */
static int apart_again(int are_few)
{
    int again = apart_agree(are_few && apart_now() < apart.until);
    if (again) apart_wait();
    return again;
}

#endif
