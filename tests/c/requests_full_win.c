// ranks: 3
// only: posthaste
// env: POSTHASTE_REQUESTS=64
// env: POSTHASTE_MAP_WINDOWS=0
/* With a full table of requests, epochs of windows begin and end all the same: other members count on that. */
#include "check.h"

enum { REQUESTS = 64 };

int main(int argc, char **argv)
{
    MPI_Request posted[REQUESTS];
    MPI_Group world, others;
    MPI_Win win;
    int memory[3] = {-1, -1, -1};
    char byte;
    check_start(&argc, &argv);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_excl(world, 1, &rank, &others));
    OK(MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < REQUESTS; i++) OK(MPI_Irecv(&byte, 1, MPI_BYTE, rank, 100 + i, MPI_COMM_WORLD, &posted[i]));
        OK(MPI_Win_post(others, 0, win));
        OK(MPI_Win_start(others, 0, win));
        /* A put takes none, or what was freed. */
        OK(MPI_Cancel(&posted[0]));
        OK(MPI_Wait(&posted[0], MPI_STATUS_IGNORE));
        for (int to = 0; to < size; to++)
            if (to != rank) OK(MPI_Put(&round, 1, MPI_INT, to, rank, 1, MPI_INT, win));
        OK(MPI_Win_complete(win));
        OK(MPI_Win_wait(win));
        for (int from = 0; from < size; from++)
            if (from != rank) EQUAL(memory[from], round);
        for (int i = 1; i < REQUESTS; i++) OK(MPI_Cancel(&posted[i]));
        OK(MPI_Waitall(REQUESTS, posted, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Win_free(&win));
    OK(MPI_Group_free(&others));
    OK(MPI_Group_free(&world));
    return check_end();
}
