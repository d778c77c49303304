/* A hash table that is spread over all ranks: each of them inserts, counts and looks up by itself, and the rank
 * that has an entry takes no part.
 *
 * A slot is a key and a number, in one window of unsigned long. An insert takes an empty slot (key 0) by
 * compare-and-swap; who finds another key there goes on to the next one. Numbers are added to by accumulate, so
 * several ranks can count the same key at once. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 256, OWN = 40, COMMON = 20 };

static int rank, size;
static MPI_Win table;

static void fail(const char *what, uint64_t key, uint64_t found)
{
    fprintf(stderr, "rank %d: %s: key %llu has %llu\n", rank, what, (unsigned long long)key,
            (unsigned long long)found);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Where the search for a key begins: the owner, and its slot. */
static void home(uint64_t key, int *owner, int *slot)
{
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
    *owner = (int)(hash % (uint64_t)size);
    *slot = (int)(hash / (uint64_t)size % SLOTS);
}

/* Adds to the number of a key, which is inserted where it is missing. */
static void add(uint64_t key, uint64_t number)
{
    int owner, slot;
    home(key, &owner, &slot);
    for (int probes = 0; probes < SLOTS; probes++, slot = (slot + 1) % SLOTS) {
        uint64_t empty = 0, before;
        MPI_Compare_and_swap(&key, &empty, &before, MPI_UINT64_T, owner, 2 * slot, table);
        MPI_Win_flush(owner, table);
        if (before != empty && before != key) continue;
        MPI_Accumulate(&number, 1, MPI_UINT64_T, owner, 2 * slot + 1, 1, MPI_UINT64_T, MPI_SUM, table);
        MPI_Win_flush(owner, table);
        return;
    }
    fail("the table is full", key, 0);
}

/* The number of a key; 0 where it is missing. All inserts are over. */
static uint64_t look_up(uint64_t key)
{
    int owner, slot;
    home(key, &owner, &slot);
    for (int probes = 0; probes < SLOTS; probes++, slot = (slot + 1) % SLOTS) {
        uint64_t entry[2];
        MPI_Get(entry, 2, MPI_UINT64_T, owner, 2 * slot, 2, MPI_UINT64_T, table);
        MPI_Win_flush(owner, table);
        if (entry[0] == key) return entry[1];
        if (entry[0] == 0) return 0;
    }
    return 0;
}

static uint64_t own_key(int of, int i)
{
    return 1000 + (uint64_t)of * OWN + (uint64_t)i;
}

int main(int argc, char **argv)
{
    uint64_t *slots;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(2 * SLOTS * sizeof *slots, sizeof *slots, MPI_INFO_NULL, MPI_COMM_WORLD, &slots, &table);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, table);
    for (int i = 0; i < 2 * SLOTS; i++) slots[i] = 0;
    MPI_Win_unlock(rank, table);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock_all(0, table);
    for (int i = 0; i < OWN; i++) add(own_key(rank, i), own_key(rank, i) * 3);
    /* Every rank counts the same keys, in an order of its own. */
    for (int i = 0; i < COMMON; i++) add(1 + (uint64_t)((i + 7 * rank) % COMMON), 1);
    MPI_Barrier(MPI_COMM_WORLD);

    /* What the next rank has inserted, and what all have counted. */
    int next = (rank + 1) % size;
    for (int i = 0; i < OWN; i++) {
        uint64_t key = own_key(next, i), found = look_up(key);
        if (found != key * 3) fail("an insert is lost", key, found);
    }
    for (uint64_t key = 1; key <= COMMON; key++) {
        uint64_t found = look_up(key);
        if (found != (uint64_t)size) fail("a count is wrong", key, found);
    }
    if (look_up(999) != 0) fail("nobody has inserted this", 999, look_up(999));
    MPI_Win_unlock_all(table);

    /* No key has two slots. */
    MPI_Barrier(MPI_COMM_WORLD);
    int taken = 0, all;
    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, table);
    for (int i = 0; i < SLOTS; i++) taken += slots[2 * i] != 0;
    MPI_Win_unlock(rank, table);
    MPI_Allreduce(&taken, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (all != size * OWN + COMMON) fail("a number of slots that no keys explain", 0, (uint64_t)all);
    if (rank == 0) printf("hash table: %d keys of %d ranks\n", all, size);
    MPI_Win_free(&table);
    return MPI_Finalize();
}
