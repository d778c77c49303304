/* modes.c: two ranks: one-way time of 8 bytes in every mode of sending and receiving, and bandwidth between buffers
 * from MPI_Alloc_mem. Plain MPI. Usage: modes
 * Output: lines "result NAME VALUE UNIT" from rank 0, several of each name. Called by `cargo xtask bench`. */
#include "measure.h"

static int rank, peer;
static char out[8], in[8];
static MPI_Request to_peer, from_peer;

#define WORLD MPI_COMM_WORLD
#define HERE MPI_STATUS_IGNORE

/* Every mode: how rank 0 sends and receives; rank 1 receives first. */
static void send_standard(void) { MPI_Send(out, 8, MPI_BYTE, peer, 1, WORLD); }
static void recv_exact(void) { MPI_Recv(in, 8, MPI_BYTE, peer, 1, WORLD, HERE); }
static void send_synchronous(void) { MPI_Ssend(out, 8, MPI_BYTE, peer, 1, WORLD); }
static void send_buffered(void) { MPI_Bsend(out, 8, MPI_BYTE, peer, 1, WORLD); }
static void recv_any_source(void) { MPI_Recv(in, 8, MPI_BYTE, MPI_ANY_SOURCE, 1, WORLD, HERE); }
static void recv_any_tag(void) { MPI_Recv(in, 8, MPI_BYTE, peer, MPI_ANY_TAG, WORLD, HERE); }

static void send_nonblocking(void)
{
    MPI_Request request;
    MPI_Isend(out, 8, MPI_BYTE, peer, 1, WORLD, &request);
    MPI_Wait(&request, HERE);
}

static void recv_nonblocking(void)
{
    MPI_Request request;
    MPI_Irecv(in, 8, MPI_BYTE, peer, 1, WORLD, &request);
    MPI_Wait(&request, HERE);
}

static void send_persistent(void)
{
    MPI_Start(&to_peer);
    MPI_Wait(&to_peer, HERE);
}

static void recv_persistent(void)
{
    MPI_Start(&from_peer);
    MPI_Wait(&from_peer, HERE);
}

static void recv_probed(void)
{
    MPI_Status status;
    int bytes;
    MPI_Probe(peer, 1, WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Recv(in, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, WORLD, HERE);
}

static void recv_probed_any(void)
{
    MPI_Status status;
    int bytes;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    MPI_Recv(in, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, WORLD, HERE);
}

static void recv_polled(void)
{
    MPI_Status status;
    int there = 0;
    while (!there) MPI_Iprobe(peer, 1, WORLD, &there, &status);
    MPI_Recv(in, 8, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, WORLD, HERE);
}

static void recv_matched(void)
{
    MPI_Message message;
    MPI_Mprobe(peer, 1, WORLD, &message, HERE);
    MPI_Mrecv(in, 8, MPI_BYTE, &message, HERE);
}

struct mode {
    const char *name;
    void (*send)(void), (*recv)(void);
};

static const struct mode modes[] = {
    {"mode_send", send_standard, recv_exact},
    {"mode_ssend", send_synchronous, recv_exact},
    {"mode_bsend", send_buffered, recv_exact},
    {"mode_nonblocking", send_nonblocking, recv_nonblocking},
    {"mode_persistent", send_persistent, recv_persistent},
    {"mode_any_source", send_standard, recv_any_source},
    {"mode_any_tag", send_standard, recv_any_tag},
    {"mode_probe", send_standard, recv_probed},
    {"mode_probe_any", send_standard, recv_probed_any},
    {"mode_iprobe", send_standard, recv_polled},
    {"mode_mprobe", send_standard, recv_matched},
};

static void ping_pong(void *what)
{
    const struct mode *mode = what;
    if (rank == 0) mode->send();
    mode->recv();
    if (rank == 1) mode->send();
}

/* Both ranks at once: one step is one way. */
static void exchange(void *what)
{
    (void)what;
    MPI_Sendrecv(out, 8, MPI_BYTE, peer, 1, in, 8, MPI_BYTE, peer, 1, WORLD, HERE);
}

static void check(const struct mode *mode)
{
    for (int i = 0; i < 3; i++) {
        memset(in, 0, sizeof in);
        memset(out, 17 * i + 1 + rank, sizeof out);
        ping_pong((void *)mode);
        if (in[0] != 17 * i + 1 + peer || in[7] != in[0]) measure_fail(mode->name);
    }
}

enum { BULK = 4 << 20 };
static char *bulk_out, *bulk_in;
static int bulk_size;

static void bulk(void *what)
{
    (void)what;
    if (rank == 0) MPI_Send(bulk_out, bulk_size, MPI_BYTE, peer, 2, WORLD);
    MPI_Recv(bulk_in, bulk_size, MPI_BYTE, peer, 2, WORLD, HERE);
    if (rank == 1) MPI_Send(bulk_out, bulk_size, MPI_BYTE, peer, 2, WORLD);
}

int main(int argc, char **argv)
{
    enum { PASSES = 4, MODES = sizeof modes / sizeof *modes };
    static char attached[1 << 16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    peer = 1 - rank;
    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Send_init(out, 8, MPI_BYTE, peer, 1, WORLD, &to_peer);
    MPI_Recv_init(in, 8, MPI_BYTE, peer, 1, WORLD, &from_peer);
    MPI_Alloc_mem(BULK, MPI_INFO_NULL, &bulk_out);
    MPI_Alloc_mem(BULK, MPI_INFO_NULL, &bulk_in);
    memset(bulk_out, 1, BULK);
    memset(bulk_in, 2, BULK);
    for (int i = 0; i < MODES; i++) check(&modes[i]);
    for (int pass = 0; pass < PASSES; pass++) {
        for (int i = 0; i < MODES; i++) {
            double one_way = measure(ping_pong, (void *)&modes[i], 0.002, 0) / 2;
            if (rank == 0) measure_report(modes[i].name, one_way * 1e6, "us");
        }
        double one_way = measure(exchange, NULL, 0.002, 0);
        if (rank == 0) measure_report("mode_sendrecv", one_way * 1e6, "us");
        for (int i = 0; i < 3; i++) {
            static const int sizes[] = {1 << 16, 1 << 20, BULK};
            char name[40];
            bulk_size = sizes[i];
            snprintf(name, sizeof name, "alloc_mem_%d", bulk_size);
            one_way = measure(bulk, NULL, 0.004, 0) / 2;
            if (rank == 0) measure_report(name, bulk_size / one_way * 1e-9, "GB/s");
        }
    }
    MPI_Request_free(&to_peer);
    MPI_Request_free(&from_peer);
    void *back;
    int size;
    MPI_Buffer_detach(&back, &size);
    MPI_Free_mem(bulk_out);
    MPI_Free_mem(bulk_in);
    MPI_Finalize();
    return 0;
}
