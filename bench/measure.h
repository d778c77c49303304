/* measure.h: what the measuring programs share: clock, batches, output, buffers that no cache holds.
 * A batch size is found by rank 0 from a short trial, so that slow and fast libraries take about the same
 * time; the best batch is reported on request pairs, the median batch where ranks outnumber the CPUs. Of two ranks only
 * batches at the wanted hand-off count (apart.h); a result for which there was none is a line "away" and not "result". */
#ifndef MEASURE_H
#define MEASURE_H

#include "apart.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEASURE_BATCHES = 12 };

typedef void (*measure_step)(void *what);

static int measure_by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* So many batches at the hand-off that is wanted are enough. */
enum { MEASURE_ENOUGH = 6 };

/* Whether no batch of the last measurement was at the hand-off that is wanted. */
static int measure_is_away;

/* Where two ranks have the hand-off measured beside their batches, they share a page for it. */
static void measure_apart(void)
{
    static int is_asked;
    static char name[64];
    int rank, size, file = -1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (is_asked || size != 2) return;
    is_asked = 1;
    if (!apart_is_wanted()) return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        snprintf(name, sizeof name, "/dev/shm/bench-apart-%d", (int)getpid());
        file = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file >= 0 && ftruncate(file, sizeof(struct apart_flags)) != 0) file = -1;
    }
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 1) file = open(name, O_RDWR);
    void *flags = file < 0 ? MAP_FAILED
                           : mmap(NULL, sizeof(struct apart_flags), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (flags == MAP_FAILED) {
        perror(name);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    close(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) unlink(name);
    apart_begin(flags, rank);
}

/* Seconds for one step, on rank 0 (the other ranks get something unspecified). Every rank must call it.
 * `batch` seconds are spent on each of the batches; `median` chooses the median batch, else the best one. */
__attribute__((unused)) static double measure(measure_step step, void *what, double batch, int median)
{
    double times[MEASURE_BATCHES + MEASURE_ENOUGH], start;
    int turns = 2, rank, kept = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    measure_apart();
    apart_wait();
    step(what);
    for (;;) {
        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        for (int i = 0; i < turns; i++) step(what);
        double took = MPI_Wtime() - start;
        int more = took < batch / 4 && turns < 1 << 24;
        int next = more ? turns * 4 : (int)(turns * batch / took) + 1;
        int plan[2] = {more, next};
        MPI_Bcast(plan, 2, MPI_INT, 0, MPI_COMM_WORLD);
        turns = plan[1];
        if (!plan[0]) break;
    }
    for (int plan[2] = {1, turns}; plan[0]; turns = plan[1]) {
        for (int k = 0; k < MEASURE_BATCHES; k++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double before = apart_look();
            start = MPI_Wtime();
            for (int i = 0; i < turns; i++) step(what);
            times[kept] = (MPI_Wtime() - start) / turns;
            kept += apart_counts(before, apart_look());
        }
        qsort(times, (size_t)kept, sizeof *times, measure_by_value);
        /* After a trial that was disturbed the batches are so short that they say more about the barrier. */
        plan[0] = times[0] * turns < batch / 8;
        plan[1] = plan[0] ? turns * 8 : turns;
        MPI_Bcast(plan, 2, MPI_INT, 0, MPI_COMM_WORLD);
        if (!plan[0]) plan[0] = apart_again(kept < MEASURE_ENOUGH);
        else kept = 0;
        /* Rank 0 decides by its own count; the room for times is enough for no other. */
        if (plan[0] && rank != 0) kept = 0;
    }
    /* Where none counts, the last one is told as what it is. */
    measure_is_away = kept == 0;
    return median ? times[kept / 2] : times[0];
}

/* How many bytes buffers rotate through so that no cache holds them: twice the last-level cache, which is taken for 32 MiB where
 * nothing is known, in steps of the longest message. */
__attribute__((unused)) static size_t measure_beyond_caches(void)
{
    size_t kib = 0, longest = 16 << 20;
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    if (file != NULL) {
        if (fscanf(file, "%zuK", &kib) != 1) kib = 0;
        fclose(file);
    }
    if (kib < 32 << 10) kib = 32 << 10;
    return (2 * 1024 * kib + longest - 1) / longest * longest;
}

static void measure_report(const char *name, double value, const char *unit)
{
    printf("%s %s %.6g %s\n", measure_is_away ? "away" : "result", name, value, unit);
    fflush(stdout);
}

static void measure_fail(const char *what)
{
    fprintf(stderr, "wrong result: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 3);
}

#endif
