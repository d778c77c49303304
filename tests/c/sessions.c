// ranks: 1 2 3 5
// alone
// env: POSTHASTE_INITIAL_ERRHANDLER=mpi_errors_return
/* Sessions without MPI_Init: process sets and what is known of them, groups, communicators and intercommunicators made of groups,
 * several sessions at once and again and again, thread levels, error handlers, buffers. MPI-5.0 sections 11.3, 7.3.2, 7.4.2,
 * 7.6.2, 9.3 and 3.6. */
#include "env_check.h"

#include <unistd.h>

static int calls, last_class;
static MPI_Session last_session;

static void note(MPI_Session *session, int *code, ...)
{
    calls++;
    last_session = *session;
    MPI_Error_class(*code, &last_class);
}

static MPI_Session begin(const char *level)
{
    MPI_Session session = MPI_SESSION_NULL;
    MPI_Info info = MPI_INFO_NULL;
    if (level) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "thread_level", level));
        OK(MPI_Info_set(info, "no_such_hint", "x"));
    }
    OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &session));
    CHECK(session != MPI_SESSION_NULL);
    if (level) OK(MPI_Info_free(&info));
    return session;
}

static void value_of(MPI_Info info, const char *key, char *value, int room)
{
    int flag = 0;
    OK(MPI_Info_get_string(info, key, &room, value, &flag));
    CHECK(flag, "no key %s", key);
}

static MPI_Comm comm_of(MPI_Session session, const char *set, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;
    OK(MPI_Group_from_session_pset(session, set, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    return comm;
}

static void sets(MPI_Session session)
{
    int count = -1, worlds = 0, selves = 0;
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count >= 2, "%d process sets", count);
    for (int n = 0; n < count; n++) {
        char name[MPI_MAX_PSET_NAME_LEN], cut[6], value[64];
        int needed = 0, length = sizeof name, members = -1, me = -1;
        MPI_Info info;
        MPI_Group group;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &needed, NULL));
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, name));
        EQUAL(length, needed);
        EQUAL(strlen(name) + 1, needed);
        length = sizeof cut;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, cut));
        EQUAL(length, needed);
        CHECK(strlen(cut) == 5 && strncmp(cut, name, 5) == 0, "%s", cut);
        worlds += strcmp(name, "mpi://WORLD") == 0;
        selves += strcmp(name, "mpi://SELF") == 0;
        OK(MPI_Session_get_pset_info(session, name, &info));
        value_of(info, "mpi_size", value, sizeof value);
        OK(MPI_Info_free(&info));
        OK(MPI_Group_from_session_pset(session, name, &group));
        OK(MPI_Group_size(group, &members));
        OK(MPI_Group_rank(group, &me));
        EQUAL(members, atoi(value));
        CHECK(me >= 0 && me < members, "rank %d of %d", me, members);
        OK(MPI_Group_free(&group));
    }
    EQUAL(worlds, 1);
    EQUAL(selves, 1);
}

static void talk(MPI_Comm comm)
{
    int me, all, sum = -1, left = -1;
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &all));
    OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, all * (all - 1) / 2);
    OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % all, 7, &left, 1, MPI_INT, (me + all - 1) % all, 7, comm, MPI_STATUS_IGNORE));
    EQUAL(left, (me + all - 1) % all);
}

static void levels(void)
{
    static const char *const known[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"};
    /* The first opens the engine, with locks; later ones cannot have more. */
    for (int i = 3; i >= 0; i--) {
        MPI_Session session = begin(known[i]);
        MPI_Info info;
        char value[64] = "";
        OK(MPI_Session_get_info(session, &info));
        value_of(info, "thread_level", value, sizeof value);
        CHECK(strcmp(value, known[i]) == 0, "%s of %s", value, known[i]);
        value_of(info, "mpi_memory_alloc_kinds", value, sizeof value);
        CHECK(strstr(value, "system") != NULL, "%s", value);
        int keys;
        OK(MPI_Info_get_nkeys(info, &keys));
        EQUAL(keys, 2);
        OK(MPI_Info_free(&info));
        OK(MPI_Session_finalize(&session));
        CHECK(session == MPI_SESSION_NULL);
    }
}

static void handlers(void)
{
    MPI_Errhandler handler, found;
    MPI_Session session;
    MPI_Group group;
    OK(MPI_Session_create_errhandler(note, &handler));
    OK(MPI_Session_init(MPI_INFO_NULL, handler, &session));
    REFUSED(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group), MPI_ERR_ARG);
    CHECK(group == MPI_GROUP_NULL);
    EQUAL(calls, 1);
    EQUAL(last_class, MPI_ERR_ARG);
    CHECK(last_session == session);
    OK(MPI_Session_get_errhandler(session, &found));
    CHECK(found == handler);
    OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
    EQUAL(calls, 2);
    OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    REFUSED(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group), MPI_ERR_ARG);
    EQUAL(calls, 2);
    OK(MPI_Session_finalize(&session));
    OK(MPI_Errhandler_free(&handler));
}

/* Even and odd ranks, between them an intercommunicator; only leaders know the other side. */
static void across(MPI_Session session)
{
    int mine[64], theirs[64], n = 0, m = 0, odd = rank % 2, other = -1, got = -1;
    MPI_Group world, own, far = MPI_GROUP_EMPTY;
    MPI_Comm inter;
    if (size < 2) return;
    for (int i = 0; i < size; i++) *(i % 2 == odd ? &mine[n++] : &theirs[m++]) = i;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    OK(MPI_Group_incl(world, n, mine, &own));
    if (rank == odd) OK(MPI_Group_incl(world, m, theirs, &far));
    OK(MPI_Intercomm_create_from_groups(own, 0, far, rank == odd ? 0 : -7, "between", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    OK(MPI_Comm_remote_size(inter, &other));
    EQUAL(other, m);
    OK(MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_MIN, inter));
    EQUAL(got, 1 - odd);
    OK(MPI_Comm_free(&inter));
    if (far != MPI_GROUP_EMPTY) OK(MPI_Group_free(&far));
    OK(MPI_Group_free(&own));
    OK(MPI_Group_free(&world));
}

/* The buffer of a session serves its communicators, those made of them too, and no others. */
static void buffers(MPI_Session session, MPI_Comm comm)
{
    static char room[1 << 16], other_room[1 << 12];
    MPI_Session other = begin(NULL);
    MPI_Comm copy, foreign = comm_of(other, "mpi://SELF", "foreign");
    MPI_Request request;
    void *back = NULL;
    int length = -1, value = 5, me, got = -1;
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_rank(copy, &me));
    OK(MPI_Session_attach_buffer(session, room, sizeof room));
    REFUSED(MPI_Session_attach_buffer(session, room, sizeof room), MPI_ERR_BUFFER);
    OK(MPI_Bsend(&value, 1, MPI_INT, me, 3, copy));
    REFUSED(MPI_Bsend(&value, 1, MPI_INT, 0, 3, foreign), MPI_ERR_BUFFER);
    OK(MPI_Session_iflush_buffer(session, &request));
    OK(MPI_Recv(&got, 1, MPI_INT, me, 3, copy, MPI_STATUS_IGNORE));
    EQUAL(got, value);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Session_flush_buffer(session));
    OK(MPI_Session_detach_buffer(session, &back, &length));
    CHECK(back == room && length == (int)sizeof room);
    REFUSED(MPI_Session_detach_buffer(session, &back, &length), MPI_ERR_BUFFER);
    OK(MPI_Session_attach_buffer_c(session, MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Bsend(&value, 1, MPI_INT, me, 4, comm));
    OK(MPI_Recv(&got, 1, MPI_INT, me, 4, comm, MPI_STATUS_IGNORE));
    MPI_Count bytes = -1;
    OK(MPI_Session_detach_buffer_c(session, &back, &bytes));
    CHECK(back == MPI_BUFFER_AUTOMATIC);
    /* The end of a session detaches its buffer. */
    OK(MPI_Session_attach_buffer(other, other_room, sizeof other_room));
    OK(MPI_Comm_free(&foreign));
    OK(MPI_Session_finalize(&other));
    OK(MPI_Comm_free(&copy));
}

int main(int argc, char **argv)
{
    int flag = -1;
    MPI_Info env;
    OK(MPI_Info_create_env(argc, argv, &env));
    env_is(env, argc, argv);
    CHECK(chdir("/") == 0); /* it says where the program was started */
    env_is(env, argc, argv);
    levels();
    handlers();
    for (int round = 0; round < 30; round++) {
        MPI_Session one = begin(NULL), two = begin("MPI_THREAD_SERIALIZED");
        env_is(env, argc, argv);
        MPI_Comm world = comm_of(one, "mpi://WORLD", "a"), second = comm_of(two, "MPI://world", "a");
        MPI_Comm own = comm_of(two, "mpi://SELF", "own"), copy;
        MPI_Group group, empty = MPI_GROUP_EMPTY;
        CHECK(one != two);
        OK(MPI_Comm_rank(world, &rank));
        OK(MPI_Comm_size(world, &size));
        OK(MPI_Initialized(&flag));
        EQUAL(flag, 0);
        sets(one);
        talk(world);
        OK(MPI_Session_finalize(&one)); /* with a communicator that was not freed */
        REFUSED(MPI_Barrier(world), MPI_ERR_COMM);
        talk(second);
        talk(own);
        across(two);
        buffers(two, second);
        OK(MPI_Comm_create_from_group(empty, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &copy));
        CHECK(copy == MPI_COMM_NULL);
        OK(MPI_Comm_group(second, &group));
        OK(MPI_Comm_create_from_group(group, "b", MPI_INFO_NULL, MPI_ERRORS_RETURN, &copy));
        talk(copy);
        OK(MPI_Group_free(&group));
        OK(MPI_Comm_free(&copy));
        OK(MPI_Comm_free(&own));
        OK(MPI_Comm_free(&second));
        OK(MPI_Session_finalize(&two));
    }
    env_is(env, argc, argv);
    OK(MPI_Info_free(&env));
    OK(MPI_Finalized(&flag));
    EQUAL(flag, 0);
    return 0;
}
