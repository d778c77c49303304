// ranks: 2 3 4
// timeout: 30
/* Locks of several targets at once. Exclusive ones, which everybody takes in one order; shared ones, which nobody has to take in any order, also while
 * somebody waits for an exclusive one: who holds a shared lock may wait for somebody who asks for another. MPI-5.0 section 12.5.3. */
#include "win.h"
#include <unistd.h>

enum { ROUNDS = 30, READS = 20, WAIT = 60000 };

static struct window w;

static void lock(int kind, int target)
{
    OK(MPI_Win_lock(kind, target, 0, w.win));
}

static void unlock(int target)
{
    OK(MPI_Win_unlock(target, w.win));
}

static int value_at(int target, int element)
{
    int found = -1;
    OK(MPI_Get(&found, 1, MPI_INT, target, place(&w, target, element), 1, MPI_INT, w.win));
    OK(MPI_Win_flush(target, w.win));
    return found;
}

static void write_at(int target, int element, int value)
{
    OK(MPI_Put(&value, 1, MPI_INT, target, place(&w, target, element), 1, MPI_INT, w.win));
    OK(MPI_Win_flush(target, w.win));
}

/* All locks, some of them exclusive, under which nobody else writes; given back in other orders. */
static void in_one_order(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < size; k++) lock((round + k) % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, k);
        for (int k = 0; k < size; k++) {
            int one = 1;
            OK(MPI_Accumulate(&one, 1, MPI_INT, k, place(&w, k, 0), 1, MPI_INT, MPI_SUM, w.win));
            if ((round + k) % 3) write_at(k, 1, value_at(k, 1) + 1);
        }
        for (int k = 0; k < size; k++) unlock(round % 2 ? size - 1 - k : (k + rank) % size);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int target = 0; target < size; target++) {
        int alone = 0;
        for (int round = 0; round < ROUNDS; round++)
            for (int other = 0; other < size; other++) alone += (round + target) % 3 != 0;
        lock(MPI_LOCK_SHARED, target);
        EQUAL(value_at(target, 0), ROUNDS * size);
        EQUAL(value_at(target, 1), alone);
        unlock(target);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Everybody holds the first when it asks for the next. */
static void shared_in_any_order(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < size; k++) lock(MPI_LOCK_SHARED, (rank + k) % size);
        if (round % 10 == 0) OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int k = 0; k < size; k++) unlock((round + k) % size);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void tell(int whom)
{
    OK(MPI_Send(NULL, 0, MPI_INT, whom, 3, MPI_COMM_WORLD));
}

static void hear(int whom)
{
    OK(MPI_Recv(NULL, 0, MPI_INT, whom, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Rank 0 holds a shared lock until rank 1 has had one, too, and rank 2 waits for an exclusive one. */
static void past_a_writer(void)
{
    if (size < 3) return;
    if (rank == 0) {
        lock(MPI_LOCK_SHARED, 0);
        tell(2);
        usleep(WAIT);
        tell(1);
        hear(1);
        /* The writer has waited all that time. */
        EQUAL(value_at(0, 2), 0);
        unlock(0);
    } else if (rank == 1) {
        hear(0);
        for (int i = 0; i < READS; i++) {
            lock(MPI_LOCK_SHARED, 0);
            EQUAL(value_at(0, 2), 0);
            unlock(0);
        }
        tell(0);
    } else if (rank == 2) {
        hear(0);
        lock(MPI_LOCK_EXCLUSIVE, 0);
        write_at(0, 2, 1);
        unlock(0);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    lock(MPI_LOCK_SHARED, 0);
    EQUAL(value_at(0, 2), 1);
    unlock(0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Ranks 0 and 1 hold a shared lock each and ask for the other's, for which ranks 2 and 3 wait. */
static void crosswise(void)
{
    if (size < 4) return;
    int target = rank % 2, other = 1 - target;
    if (rank < 2) lock(MPI_LOCK_SHARED, target);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank < 2) {
        usleep(WAIT);
        lock(MPI_LOCK_SHARED, other);
        EQUAL(value_at(target, 3), 0);
        EQUAL(value_at(other, 3), 0);
        /* Both have both. */
        OK(MPI_Sendrecv(NULL, 0, MPI_INT, other, 4, NULL, 0, MPI_INT, other, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        unlock(target);
        unlock(other);
    } else {
        lock(MPI_LOCK_EXCLUSIVE, target);
        write_at(target, 3, 1);
        unlock(target);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    lock(MPI_LOCK_SHARED, target);
    EQUAL(value_at(target, 3), 1);
    unlock(target);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    static const enum flavor flavors[] = {CREATE, ALLOCATE, DYNAMIC};
    check_start(&argc, &argv);
    for (int i = 0; i < 3; i++) {
        w = make_window(flavors[i], 4, sizeof(int));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        in_one_order();
        shared_in_any_order();
        past_a_writer();
        crosswise();
        free_window(&w);
    }
    return check_end();
}
