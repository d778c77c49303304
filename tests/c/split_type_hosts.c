// ranks: 2 4 5 7
// hosts in turns: 2
// only: posthaste
// of memory
/* Splits by hardware where ranks are on several hosts, whose CPUs have the same numbers: ranks of different hosts never share hardware,
 * whatever CPUs they are confined to. In communicators of all, in another order, of one host, of one rank of each host, and of two
 * groups. MPI-5.0 sections 7.4.2 and 9.1.2. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

#ifndef HOSTS
#define HOSTS 2
#endif
#define W MPI_COMM_WORLD
enum { MOST = 16, TYPE_ROOM = MPI_MAX_INFO_KEY + 1 };

/* The kinds that splits may be guided by; what this machine does not know of is none. */
static const char *const names[] = {"mpi_shared_memory", "hwloc://Package", "hwloc://NUMANode", "hwloc://L3Cache",
                                    "hwloc://L2Cache",   "hwloc://Core",    "hwloc://PU"};
enum { NAMES = sizeof names / sizeof *names };

static cpu_set_t usable, masks[MOST]; /* of this process at first; of all ranks now */

static int host(int of) { return of % HOSTS; }

/* Members of a communicator as ranks of the world. */
struct members { int n, ranks[MOST]; };

static struct members of_group(MPI_Group group)
{
    struct members m = {0};
    MPI_Group world;
    int all[MOST];
    OK(MPI_Comm_group(W, &world));
    OK(MPI_Group_size(group, &m.n));
    for (int i = 0; i < m.n; i++) all[i] = i;
    OK(MPI_Group_translate_ranks(group, m.n, all, world, m.ranks));
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&group));
    return m;
}

static struct members of(MPI_Comm comm)
{
    MPI_Group group;
    if (comm == MPI_COMM_NULL) return (struct members){0};
    OK(MPI_Comm_group(comm, &group));
    return of_group(group);
}

static struct members beyond(MPI_Comm comm)
{
    MPI_Group group;
    if (comm == MPI_COMM_NULL) return (struct members){0};
    OK(MPI_Comm_remote_group(comm, &group));
    return of_group(group);
}

static int has(const struct members *m, int member)
{
    for (int i = 0; i < m->n; i++)
        if (m->ranks[i] == member) return 1;
    return 0;
}

/* Those of this host, in the order of their keys. */
static struct members near(const struct members *all, int falling)
{
    struct members m = {0};
    for (int i = 0; i < size; i++) {
        int member = falling ? size - 1 - i : i;
        if (has(all, member) && host(member) == host(rank)) m.ranks[m.n++] = member;
    }
    return m;
}

static void same(const struct members *found, const struct members *wanted, const char *what)
{
    CHECK(found->n == wanted->n, "%s: %d members, expected %d", what, found->n, wanted->n);
    for (int i = 0; i < wanted->n; i++)
        CHECK(found->ranks[i] == wanted->ranks[i], "%s: member %d is %d, expected %d", what, i, found->ranks[i], wanted->ranks[i]);
}

/* CPUs that ranks are confined to: those from mpiexec, all on the first one, those of a host on two in turns, everywhere, and a mix. */
enum { AS_STARTED, ON_ONE, ON_TWO, EVERYWHERE, MIXED, PATTERNS };

static void confine(int pattern)
{
    int nth = rank / HOSTS, wanted = pattern == ON_TWO && CPU_COUNT(&usable) > 1 ? nth % 2 : 0, cpu = 0;
    cpu_set_t mask = usable;
    if (pattern == ON_ONE || pattern == ON_TWO || (pattern == MIXED && nth % 2 == 0)) {
        while (!CPU_ISSET(cpu, &usable) || wanted-- > 0) cpu++;
        CPU_ZERO(&mask);
        CPU_SET(cpu, &mask);
    }
    if (pattern != AS_STARTED) EQUAL(sched_setaffinity(0, sizeof mask, &mask), 0);
    EQUAL(sched_getaffinity(0, sizeof mask, &mask), 0);
    OK(MPI_Allgather(&mask, sizeof mask, MPI_BYTE, masks, sizeof mask, MPI_BYTE, W));
}

/* Whether this rank is restricted to one of a kind; -1 where the kind is not known. */
static int restricted_to(const char *name)
{
    MPI_Info info;
    char value[8] = "";
    int room = sizeof value, flag = 0;
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_string(info, name, &room, value, &flag));
    OK(MPI_Info_free(&info));
    if (!flag) return -1;
    CHECK(!strcmp(value, "true") || !strcmp(value, "false"), "%s is \"%s\"", name, value);
    return !strcmp(value, "true");
}

static MPI_Comm by(MPI_Comm comm, int type, int key, const char *name, const char *set)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm made = W;
    if (name || set) OK(MPI_Info_create(&info));
    if (name) OK(MPI_Info_set(info, "mpi_hw_resource_type", name));
    if (set) OK(MPI_Info_set(info, "mpi_pset_name", set));
    OK(MPI_Comm_split_type(comm, type, key, info, &made));
    if (name || set) OK(MPI_Info_free(&info));
    return made;
}

/* What MPI_Get_hw_resource_info says of this rank. */
static void known(void)
{
    MPI_Info info;
    int n, confined = CPU_COUNT(&masks[rank]) == 1;
    char key[TYPE_ROOM];
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_nkeys(info, &n));
    EQUAL(restricted_to("mpi_shared_memory"), 1);
    EQUAL(restricted_to("hwloc://PU"), confined);
    for (int i = 0; i < n; i++) {
        int is_listed = 0;
        OK(MPI_Info_get_nthkey(info, i, key));
        for (int k = 0; k < NAMES; k++) is_listed |= !strcmp(key, names[k]);
        CHECK(is_listed, "%s is not in the list of this test", key);
        if (confined) EQUAL(restricted_to(key), 1);
    }
    OK(MPI_Info_free(&info));
}

/* Splits by one kind of hardware. */
static void guided(MPI_Comm comm, int type, const char *name, int falling)
{
    struct members all = of(comm);
    int own = restricted_to(name), flags[MOST];
    MPI_Comm part = by(comm, type, falling ? -rank : rank, name, NULL);
    struct members got = of(part);
    OK(MPI_Allgather(&own, 1, MPI_INT, flags, 1, MPI_INT, comm));
    CHECK((got.n > 0) == (own == 1), "%s: %d members, restricted %d", name, got.n, own);
    for (int i = 0; i < all.n; i++) {
        int other = all.ranks[i], together = has(&got, other), is_near = host(other) == host(rank);
        cpu_set_t both;
        CPU_AND(&both, &masks[rank], &masks[other]);
        CHECK(!together || is_near, "%s: with rank %d of host %d, and this is host %d", name, other, host(other), host(rank));
        CHECK(!together || flags[i] == 1, "%s: with rank %d, which is not restricted to one", name, other);
        if (is_near && own == 1 && flags[i] == 1 && CPU_COUNT(&both)) CHECK(together, "%s: without rank %d", name, other);
        if (together && !strcmp(name, "hwloc://PU")) CHECK(CPU_EQUAL(&masks[rank], &masks[other]), "with rank %d", other);
    }
    for (int i = 1; i < got.n; i++)
        CHECK((got.ranks[i - 1] > got.ranks[i]) == falling, "%s: the order of keys", name);
    if (part != MPI_COMM_NULL) OK(MPI_Comm_free(&part));
}

/* The first split of what is on several hosts gives the hosts; each gives less than there was. */
static void unguided(MPI_Comm comm, int with_info)
{
    MPI_Comm at, part;
    OK(MPI_Comm_dup(comm, &at));
    for (;;) {
        struct members before = of(at), here = near(&before, 1);
        MPI_Info info = MPI_INFO_NULL;
        char name[TYPE_ROOM] = "", first[TYPE_ROOM];
        int room = sizeof name, flag = 0;
        if (with_info) OK(MPI_Info_create(&info));
        OK(MPI_Comm_split_type(at, MPI_COMM_TYPE_HW_UNGUIDED, -rank, info, &part));
        if (with_info) OK(MPI_Info_free(&info));
        struct members got = of(part);
        OK(MPI_Comm_free(&at));
        if (here.n < before.n) same(&got, &here, "the first unguided split");
        if (part == MPI_COMM_NULL) {
            for (int i = 0; CPU_COUNT(&masks[rank]) == 1 && i < before.n; i++)
                CHECK(CPU_EQUAL(&masks[rank], &masks[before.ranks[i]]), "no split from rank %d", before.ranks[i]);
            return;
        }
        CHECK(got.n < before.n, "%d of %d", got.n, before.n);
        CHECK(has(&got, rank), "without this rank");
        for (int i = 0; i < before.n; i++) {
            int other = before.ranks[i], is_near = host(other) == host(rank);
            CHECK(!has(&got, other) || is_near, "with rank %d of another host", other);
            if (is_near && CPU_EQUAL(&masks[rank], &masks[other])) CHECK(has(&got, other), "without rank %d", other);
        }
        for (int i = 0; i < got.n; i++) CHECK(has(&before, got.ranks[i]), "with rank %d, which was not there", got.ranks[i]);
        OK(MPI_Comm_get_info(part, &info));
        OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &room, name, &flag));
        OK(MPI_Info_free(&info));
        CHECK(flag && restricted_to(name) == 1, "%s", name);
        EQUAL(!strcmp(name, "mpi_shared_memory"), here.n < before.n);
        memcpy(first, name, sizeof name);
        OK(MPI_Bcast(first, sizeof first, MPI_CHAR, 0, part));
        CHECK(!strcmp(first, name), "%s at the first rank, %s here", first, name);
        /* All are at one of it. */
        MPI_Comm again = by(part, MPI_COMM_TYPE_HW_GUIDED, -rank, name, NULL);
        struct members there = of(again);
        same(&there, &got, name);
        OK(MPI_Comm_free(&again));
        at = part;
    }
}

/* All kinds of splits of a communicator. */
static void splits(MPI_Comm comm)
{
    static const int types[2] = {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED};
    struct members all = of(comm), here, got;
    for (int t = 0; t < 2; t++) {
        for (int k = 0; k < NAMES; k++) guided(comm, types[t], names[k], (k + t) % 2);
        MPI_Comm part = by(comm, types[t], rank, "nobody knows this", NULL);
        CHECK(part == MPI_COMM_NULL, "of a kind that nobody knows");
        part = by(comm, types[t], rank, NULL, NULL);
        CHECK(part == MPI_COMM_NULL, "of no kind");
        part = by(comm, types[t], rank, "mpi_shared_memory", NULL);
        here = near(&all, 0), got = of(part);
        same(&got, &here, "mpi_shared_memory");
        OK(MPI_Comm_free(&part));
    }
    MPI_Comm part = by(comm, MPI_COMM_TYPE_SHARED, -rank, NULL, NULL);
    here = near(&all, 1), got = of(part);
    same(&got, &here, "MPI_COMM_TYPE_SHARED");
    OK(MPI_Comm_free(&part));
    unguided(comm, 0);
    unguided(comm, 1);
    /* What a process set is has nothing to do with hosts. */
    part = by(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, NULL, "mpi://WORLD"), got = of(part);
    same(&got, &all, "mpi://WORLD");
    OK(MPI_Comm_free(&part));
    part = by(comm, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, NULL, "mpi://SELF"), got = of(part);
    same(&got, &(struct members){1, {rank}}, "mpi://SELF");
    OK(MPI_Comm_free(&part));
}

/* A kind of hardware and a process set at once. Where the split is by hardware alone, the other key says nothing; where it may be by
 * either, two keys are erroneous: either everybody hears so, or one of the keys counts, at all ranks the same. */
static void two_keys(void)
{
    struct members all = of(W), here = near(&all, 0);
    MPI_Comm part = by(W, MPI_COMM_TYPE_HW_GUIDED, 0, "mpi_shared_memory", "mpi://WORLD");
    struct members got = of(part);
    same(&got, &here, "by hardware, with a process set");
    OK(MPI_Comm_free(&part));
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_pset_name", "mpi://WORLD"));
    OK(MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory"));
    int refused = MPI_Comm_split_type(W, MPI_COMM_TYPE_RESOURCE_GUIDED, 0, info, &part) != MPI_SUCCESS;
    OK(MPI_Info_free(&info));
    got = of(part);
    EQUAL(got.n == 0, refused);
    if (!refused && got.n < size) same(&got, &here, "by hardware or a process set");
    int first = got.n == size ? 2 : refused, own = first;
    OK(MPI_Bcast(&first, 1, MPI_INT, 0, W));
    EQUAL(own, first);
    if (!refused) OK(MPI_Comm_free(&part));
}

/* Of two groups only those of one host come together, and only where both have some there. */
static void between(void)
{
    MPI_Comm half, inter, part;
    int is_low = rank < size / 2;
    OK(MPI_Comm_split(W, is_low, rank, &half));
    OK(MPI_Intercomm_create(half, 0, W, is_low ? size / 2 : 0, 1, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    struct members ours = of(inter), theirs = beyond(inter), here = near(&ours, 0), there = near(&theirs, 0);
    struct members none = {0};
    int both = here.n && there.n;
    for (int way = 0; way < 4; way++) {
        if (way == 0) part = by(inter, MPI_COMM_TYPE_SHARED, rank, NULL, NULL);
        if (way == 1) part = by(inter, MPI_COMM_TYPE_HW_GUIDED, rank, "mpi_shared_memory", NULL);
        if (way == 2) part = by(inter, MPI_COMM_TYPE_RESOURCE_GUIDED, rank, "mpi_shared_memory", NULL);
        if (way == 3) part = by(inter, MPI_COMM_TYPE_HW_UNGUIDED, rank, NULL, NULL);
        struct members found = of(part), far = beyond(part);
        same(&found, both ? &here : &none, "of the own group");
        same(&far, both ? &there : &none, "of the other group");
        if (part != MPI_COMM_NULL) OK(MPI_Comm_free(&part));
    }
    for (int k = 1; k < NAMES; k++) {
        part = by(inter, MPI_COMM_TYPE_HW_GUIDED, rank, names[k], NULL);
        struct members found = of(part), far = beyond(part);
        for (int i = 0; i < found.n; i++) EQUAL(host(found.ranks[i]), host(rank));
        for (int i = 0; i < far.n; i++) EQUAL(host(far.ranks[i]), host(rank));
        if (part != MPI_COMM_NULL) OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    cpu_set_t started, all;
    check_start(&argc, &argv);
    CHECK(size <= MOST, "%d ranks", size);
    EQUAL(sched_getaffinity(0, sizeof started, &started), 0);
    memset(&all, 0xff, sizeof all);
    EQUAL(sched_setaffinity(0, sizeof all, &all), 0);
    EQUAL(sched_getaffinity(0, sizeof usable, &usable), 0);
    EQUAL(sched_setaffinity(0, sizeof started, &started), 0);
    for (int pattern = 0; pattern < PATTERNS; pattern++) {
        confine(pattern);
        known();
        splits(W);
        /* All in the other order; those of a host; the first ones of each host and the others. */
        for (int way = 0; way < 3; way++) {
            OK(MPI_Comm_split(W, way == 0 ? 0 : way == 1 ? host(rank) : rank < HOSTS, -rank, &comm));
            splits(comm);
            OK(MPI_Comm_free(&comm));
        }
        two_keys();
        between();
    }
    return check_end();
}
