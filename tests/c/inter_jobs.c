// ranks: 1 2 3
// only: posthaste
/* Groups of several jobs become intercommunicators: two jobs that the ranks have started and that do not know each other, ranks that
 * have no common communicator but through others, groups of mixed jobs, groups of one job. MPI-5.0 section 7.6.2. */
#include "meeting_check.h"

enum { LEFT = 2, RIGHT = 2 };

static char side = 'p';

static void start(char *role, int n, MPI_Comm *inter)
{
    static char own[4096];
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
    char *arguments[] = {role, NULL};
    OK(MPI_Comm_spawn(own, arguments, n, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE));
}

/* The other group has these ranks of `all`, and this process knows them as such. */
static void check_remote(MPI_Comm inter, MPI_Comm all, int first, int n)
{
    MPI_Group group, whole, theirs;
    int range[1][3] = {{first, first + n - 1, 1}}, same = -1;
    OK(MPI_Comm_group(all, &whole));
    OK(MPI_Group_range_incl(whole, 1, range, &group));
    OK(MPI_Comm_remote_group(inter, &theirs));
    OK(MPI_Group_compare(group, theirs, &same));
    EQUAL(same, MPI_IDENT);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&whole));
    OK(MPI_Group_free(&theirs));
}

/* Left and right, who have not met, through a communicator of all; the leaders are the last of the left and the first of the right. */
static void pair_up(MPI_Comm all, int parents, MPI_Comm *pair)
{
    MPI_Comm again, both;
    int right = side == 'r', same = -1, n = -1;
    for (int round = 0; round < 2; round++) {
        MPI_Comm *made = round ? &again : pair;
        int leader = right ? 0 : LEFT - 1, other = right ? parents + LEFT - 1 : parents + LEFT;
        OK(MPI_Intercomm_create(MPI_COMM_WORLD, leader, rank == leader ? all : MPI_COMM_NULL, rank == leader ? other : -77, 5, made));
        check_remote(*made, all, right ? parents : parents + LEFT, right ? LEFT : RIGHT);
        use(*made, right);
    }
    OK(MPI_Comm_compare(*pair, again, &same));
    EQUAL(same, MPI_CONGRUENT);
    OK(MPI_Comm_disconnect(&again));
    OK(MPI_Intercomm_merge(*pair, right, &both));
    OK(MPI_Comm_size(both, &n));
    EQUAL(n, LEFT + RIGHT);
    OK(MPI_Barrier(both));
    OK(MPI_Comm_disconnect(&both));
}

/* Two groups with members of all jobs, whose leaders are in one. */
static void mix(MPI_Comm all, int place)
{
    MPI_Comm part, inter;
    int second = side == 'r' || (side == 'p' && rank % 2), mine;
    OK(MPI_Comm_split(all, second, place, &part));
    OK(MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(part, &mine));
    OK(MPI_Intercomm_create(part, 0, mine == 0 ? MPI_COMM_WORLD : MPI_COMM_NULL, !second, 9, &inter));
    use(inter, second);
    OK(MPI_Comm_disconnect(&inter));
    OK(MPI_Comm_disconnect(&part));
}

/* Two groups of one job, whose leaders find each other through a communicator of several. */
static void at_home(MPI_Comm all)
{
    MPI_Comm half, inter;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, all, !(rank % 2), 11, &inter));
    use(inter, rank % 2);
    OK(MPI_Comm_disconnect(&inter));
    OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    MPI_Comm left, right, parent, near, grown, all, pair;
    int n, place;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        side = argv[1][0];
        left = right = parent;
    } else {
        start("left", LEFT, &left);
        start("right", RIGHT, &right);
    }
    /* The left one with the parents, and then the right one with both: it knows only the parents. */
    if (side == 'r') {
        OK(MPI_Intercomm_create(MPI_COMM_WORLD, RIGHT - 1, right, 0, 3, &grown));
    } else {
        OK(MPI_Intercomm_merge(left, side == 'l', &near));
        OK(MPI_Comm_rank(near, &place));
        OK(MPI_Intercomm_create(near, 0, place == 0 ? right : MPI_COMM_NULL, RIGHT - 1, 3, &grown));
        OK(MPI_Comm_disconnect(&near));
    }
    use(grown, side == 'r');
    OK(MPI_Intercomm_merge(grown, side == 'r', &all));
    OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    OK(MPI_Comm_disconnect(&grown));
    OK(MPI_Comm_size(all, &n));
    OK(MPI_Comm_rank(all, &place));
    int parents = n - LEFT - RIGHT;
    if (side != 'p')
        pair_up(all, parents, &pair);
    else if (size > 1)
        at_home(all);
    if (parents > 1) mix(all, place);
    OK(MPI_Barrier(all));
    OK(MPI_Comm_disconnect(&all));
    /* The parents go; the two they have started stay connected. */
    if (side != 'r') OK(MPI_Comm_disconnect(&left));
    if (side != 'l') OK(MPI_Comm_disconnect(&right));
    if (side != 'p') {
        use(pair, side == 'r');
        OK(MPI_Comm_disconnect(&pair));
    }
    return check_end();
}
