// ranks: 1 2 4
/* Threads of each rank make communicators of the same group at the same time, each in a session of its own; string tags tell them
 * apart, in whichever order they come. MPI-5.0 sections 7.4.2 and 11.3.1. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 20 };

static void *found(void *which)
{
    int me = (int)(long)which;
    for (int round = 0; round < ROUNDS; round++) {
        int sum = -1, members, mine = me + 1;
        char tag[40];
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
        OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        snprintf(tag, sizeof tag, "org.example.thread.%d", me);
        OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
        OK(MPI_Comm_size(comm, &members));
        OK(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == members * mine, "thread %d round %d: %d of %d members", me, round, sum, members);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Group_free(&group));
        OK(MPI_Session_finalize(&session));
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, found, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}
