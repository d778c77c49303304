// ranks: 1 2 3
/* An access with a random derived type reaches several pieces of a dynamic window; nobody else accesses the memory of the next rank, of which each one
 * keeps a model. Arguments: the first seed, and how many. MPI-5.0 sections 12.2.4, 12.3.5. */
#include "dice.h"
#include "win.h"

enum { PIECES = 6, INTS = 20, STEP = 27, ALL = PIECES * STEP, TURNS = 100, SEEDS = 4 };

static int memory[ALL], model[ALL], values[ALL], found[ALL], order[ALL];

/* The pieces lie apart, but for the last two, which touch. */
static int first_of(int piece)
{
    return piece < PIECES - 1 ? piece * STEP : (piece - 1) * STEP + INTS;
}

/* Blocks within the pieces, from the last to the first or the other way round; where their elements are is in `order`. */
static int blocks(MPI_Datatype *made)
{
    int lengths[ALL], places[ALL], many = 0, count = 0, backwards = below(2);
    for (int piece = 0; piece < PIECES; piece++)
        for (int at = below(2 * INTS); at < INTS; at += lengths[many++] + below(9)) {
            lengths[many] = between(1, INTS - at);
            places[many] = first_of(piece) + at;
        }
    for (int i = 0; backwards && i < many / 2; i++) {
        int last = many - 1 - i, length = lengths[i], place = places[i];
        lengths[i] = lengths[last], places[i] = places[last];
        lengths[last] = length, places[last] = place;
    }
    for (int i = 0; i < many; i++)
        for (int k = 0; k < lengths[i]; k++) order[count++] = places[i] + k;
    OK(MPI_Type_indexed(many, lengths, places, MPI_INT, made));
    OK(MPI_Type_commit(made));
    return count;
}

static void access_next(MPI_Win win, int next, MPI_Aint at, unsigned long seed)
{
    MPI_Request request;
    MPI_Datatype type;
    int count = blocks(&type), kind = below(4);
    for (int i = 0; i < count; i++) values[i] = below(1000000);
    if (kind == 0) OK(MPI_Rput(values, count, MPI_INT, next, at, 1, type, win, &request));
    if (kind == 1) OK(MPI_Rget(found, count, MPI_INT, next, at, 1, type, win, &request));
    if (kind == 2) OK(MPI_Raccumulate(values, count, MPI_INT, next, at, 1, type, MPI_SUM, win, &request));
    if (kind == 3) OK(MPI_Rget_accumulate(values, count, MPI_INT, found, count, MPI_INT, next, at, 1, type, MPI_SUM, win, &request));
    OK(MPI_Type_free(&type));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(next, win));
    for (int i = 0; i < count; i++) {
        int *known = &model[order[i]];
        if (kind % 2 && found[i] != *known) FAIL("seed %lu, kind %d, element %d: %d, expected %d", seed, kind, i, found[i], *known);
        if (kind != 1) *known = values[i] + (kind ? *known : 0);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    unsigned long first = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, seeds = argc > 2 ? strtoul(argv[2], NULL, 10) : SEEDS;
    MPI_Aint here, at;
    MPI_Win win;
    OK(MPI_Get_address(memory, &here));
    OK(MPI_Sendrecv(&here, 1, MPI_AINT, before, 0, &at, 1, MPI_AINT, next, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (unsigned long seed = first; seed < first + seeds; seed++) {
        for (int piece = 0; piece < PIECES; piece++) OK(MPI_Win_attach(win, memory + first_of(piece), INTS * sizeof(int)));
        for (int i = 0; i < ALL; i++) memory[i] = model[i] = -i;
        dice = seed * 2654435761u + (uint64_t)rank;
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock_all(0, win));
        for (int turn = 0; turn < TURNS; turn++) access_next(win, next, at, seed);
        OK(MPI_Win_unlock_all(win));
        OK(MPI_Sendrecv_replace(model, ALL, MPI_INT, next, 1, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 0; i < ALL; i++) CHECK(memory[i] == model[i], "seed %lu, at %d: %d, expected %d", seed, i, memory[i], model[i]);
        for (int piece = 0; piece < PIECES; piece++) OK(MPI_Win_detach(win, memory + first_of(piece)));
    }
    OK(MPI_Win_free(&win));
    return check_end();
}
