// ranks: 6
/* Processes that have sessions alone and are done before a root has taken what they gave it: they may end when it has. MPI-5.0 sections 6.1
 * and 11.3.1. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <unistd.h>
#include "check.h"

enum { COUNT = 1 << 14 };

int main(void)
{
    int rank, size;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "ahead", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    int *give = malloc(sizeof(int) * COUNT), *got = malloc(sizeof(int) * COUNT * size);
    CHECK(give && got);
    for (int at = 0; at < COUNT; at++) give[at] = rank * 1000 + at % 97;
    /* Later than anybody waits at an end for what others do; where the blocks are it does not know yet. */
    if (rank == 0) usleep(3000000);
    OK(MPI_Gather(give, COUNT, MPI_INT, got, COUNT, MPI_INT, 0, comm));
    for (int from = 0; rank == 0 && from < size; from++)
        for (int at = 0; at < COUNT; at += 1021) CHECK(got[from * COUNT + at] == from * 1000 + at % 97);
    free(give), free(got);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&session));
    return 0;
}
