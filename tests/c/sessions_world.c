// ranks: 1 2 4
// alone
// env: POSTHASTE_INITIAL_ERRHANDLER=mpi_errors_return
/* Sessions beside MPI_Init: begun before it by some ranks only, through it and MPI_Finalize, and after it. What belongs to
 * MPI_Init is there between it and MPI_Finalize alone. MPI-5.0 sections 11.2, 11.3 and 11.4. */
#include "env_check.h"

static MPI_Session begin(void)
{
    MPI_Session session;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    return session;
}

static void end(MPI_Session session)
{
    OK(MPI_Session_finalize(&session));
}

/* All ranks, in a communicator of the session. */
static void sum(MPI_Session session)
{
    int one = 1, all = -1, members = -1;
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Comm_create_from_group(group, "sum", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Comm_size(comm, &members));
    OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(all, members);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
}

static void no_world(void)
{
    int value = 0;
    REFUSED(MPI_Comm_rank(MPI_COMM_WORLD, &value), MPI_ERR_COMM);
    REFUSED(MPI_Comm_size(MPI_COMM_SELF, &value), MPI_ERR_COMM);
    REFUSED(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), MPI_ERR_COMM);
    REFUSED(MPI_Query_thread(&value), MPI_ERR_OTHER);
    REFUSED(MPI_Finalize(), MPI_ERR_OTHER);
}

int main(int argc, char **argv)
{
    int flag = -1, me;
    MPI_Session first, second;
    MPI_Group group;
    MPI_Info env;
    OK(MPI_Info_create_env(argc, argv, &env));
    /* Errors that belong to nothing go to the initial error handler, which must not be fatal here. */
    first = begin();
    OK(MPI_Group_from_session_pset(first, "mpi://WORLD", &group));
    OK(MPI_Group_rank(group, &me));
    OK(MPI_Group_free(&group));
    no_world();
    env_is(env, argc, argv);
    if (me == 1) end(first); /* one rank has none when MPI begins */
    check_start(&argc, &argv);
    EQUAL(rank, me);
    env_is(env, argc, argv);
    info_is(MPI_INFO_ENV, env);
    OK(MPI_Initialized(&flag));
    EQUAL(flag, 1);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me != 1) end(first);
    if (me == 0) end(begin());
    second = begin();
    sum(second);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (me == 0) end(second); /* one rank has none when MPI ends */
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    EQUAL(flag, 1);
    env_is(env, argc, argv);
    if (me == 0) second = begin();
    no_world();
    env_is(env, argc, argv);
    sum(second);
    end(second);
    second = begin();
    sum(second);
    end(second);
    if (me == 0) end(begin());
    env_is(env, argc, argv);
    OK(MPI_Info_free(&env));
    return 0;
}
