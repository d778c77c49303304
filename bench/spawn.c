/* spawn.c: processes that come and go. With one rank, what a spawn of 2, 16 and 64 ranks takes until they can be talked to, and messages
 * to a rank that was spawned. With two ranks, the same messages between them, and a connect-accept-disconnect. */
#include "measure.h"

enum { ROUNDS = 5, MEETINGS = 40 };

static MPI_Comm with;
static int peer, goes_first;

enum { LENGTHS = 3 };
static const int lengths[LENGTHS] = {8, 64 << 10, 1 << 20};
static char data[1 << 20];

static void ping_pong(int bytes)
{
    if (goes_first) {
        MPI_Send(data, bytes, MPI_BYTE, peer, 1, with);
        MPI_Recv(data, bytes, MPI_BYTE, peer, 1, with, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(data, bytes, MPI_BYTE, peer, 1, with, MPI_STATUS_IGNORE);
        MPI_Send(data, bytes, MPI_BYTE, peer, 1, with);
    }
}

/* Microseconds one way, the best of some batches, of each length. */
static void latencies(const char *name)
{
    for (int length = 0; length < LENGTHS; length++) {
        char label[40];
        double best = 0;
        int turns = lengths[length] > 8 ? 100 : 1000;
        for (int batch = 0; batch < MEASURE_BATCHES; batch++) {
            double start = MPI_Wtime();
            for (int i = 0; i < turns; i++) ping_pong(lengths[length]);
            double took = (MPI_Wtime() - start) / turns / 2 * 1e6;
            if (batch == 0 || took < best) best = took;
        }
        snprintf(label, sizeof label, "%s_%d", name, lengths[length]);
        if (goes_first) measure_report(label, best, "us");
    }
}

/* Milliseconds until `n` ranks run and have met us. */
static double spawn(char *own, int n, int talks)
{
    double start = MPI_Wtime();
    char *words[] = {talks ? "talk" : "go", NULL};
    int flags = 0, sum = 0;
    MPI_Comm inter;
    MPI_Comm_spawn(own, words, n, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
    MPI_Allreduce(&flags, &sum, 1, MPI_INT, MPI_SUM, inter);
    double took = (MPI_Wtime() - start) * 1e3;
    if (sum != n) measure_fail("so many ranks were not spawned");
    if (talks) {
        with = inter;
        goes_first = 1;
        latencies("spawned_latency");
    }
    MPI_Comm_disconnect(&inter);
    return took;
}

static void child(MPI_Comm parent, int talks)
{
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, parent);
    if (talks) {
        with = parent;
        latencies("");
    }
    MPI_Comm_disconnect(&parent);
}

static void meet(int rank)
{
    char port[MPI_MAX_PORT_NAME] = "";
    if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    double best = 0;
    for (int round = 0; round < MEETINGS; round++) {
        MPI_Comm inter;
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (rank == 0)
            MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        else
            MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        MPI_Comm_disconnect(&inter);
        double took = (MPI_Wtime() - start) * 1e6;
        if (round == 0 || took < best) best = took;
    }
    if (rank == 0) {
        MPI_Close_port(port);
        measure_report("meeting", best, "us");
    }
}

int main(int argc, char **argv)
{
    static const int sizes[] = {2, 16, 64};
    MPI_Comm parent;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, argc > 1 && !strcmp(argv[1], "talk"));
    } else if (size == 2) {
        with = MPI_COMM_WORLD;
        goes_first = rank == 0;
        peer = 1 - rank;
        latencies("first_latency");
        meet(rank);
    } else {
        for (int i = 0; i < 3; i++) {
            char name[32];
            double best = 0;
            for (int round = 0; round < ROUNDS; round++) {
                double took = spawn(argv[0], sizes[i], 0);
                if (round == 0 || took < best) best = took;
            }
            snprintf(name, sizeof name, "spawn_%d", sizes[i]);
            measure_report(name, best, "ms");
        }
        spawn(argv[0], 1, 1);
    }
    MPI_Finalize();
    return 0;
}
