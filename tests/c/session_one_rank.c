// ranks: 1 4
// alone
// of memory
// says: rank 0 has had its sessions
/* A session is begun and ended by one rank alone: the others, which never do so, are not waited for; between hosts, where
 * the first opening of the engine brings all together, they would be. MPI-5.0 section 11.3. */
#include "check.h"

int main(void)
{
    const char *number = getenv("PMI_RANK");
    int others = number && atoi(number) != 0;
    for (int round = 0; round < 3 && !others; round++) {
        int sum = -1, value = 6;
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
        OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
        OK(MPI_Comm_create_from_group(group, "alone", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
        EQUAL(sum, value);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Group_free(&group));
        OK(MPI_Session_finalize(&session));
        if (round == 2) printf("rank 0 has had its sessions\n");
    }
    return 0;
}
