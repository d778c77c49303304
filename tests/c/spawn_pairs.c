// ranks: 1
// timeout: 120
// only: posthaste
/* More children than a process shares memory with: it talks with all of them, again and again, and each hears its own words in order. */
#include "check.h"

#include <unistd.h>

enum { CHILDREN = 70, ROUNDS = 20 };

int main(int argc, char **argv)
{
    static char own[4096];
    MPI_Comm inter;
    int rank;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&inter));
    if (inter != MPI_COMM_NULL) {
        OK(MPI_Comm_rank(inter, &rank));
        for (int round = 0; round < ROUNDS; round++) {
            int word = -1;
            OK(MPI_Recv(&word, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
            CHECK(word == round * CHILDREN + rank, "word %d in round %d", word, round);
            OK(MPI_Send(&word, 1, MPI_INT, 0, rank, inter));
        }
        OK(MPI_Comm_disconnect(&inter));
        return check_end();
    }
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
    OK(MPI_Comm_spawn(own, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
    for (int round = 0; round < ROUNDS; round++) {
        int sum = 0, word;
        for (int to = 0; to < CHILDREN; to++) {
            word = round * CHILDREN + to;
            OK(MPI_Send(&word, 1, MPI_INT, to, 0, inter));
        }
        for (int from = 0; from < CHILDREN; from++) {
            MPI_Status status;
            OK(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status));
            CHECK(word == round * CHILDREN + status.MPI_SOURCE && status.MPI_TAG == status.MPI_SOURCE, "word %d", word);
            sum += word - round * CHILDREN;
        }
        CHECK(sum == CHILDREN * (CHILDREN - 1) / 2, "sum %d", sum);
    }
    OK(MPI_Comm_disconnect(&inter));
    return check_end();
}
