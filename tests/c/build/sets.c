/* Says which process sets this process is in, and how many are in each. */
#include "../check.h"

int main(void)
{
    MPI_Session session;
    MPI_Group group;
    int count = 0, members = -1;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Group_rank(group, &rank));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    for (int n = 0; n < count; n++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int length = sizeof name;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, name));
        OK(MPI_Group_from_session_pset(session, name, &group));
        OK(MPI_Group_size(group, &members));
        OK(MPI_Group_free(&group));
        printf("rank %d is in %s of %d\n", rank, name, members);
    }
    OK(MPI_Session_finalize(&session));
    return 0;
}
