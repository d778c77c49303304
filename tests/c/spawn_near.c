// ranks: 1 2
// timeout: 120
// only: posthaste
// of memory
// env: POSTHASTE_EXPLAIN=1
// says: through shared memory
/* Parents and children on one host share memory: messages of all lengths and modes, in pieces, from anybody, in both directions at once,
 * and between siblings of two jobs in the merged communicator. Twice, for they part and meet again. */
#include "check.h"

#include <unistd.h>

enum { LONGEST = 1 << 20, ROUNDS = 2, CHILDREN = 2 };

static unsigned char out[LONGEST], in[LONGEST];

static unsigned char byte_of(int n, int i, int from)
{
    return (unsigned char)(n * 7 + i * 3 + from * 11 + 1);
}

static void exchange(MPI_Comm comm, int own, int peer, int step, int n)
{
    MPI_Request requests[2];
    MPI_Status status;
    int tag = step * 100000 + n % 99991; /* a peer may be a step ahead */
    for (int i = 0; i < n; i++) out[i] = byte_of(n, i, own);
    memset(in, 0, sizeof in);
    OK(MPI_Irecv(in, n, MPI_BYTE, n % 2 ? peer : MPI_ANY_SOURCE, tag, comm, &requests[0]));
    if (n % 3)
        OK(MPI_Isend(out, n, MPI_BYTE, peer, tag, comm, &requests[1]));
    else
        OK(MPI_Issend(out, n, MPI_BYTE, peer, tag, comm, &requests[1]));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    OK(MPI_Wait(&requests[0], &status));
    CHECK(status.MPI_SOURCE == peer, "from %d", status.MPI_SOURCE);
    for (int i = 0; i < n; i++) CHECK(in[i] == byte_of(n, i, peer), "byte %d of %d", i, n);
}

/* Every second word of a column, to the peer and back. */
static void in_pieces(MPI_Comm comm, int own, int peer)
{
    enum { WORDS = 50000 };
    static int sent[2 * WORDS], got[2 * WORDS];
    MPI_Datatype column;
    OK(MPI_Type_vector(WORDS, 1, 2, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    for (int i = 0; i < 2 * WORDS; i++) sent[i] = i + own, got[i] = -1;
    OK(MPI_Sendrecv(sent, 1, column, peer, 7, got, 1, column, peer, 7, comm, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2 * WORDS - 1; i++) CHECK(got[i] == (i % 2 ? -1 : i + peer), "word %d is %d", i, got[i]);
    OK(MPI_Type_free(&column));
}

static void talk(MPI_Comm inter, int is_child)
{
    MPI_Comm all;
    int own, size;
    OK(MPI_Intercomm_merge(inter, is_child, &all));
    OK(MPI_Comm_rank(all, &own));
    OK(MPI_Comm_size(all, &size));
    static const int lengths[] = {0, 1, 8, 33, 1000, 4000, 4064, 4096, 16384, 65536, 100000, 300000, LONGEST};
    for (int step = 1; step < size; step++) {
        /* Each pair once: the two of them in one step. */
        int peer = (2 * size + step - own) % size;
        if (peer == own) continue;
        for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) exchange(all, own, peer, step, lengths[i]);
        in_pieces(all, own, peer);
    }
    int *window, sum = 0;
    MPI_Win win;
    OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, all, &window, &win));
    OK(MPI_Win_lock_all(0, win));
    for (int to = 0; to < size; to++) OK(MPI_Accumulate(&own, 1, MPI_INT, to, 0, 1, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(all));
    for (int i = 0; i < size; i++) sum += i;
    OK(MPI_Win_sync(win));
    CHECK(*window == sum, "%d in the window, expected %d", *window, sum);
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char **argv)
{
    static char own[4096];
    MPI_Comm parent, inter;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        talk(parent, 1);
        return check_end();
    }
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
    for (int round = 0; round < ROUNDS; round++) {
        OK(MPI_Comm_spawn(own, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
        talk(inter, 0);
    }
    return check_end();
}
