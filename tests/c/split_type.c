// ranks: 1 2 4 5
// only: posthaste
// of memory
/* Splits by what ranks share: memory, hardware of a kind, the widest hardware that divides them, a process set. Each rank confines
 * itself to one CPU of two, so that it is known who shares one. MPI-5.0 sections 7.4.2 and 9.1.2. */
#define _GNU_SOURCE
#include "check.h"
#include <sched.h>

#define W MPI_COMM_WORLD
static int cpus; /* over which ranks are spread */

static void confine(void)
{
    cpu_set_t all, one;
    int wanted, cpu = 0;
    memset(&all, 0xff, sizeof all);
    EQUAL(sched_setaffinity(0, sizeof all, &all), 0);
    EQUAL(sched_getaffinity(0, sizeof all, &all), 0);
    cpus = CPU_COUNT(&all) < 2 ? 1 : 2;
    wanted = rank % cpus;
    while (!CPU_ISSET(cpu, &all) || wanted-- > 0) cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    EQUAL(sched_setaffinity(0, sizeof one, &one), 0);
}

/* A communicator of the ranks of one CPU, or of all, or none; then it is freed. */
static void has(MPI_Comm comm, int wanted)
{
    int n = 0;
    if (comm != MPI_COMM_NULL) {
        OK(MPI_Comm_size(comm, &n));
        OK(MPI_Comm_free(&comm));
    }
    EQUAL(n, wanted);
}

/* How many ranks are on the CPU of this one. */
static int together(void)
{
    return (size - rank % cpus + cpus - 1) / cpus;
}

static MPI_Comm by(int type, const char *key, const char *value)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Comm comm = W;
    if (key) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, key, value));
    }
    OK(MPI_Comm_split_type(W, type, rank, info, &comm));
    if (key) OK(MPI_Info_free(&info));
    return comm;
}

static int restricted_to(const char *name)
{
    MPI_Info info;
    char value[8] = "";
    int room = sizeof value, flag = 0;
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_string(info, name, &room, value, &flag));
    OK(MPI_Info_free(&info));
    return flag && !strcmp(value, "true");
}

static void guided(void)
{
    static const int types[2] = {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED};
    char name[MPI_MAX_INFO_KEY + 1];
    MPI_Info info;
    int n = 0;
    CHECK(restricted_to("hwloc://PU"), "a rank on one CPU");
    for (int t = 0; t < 2; t++) {
        has(by(types[t], NULL, NULL), 0);
        has(by(types[t], "mpi_hw_resource_type", "nobody knows this"), 0);
        has(by(types[t], "mpi_hw_resource_type", "mpi_shared_memory"), size);
        has(by(types[t], "mpi_hw_resource_type", "hwloc://PU"), together());
        /* On one CPU a rank is restricted to one of every kind that there is. */
        OK(MPI_Get_hw_resource_info(&info));
        OK(MPI_Info_get_nkeys(info, &n));
        CHECK(n >= 2, "%d", n);
        for (int i = 0; i < n; i++) {
            OK(MPI_Info_get_nthkey(info, i, name));
            CHECK(restricted_to(name), "%s", name);
            MPI_Comm comm = by(types[t], "mpi_hw_resource_type", name);
            CHECK(comm != MPI_COMM_NULL, "%s", name);
            OK(MPI_Comm_free(&comm));
        }
        OK(MPI_Info_free(&info));
    }
    has(by(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"), size);
    has(by(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF"), 1);
    has(by(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "nobody knows this"), 0);
    has(by(MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD"), 0);
    has(by(MPI_COMM_TYPE_SHARED, NULL, NULL), size);
    has(by(MPI_UNDEFINED, NULL, NULL), 0);
}

/* Down to where nothing divides the ranks any more: those of one CPU. */
static void unguided(void)
{
    MPI_Comm comm, part;
    int before = size, after, rounds = 0;
    OK(MPI_Comm_dup(W, &comm));
    for (;; rounds++) {
        char name[64] = "";
        int room = sizeof name, flag = 0;
        MPI_Info info;
        OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part));
        if (part == MPI_COMM_NULL) break;
        OK(MPI_Comm_size(part, &after));
        CHECK(after < before, "%d of %d", after, before);
        before = after;
        OK(MPI_Comm_get_info(part, &info));
        OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &room, name, &flag));
        CHECK(flag && restricted_to(name), "%s", name);
        OK(MPI_Info_free(&info));
        OK(MPI_Comm_free(&comm));
        comm = part;
    }
    EQUAL(rounds > 0, size > 1 && cpus > 1);
    has(comm, together());
    /* Who asks for nothing is not counted. */
    OK(MPI_Comm_split_type(W, rank % cpus ? MPI_UNDEFINED : MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part));
    EQUAL(part == MPI_COMM_NULL, 1);
}

int main(int argc, char **argv)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    check_start(&argc, &argv);
    confine();
    guided();
    unguided();
    if (size > 1) {
        int type = rank ? MPI_COMM_TYPE_SHARED : MPI_COMM_TYPE_HW_UNGUIDED;
        REFUSED(MPI_Comm_split_type(W, type, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
        EQUAL(comm == MPI_COMM_NULL, 1);
    }
    return check_end();
}
