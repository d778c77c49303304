// ranks: 1 2 3
// only: posthaste
/* Communicators of groups alone whose members are of several jobs: parents and those they have started, groups in another order, two
 * creations at a time, both with one string tag; intercommunicators of two jobs and of groups of mixed jobs; groups of one job that
 * know others. What was made connects when the communicator by which they have met is gone. Who has parted is refused, and then all
 * are that would make it with that one; so is who takes itself for the leader of the other group. MPI-5.0 sections 7.4.2, 7.6.2 and
 * 11.10.4. */
#include "meeting_check.h"

enum { CHILDREN = 2 };

static int child;

static MPI_Comm of_group(MPI_Group group, const char *tag)
{
    MPI_Comm comm;
    int mine = -1, rank_of = -2;
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_rank(group, &rank_of));
    OK(MPI_Comm_rank(comm, &mine));
    EQUAL(mine, rank_of);
    return comm;
}

/* Everybody hears of everybody, in the order of the group. */
static void check_members(MPI_Comm comm, MPI_Group group, int place)
{
    MPI_Group made;
    int n, same = -1, places[64], back[64];
    OK(MPI_Comm_group(comm, &made));
    OK(MPI_Group_compare(made, group, &same));
    EQUAL(same, MPI_IDENT);
    OK(MPI_Group_free(&made));
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Allgather(&place, 1, MPI_INT, places, 1, MPI_INT, comm));
    OK(MPI_Alltoall(places, 1, MPI_INT, back, 1, MPI_INT, comm));
    int mine, sum = 0;
    OK(MPI_Comm_rank(comm, &mine));
    EQUAL(places[mine], place);
    for (int i = 0; i < n; i++) {
        EQUAL(back[i], places[mine]);
        sum += places[i];
    }
    int all = -1;
    OK(MPI_Allreduce(&place, &all, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(all, sum);
}

/* The whole group, turned round, twice with one tag, and halves at the same time with one tag. */
static void communicators(MPI_Group whole, int n, int place, MPI_Comm *kept)
{
    MPI_Group turned, half;
    MPI_Comm comm, again;
    int range[1][3] = {{n - 1, 0, -1}}, every_second[1][3] = {{place % 2, n - 1, 2}};
    *kept = of_group(whole, "whole");
    check_members(*kept, whole, place);
    OK(MPI_Group_range_incl(whole, 1, range, &turned));
    comm = of_group(turned, "turned");
    again = of_group(turned, "turned");
    check_members(again, turned, place);
    check_members(comm, turned, place);
    OK(MPI_Comm_disconnect(&again));
    OK(MPI_Comm_disconnect(&comm));
    OK(MPI_Group_range_incl(whole, 1, every_second, &half));
    comm = of_group(half, "half");
    check_members(comm, half, place);
    OK(MPI_Comm_disconnect(&comm));
    OK(MPI_Group_free(&half));
    OK(MPI_Group_free(&turned));
}

static void intercommunicators(MPI_Group whole, int parents, int n, int place)
{
    MPI_Group own, other, mixed[2];
    MPI_Comm inter;
    int ranges[2][1][3] = {{{0, parents - 1, 1}}, {{parents, n - 1, 1}}};
    OK(MPI_Group_range_incl(whole, 1, ranges[child], &own));
    OK(MPI_Group_range_incl(whole, 1, ranges[!child], &other));
    /* Only the leader, the last of the group, looks at the other one. */
    int leader = child ? CHILDREN - 1 : parents - 1, remote = child ? parents - 1 : CHILDREN - 1;
    int leads = rank == leader;
    OK(MPI_Intercomm_create_from_groups(own, leader, leads ? other : MPI_GROUP_NULL, leads ? remote : -7, "two jobs", MPI_INFO_NULL,
                                        MPI_ERRORS_RETURN, &inter));
    use(inter, child);
    OK(MPI_Comm_disconnect(&inter));
    /* A leader of the other job that is none is an error at all of its group, and the others are not called. */
    if (child) {
        REFUSED(MPI_Intercomm_create_from_groups(own, 0, other, parents, "no leader", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter),
                MPI_ERR_RANK);
        EQUAL(inter == MPI_COMM_NULL, 1);
    }
    OK(MPI_Group_free(&own));
    OK(MPI_Group_free(&other));
    for (int i = 0; i < 2; i++) {
        int every_second[1][3] = {{i, n - 1, 2}};
        OK(MPI_Group_range_incl(whole, 1, every_second, &mixed[i]));
    }
    OK(MPI_Intercomm_create_from_groups(mixed[place % 2], 0, mixed[!(place % 2)], 0, "mixed", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                        &inter));
    use(inter, place % 2);
    OK(MPI_Comm_disconnect(&inter));
    for (int i = 0; i < 2; i++) OK(MPI_Group_free(&mixed[i]));
}

/* Those of one job, as members of a group that had others in it. */
static void at_home(MPI_Group whole, int parents)
{
    MPI_Group own;
    int range[1][3] = {{child ? parents : 0, child ? parents + CHILDREN - 1 : parents - 1, 1}};
    OK(MPI_Group_range_incl(whole, 1, range, &own));
    MPI_Comm comm = of_group(own, "at home");
    check_members(comm, own, rank);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&own));
}

/* Nobody leads both groups. */
static void leader_of_both(MPI_Group whole, int place)
{
    MPI_Group self;
    MPI_Comm none;
    int class = MPI_SUCCESS;
    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    int code = MPI_Intercomm_create_from_groups(self, 0, whole, place, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none);
    OK(MPI_Error_class(code, &class));
    CHECK(class == MPI_ERR_GROUP || class == MPI_ERR_RANK, "class %d: %s", class, check_text(code));
    EQUAL(none == MPI_COMM_NULL, 1);
    OK(MPI_Group_free(&self));
}

/* The first of both jobs are connected with everybody that they make it with, as far as they know; the second child has parted from the first
 * parent, which knows it. When all are connected again, the same call works. */
static void refused_by_some(MPI_Comm *all, MPI_Group whole, int parents, int place)
{
    MPI_Comm pair, comm = MPI_COMM_WORLD, inter;
    MPI_Group three;
    char port[MPI_MAX_PORT_NAME] = "";
    int members[3] = {0, parents, parents + 1};
    int is_first = place == 0 || place == parents, is_member = is_first || place == parents + 1;
    OK(MPI_Group_incl(whole, 3, members, &three));
    OK(MPI_Comm_split(*all, is_first ? 0 : MPI_UNDEFINED, place, &pair));
    OK(MPI_Comm_disconnect(all));
    if (is_member) {
        int code = MPI_Comm_create_from_group(three, "refused", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
        CHECK(code != MPI_SUCCESS, "made with one that has parted");
        if (place != parents) REFUSED(code, MPI_ERR_GROUP);
        EQUAL(comm == MPI_COMM_NULL, 1);
    }
    if (place == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, pair));
    } else if (place == parents) {
        OK(MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, pair, MPI_STATUS_IGNORE));
    }
    if (child)
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    else
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    if (place == 0) OK(MPI_Close_port(port));
    if (is_member) {
        comm = of_group(three, "refused");
        check_members(comm, three, place);
        OK(MPI_Comm_disconnect(&comm));
    }
    OK(MPI_Comm_disconnect(&inter));
    if (is_first) OK(MPI_Comm_disconnect(&pair));
    OK(MPI_Group_free(&three));
}

int main(int argc, char **argv)
{
    static char own[4096];
    MPI_Comm inter, all, kept, none;
    MPI_Group whole;
    int n, place;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&inter));
    child = inter != MPI_COMM_NULL;
    if (!child) {
        CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
        OK(MPI_Comm_spawn(own, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    }
    OK(MPI_Intercomm_merge(inter, child, &all));
    OK(MPI_Comm_group(all, &whole));
    OK(MPI_Comm_size(all, &n));
    OK(MPI_Comm_rank(all, &place));
    int parents = n - CHILDREN;
    communicators(whole, n, place, &kept);
    intercommunicators(whole, parents, n, place);
    at_home(whole, parents);
    /* They stay connected by what they have made. */
    OK(MPI_Comm_disconnect(&all));
    OK(MPI_Comm_disconnect(&inter));
    check_members(kept, whole, place);
    all = of_group(whole, "again");
    OK(MPI_Comm_disconnect(&kept));
    check_members(all, whole, place);
    leader_of_both(whole, place);
    refused_by_some(&all, whole, parents, place);
    /* Nothing connects them any more. */
    int code = MPI_Comm_create_from_group(whole, "parted", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none);
    REFUSED(code, MPI_ERR_GROUP);
    CHECK(strstr(check_text(code), "is a process of another job that this one has parted from"), "%s", check_text(code));
    EQUAL(none == MPI_COMM_NULL, 1);
    MPI_Group self, others;
    int range[1][3] = {{child ? 0 : parents, child ? parents - 1 : n - 1, 1}};
    OK(MPI_Group_range_incl(whole, 1, range, &others));
    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    code = MPI_Intercomm_create_from_groups(self, 0, others, 0, "parted", MPI_INFO_NULL, MPI_ERRORS_RETURN, &none);
    REFUSED(code, MPI_ERR_GROUP);
    CHECK(strstr(check_text(code), "remote_group is a group whose rank 0"), "%s", check_text(code));
    OK(MPI_Group_free(&self));
    OK(MPI_Group_free(&others));
    OK(MPI_Group_free(&whole));
    return check_end();
}
