/* A computation that replaces the ranks it loses, and gets the same result bit for bit.
 *
 *     mpicc respawn.c -o respawn
 *     mpiexec -continue-on-loss -n 4 ./respawn 1 37 3 95
 *
 * Heat spreads along a ring of cells, of which each rank has as many. The arguments are pairs: this rank kills itself (SIGKILL)
 * before that step, unless it is a replacement.
 *
 * Every few steps each rank keeps its cells in its own memory and in that of the next rank, its keeper. When somebody is lost, those that
 * are left shrink the communicator, spawn as many ranks as are missing, merge both, and order the ranks as they were: a
 * replacement has the place of a lost one, and gets its cells from that one's keeper. So the work is shared out as before. A rank
 * and its keeper that are lost together are too much, and so is a loss while the ranks are replaced. */
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 64, STEPS = 200, EVERY = 20 };

typedef double Cells[CELLS];

/* What a rank keeps: its cells, and those of the rank before it, as they were at a step. */
struct Kept {
    int at;
    Cells own, before;
};

/* The ranks at work: always as many, each in its place. */
static MPI_Comm team;
static int rank, size;

static double mean(double left, double middle, double right) { return 0.25 * left + 0.5 * middle + 0.25 * right; }

static void begin(Cells cells, int place)
{
    for (int i = 0; i < CELLS; i++) cells[i] = place * CELLS + i % 7;
}

static int step(Cells cells)
{
    int before = (rank + size - 1) % size, behind = (rank + 1) % size;
    double left, right;
    Cells next;
    int code = MPI_Sendrecv(&cells[CELLS - 1], 1, MPI_DOUBLE, behind, 1, &left, 1, MPI_DOUBLE, before, 1, team, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        code = MPI_Sendrecv(&cells[0], 1, MPI_DOUBLE, before, 2, &right, 1, MPI_DOUBLE, behind, 2, team, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return 0;
    for (int i = 0; i < CELLS; i++) next[i] = mean(i > 0 ? cells[i - 1] : left, cells[i], i < CELLS - 1 ? cells[i + 1] : right);
    memcpy(cells, next, sizeof next);
    return 1;
}

/* All that are left say whether it went well, and hear the same. Who has failed does not keep others waiting. */
static int went_well(int fine)
{
    if (!fine) MPIX_Comm_revoke(team);
    return MPIX_Comm_agree(team, &fine) == MPI_SUCCESS && fine;
}

static int checkpoint(Cells cells, int at, struct Kept *kept)
{
    struct Kept next = {.at = at};
    memcpy(next.own, cells, sizeof next.own);
    int code = MPI_Sendrecv(cells, CELLS, MPI_DOUBLE, (rank + 1) % size, 3, next.before, CELLS, MPI_DOUBLE, (rank + size - 1) % size,
        3, team, MPI_STATUS_IGNORE);
    if (!went_well(code == MPI_SUCCESS)) return 0;
    *kept = next;
    return 1;
}

/* Those that are left, of whom each has heard from all others. */
static MPI_Comm left_of(MPI_Comm comm)
{
    for (;;) {
        MPI_Comm left;
        MPIX_Comm_revoke(comm);
        MPIX_Comm_shrink(comm, &left);
        if (comm != MPI_COMM_WORLD && comm != team) MPI_Comm_free(&comm);
        int fine = MPI_Barrier(left) == MPI_SUCCESS;
        if (!fine) MPIX_Comm_revoke(left);
        if (MPIX_Comm_agree(left, &fine) == MPI_SUCCESS && fine) return left;
        comm = left;
    }
}

/* Everybody takes his place, and replacements get what the keepers have. Rank 0 of `merged` knows the places and the step. */
static void take_places(MPI_Comm merged, int *places, int survivors, struct Kept *kept)
{
    MPI_Comm_rank(merged, &rank);
    MPI_Comm_size(merged, &size);
    MPI_Bcast(&survivors, 1, MPI_INT, 0, merged);
    MPI_Bcast(places, size, MPI_INT, 0, merged);
    MPI_Bcast(&kept->at, 1, MPI_INT, 0, merged);
    int is_new[size], place = places[rank];
    for (int i = 0; i < size; i++) is_new[places[i]] = i >= survivors;
    MPI_Comm_split(merged, 0, place, &team);
    MPI_Comm_set_errhandler(team, MPI_ERRORS_RETURN);
    MPI_Comm_free(&merged);
    rank = place;
    int before = (rank + size - 1) % size, keeper = (rank + 1) % size;
    if (is_new[rank] && is_new[keeper]) {
        fprintf(stderr, "respawn: nobody has the cells of rank %d: it and its keeper are both lost\n", rank);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (is_new[before]) MPI_Send(kept->before, CELLS, MPI_DOUBLE, before, 4, team);
    if (is_new[rank]) MPI_Recv(kept->own, CELLS, MPI_DOUBLE, keeper, 4, team, MPI_STATUS_IGNORE);
}

/* Replaces those that are lost. */
static void replace(char *program, struct Kept *kept)
{
    MPI_Comm left = left_of(team), children, merged;
    MPI_Group before, now;
    int survivors, places[size], ranks[size], taken[size], next = 0;
    MPI_Comm_size(left, &survivors);
    MPI_Comm_group(team, &before);
    MPI_Comm_group(left, &now);
    for (int i = 0; i < size; i++) ranks[i] = i;
    MPI_Group_translate_ranks(now, survivors, ranks, before, places);
    MPI_Group_free(&before);
    MPI_Group_free(&now);
    memset(taken, 0, sizeof taken);
    for (int i = 0; i < survivors; i++) taken[places[i]] = 1;
    for (int i = survivors; i < size; i++) {
        while (taken[next]) next++;
        places[i] = next++;
    }
    MPI_Comm_set_errhandler(left, MPI_ERRORS_ARE_FATAL); /* see above */
    MPI_Comm_spawn(program, MPI_ARGV_NULL, size - survivors, MPI_INFO_NULL, 0, left, &children, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(children, 0, &merged);
    MPI_Comm_free(&children);
    MPI_Comm_free(&left);
    MPI_Comm_free(&team);
    take_places(merged, places, survivors, kept);
}

/* Whether the cells of all are what one process alone gets. */
static int compare(Cells cells, int replaced)
{
    double all[size][CELLS], alone[size * CELLS], next[size * CELLS];
    int code = MPI_Gather(cells, CELLS, MPI_DOUBLE, all, CELLS, MPI_DOUBLE, 0, team), n = size * CELLS, replacements = 0;
    if (code == MPI_SUCCESS) code = MPI_Reduce(&replaced, &replacements, 1, MPI_INT, MPI_SUM, 0, team);
    if (!went_well(code == MPI_SUCCESS)) return -1;
    if (rank != 0) return 1;
    for (int place = 0; place < size; place++) begin(&alone[place * CELLS], place);
    for (int at = 0; at < STEPS; at++) {
        for (int i = 0; i < n; i++) next[i] = mean(alone[(i + n - 1) % n], alone[i], alone[(i + 1) % n]);
        memcpy(alone, next, sizeof next);
    }
    int same = memcmp(all, alone, sizeof alone) == 0;
    printf("respawn: %s after %d steps, on %d ranks, %d of them replacements\n", same ? "the same bit for bit" : "DIFFERENT", STEPS,
        size, replacements);
    return same;
}

int main(int argc, char **argv)
{
    MPI_Comm parents, merged;
    struct Kept kept;
    Cells cells;
    int at = 0, same = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parents);
    int is_replacement = parents != MPI_COMM_NULL;
    if (is_replacement) {
        MPI_Intercomm_merge(parents, 1, &merged);
        MPI_Comm_size(merged, &size);
        int places[size];
        take_places(merged, places, 0, &kept);
        at = kept.at;
        memcpy(cells, kept.own, sizeof cells);
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &team);
        MPI_Comm_set_errhandler(team, MPI_ERRORS_RETURN);
        MPI_Comm_rank(team, &rank);
        MPI_Comm_size(team, &size);
        begin(cells, rank);
        kept.at = 0; /* the beginning, which everybody knows */
        begin(kept.own, rank);
        begin(kept.before, (rank + size - 1) % size);
    }
    /* Nobody is done before all are: who is left behind needs the others. */
    while (same < 0) {
        for (int pair = 1; pair + 1 < argc && !is_replacement; pair += 2)
            if (atoi(argv[pair]) == rank && atoi(argv[pair + 1]) == at) raise(SIGKILL);
        int fine = at % EVERY != 0 || checkpoint(cells, at, &kept);
        if (fine && at < STEPS) {
            fine = step(cells);
            at += fine;
            /* Each rank agrees once before it replaces others, here or elsewhere: all take part in the same agreements. */
            if (!fine) went_well(0);
        } else if (fine) {
            same = compare(cells, is_replacement);
            fine = same >= 0;
        }
        if (!fine) {
            replace(argv[0], &kept);
            at = kept.at;
            memcpy(cells, kept.own, sizeof cells);
        }
    }
    MPI_Barrier(team); /* nobody leaves before all know that they may */
    MPI_Comm_free(&team);
    MPI_Finalize();
    return !same;
}
