// ranks: 1 2
// only: posthaste
// alone
/* Every argument of the functions of sessions, and of communicators made of groups, wrong in turn. MPI-5.0 sections 11.3, 7.3.2,
 * 7.4.2, 7.6.2, 9.3 and 3.6. */
#include "bad_check.h"

static void on_comm(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code; }

int main(int argc, char **argv)
{
    int n, length = 0, me, place = 0;
    char name[MPI_MAX_PSET_NAME_LEN], long_tag[MPI_MAX_STRINGTAG_LEN + 1];
    void *address;
    MPI_Count bytes;
    MPI_Session s, session, freed;
    MPI_Group g, world, others, own;
    MPI_Comm c;
    MPI_Info info;
    MPI_Errhandler e, of_comm;
    MPI_Request r;
    bad_start(&argc, &argv);
    memset(long_tag, 'x', sizeof long_tag - 1);
    long_tag[sizeof long_tag - 1] = 0;
    OK(MPI_Comm_create_errhandler(on_comm, &of_comm));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &freed));
    s = freed;
    OK(MPI_Session_finalize(&s));
    MPI_Session wrong[] = {MPI_SESSION_NULL, freed, (MPI_Session)0, (MPI_Session)(uintptr_t)MPI_COMM_WORLD, (MPI_Session)~(uintptr_t)0};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        MPI_Session w = wrong[i];
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_get_num_psets, w, MPI_INFO_NULL, &n);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_get_nth_pset, w, MPI_INFO_NULL, 0, &length, name);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_get_info, w, &info);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_get_pset_info, w, "mpi://SELF", &info);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Group_from_session_pset, w, "mpi://SELF", &g);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_set_errhandler, w, MPI_ERRORS_RETURN);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_get_errhandler, w, &e);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_call_errhandler, w, MPI_ERR_OTHER);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_attach_buffer, w, name, 9);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_attach_buffer_c, w, name, 9);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_detach_buffer, w, &address, &n);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_detach_buffer_c, w, &address, &bytes);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_flush_buffer, w);
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_iflush_buffer, w, &r);
        s = w;
        BAD(MPI_ERR_SESSION, "session is ", MPI_Session_finalize, &s);
        CHECK(s == w);
    }
    BAD(MPI_ERR_ARG, "session is NULL", MPI_Session_finalize, NULL);
    EACH_NOT_NULL(BAD_INFO, MPI_Info, w, MPI_INFO_NULL) {
        BAD(MPI_ERR_INFO, "info is ", MPI_Session_init, w, MPI_ERRORS_RETURN, &s);
        CHECK(s == MPI_SESSION_NULL);
        BAD(MPI_ERR_INFO, "info is ", MPI_Session_get_num_psets, session, w, &n);
        BAD(MPI_ERR_INFO, "info is ", MPI_Session_get_nth_pset, session, w, 0, &length, name);
    }
    EACH(BAD_ERRHANDLER, MPI_Errhandler, w) {
        BAD(MPI_ERR_ERRHANDLER, "errhandler is ", MPI_Session_init, MPI_INFO_NULL, w, &s);
        BAD(MPI_ERR_ERRHANDLER, "errhandler is ", MPI_Session_set_errhandler, session, w);
    }
    BAD(MPI_ERR_ERRHANDLER, "made for a communicator", MPI_Session_init, MPI_INFO_NULL, of_comm, &s);
    BAD(MPI_ERR_ERRHANDLER, "made for a communicator", MPI_Session_set_errhandler, session, of_comm);
    BAD(MPI_ERR_ARG, "session is NULL", MPI_Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "several"));
    BAD(MPI_ERR_INFO_VALUE, "thread_level in info is \"several\", expected one of MPI_THREAD_SINGLE,", MPI_Session_init, info,
        MPI_ERRORS_RETURN, &s);
    OK(MPI_Info_free(&info));

    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n));
    BAD(MPI_ERR_ARG, "npset_names is NULL", MPI_Session_get_num_psets, session, MPI_INFO_NULL, NULL);
    BAD(MPI_ERR_ARG, "n is -1, expected 0..=", MPI_Session_get_nth_pset, session, MPI_INFO_NULL, -1, &length, name);
    BAD(MPI_ERR_ARG, "n is ", MPI_Session_get_nth_pset, session, MPI_INFO_NULL, n, &length, name);
    BAD(MPI_ERR_ARG, "pset_len is NULL", MPI_Session_get_nth_pset, session, MPI_INFO_NULL, 0, NULL, name);
    length = -1;
    BAD(MPI_ERR_ARG, "pset_len is -1", MPI_Session_get_nth_pset, session, MPI_INFO_NULL, 0, &length, name);
    length = 9;
    BAD(MPI_ERR_ARG, "pset_name is NULL", MPI_Session_get_nth_pset, session, MPI_INFO_NULL, 0, &length, NULL);
    BAD(MPI_ERR_ARG, "info_used is NULL", MPI_Session_get_info, session, NULL);
    BAD(MPI_ERR_ARG, "pset_name is \"mpi://ALL\", expected one of mpi://WORLD, mpi://SELF", MPI_Session_get_pset_info, session,
        "mpi://ALL", &info);
    CHECK(info == MPI_INFO_NULL);
    BAD(MPI_ERR_ARG, "pset_name is NULL", MPI_Session_get_pset_info, session, NULL, &info);
    BAD(MPI_ERR_ARG, "info is NULL", MPI_Session_get_pset_info, session, "mpi://SELF", NULL);
    BAD(MPI_ERR_ARG, "pset_name is \"\"", MPI_Group_from_session_pset, session, "", &g);
    BAD(MPI_ERR_ARG, "pset_name is NULL", MPI_Group_from_session_pset, session, NULL, &g);
    BAD(MPI_ERR_ARG, "newgroup is NULL", MPI_Group_from_session_pset, session, "mpi://SELF", NULL);
    BAD(MPI_ERR_ARG, "errhandler is NULL", MPI_Session_get_errhandler, session, NULL);
    BAD(MPI_ERR_ARG, "size is -1", MPI_Session_attach_buffer, session, name, -1);
    BAD(MPI_ERR_ARG, "size is -1", MPI_Session_attach_buffer_c, session, name, -1);
    BAD(MPI_ERR_BUFFER, "buffer is NULL", MPI_Session_attach_buffer, session, NULL, 9);
    BAD(MPI_ERR_BUFFER, "no buffer is attached", MPI_Session_detach_buffer, session, &address, &n);
    BAD(MPI_ERR_BUFFER, "no buffer is attached", MPI_Session_detach_buffer_c, session, &address, &bytes);
    BAD(MPI_ERR_BUFFER, "no buffer is attached", MPI_Session_flush_buffer, session);
    BAD(MPI_ERR_BUFFER, "no buffer is attached", MPI_Session_iflush_buffer, session, &r);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Session_detach_buffer, session, &address, NULL);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Session_detach_buffer_c, session, &address, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Session_iflush_buffer, session, NULL);

    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &world));
    OK(MPI_Group_from_session_pset(session, "mpi://SELF", &own));
    OK(MPI_Group_rank(world, &me));
    OK(MPI_Group_excl(world, 1, &me, &others));
    EACH(BAD_GROUP, MPI_Group, w) {
        BAD(MPI_ERR_GROUP, "group is ", MPI_Comm_create_from_group, w, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
        CHECK(c == MPI_COMM_NULL);
        BAD(MPI_ERR_GROUP, "local_group is ", MPI_Intercomm_create_from_groups, w, 0, world, 0, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
        BAD(MPI_ERR_GROUP, "remote_group is ", MPI_Intercomm_create_from_groups, own, 0, w, 0, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
        CHECK(c == MPI_COMM_NULL);
    }
    if (size > 1)
        BAD(MPI_ERR_GROUP, "a group of 1 processes without this one", MPI_Comm_create_from_group, others, "t", MPI_INFO_NULL,
            MPI_ERRORS_RETURN, &c);
    BAD(MPI_ERR_ARG, "stringtag is NULL", MPI_Comm_create_from_group, own, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c);
    BAD(MPI_ERR_ARG, "stringtag is 1024 bytes long, expected at most 1023", MPI_Comm_create_from_group, own, long_tag, MPI_INFO_NULL,
        MPI_ERRORS_RETURN, &c);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPI_Comm_create_from_group, own, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL);
    EACH_NOT_NULL(BAD_INFO, MPI_Info, w, MPI_INFO_NULL)
        BAD(MPI_ERR_INFO, "info is ", MPI_Comm_create_from_group, own, "t", w, MPI_ERRORS_RETURN, &c);
    EACH(BAD_ERRHANDLER, MPI_Errhandler, w) {
        BAD(MPI_ERR_ERRHANDLER, "errhandler is ", MPI_Comm_create_from_group, own, "t", MPI_INFO_NULL, w, &c);
        BAD(MPI_ERR_ERRHANDLER, "errhandler is ", MPI_Intercomm_create_from_groups, own, 0, world, 0, "t", MPI_INFO_NULL, w, &c);
    }
#define BETWEEN(wanted, says, group, leader, far, far_leader, tag, out)                                     \
    BAD(wanted, says, MPI_Intercomm_create_from_groups, group, leader, far, far_leader, tag, MPI_INFO_NULL, \
        MPI_ERRORS_RETURN, out)
    BETWEEN(MPI_ERR_GROUP, "local_group is empty", MPI_GROUP_EMPTY, 0, world, 0, "t", &c);
    BETWEEN(MPI_ERR_RANK, "local_leader is 1, expected 0..=0", own, 1, world, 0, "t", &c);
    BETWEEN(MPI_ERR_RANK, "local_leader is -1", own, -1, world, 0, "t", &c);
    BETWEEN(MPI_ERR_RANK, "remote_leader is 77", own, 0, world, 77, "t", &c);
    BETWEEN(MPI_ERR_RANK, "remote_leader is 0", own, 0, MPI_GROUP_EMPTY, 0, "t", &c);
    BETWEEN(MPI_ERR_ARG, "stringtag is NULL", own, 0, world, 0, NULL, &c);
    BETWEEN(MPI_ERR_ARG, "stringtag is 1024 bytes long", own, 0, world, 0, long_tag, &c);
    BETWEEN(MPI_ERR_ARG, "newintercomm is NULL", own, 0, world, 0, "t", NULL);
    BETWEEN(MPI_ERR_RANK, "a process of the other group", own, 0, own, 0, "t", &c);

    OK(MPI_Comm_create_from_group(world, "after all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    OK(MPI_Allreduce(&me, &place, 1, MPI_INT, MPI_SUM, c));
    EQUAL(place, size * (size - 1) / 2);
    OK(MPI_Comm_free(&c));
    if (size > 1) OK(MPI_Group_free(&others));
    OK(MPI_Group_free(&own));
    OK(MPI_Group_free(&world));
    OK(MPI_Errhandler_free(&of_comm));
    OK(MPI_Session_finalize(&session));
    return bad_end();
}
