/* ready_check.h: ready sends that break their promise, in every way of receiving them, and ready sends that keep it. */
#include "check.h"

enum { LONG = 50000 };

static int out[LONG], in[LONG], peer;
static MPI_Comm row;

static void start(int *argc, char ***argv)
{
    char name[20];
    check_start(argc, argv);
    peer = rank ^ 1;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row));
    snprintf(name, sizeof name, "row %d", rank / 2);
    OK(MPI_Comm_set_name(row, name));
    OK(MPI_Comm_set_errhandler(row, MPI_ERRORS_RETURN));
}

static void arrived(int n, int seed)
{
    for (int i = 0; i < n; i++) EQUAL(in[i], i + seed);
}

static void fill(int seed)
{
    for (int i = 0; i < LONG; i++) out[i] = i + seed, in[i] = -1;
}

/* The receive says what the setting makes of it, and names sender, receiver, tag and communicator. */
static void answer(int code, int wanted, const char *says)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    EQUAL(class, wanted);
    CHECK(code == MPI_SUCCESS || strstr(check_text(code), says), "%s", check_text(code));
}

/* The receiver learns that the message has been sent, in one way or another, and then receives it. */
static void early(int wanted)
{
    for (int form = 0; form < 4; form++) {
        int flag = 0;
        MPI_Request r;
        MPI_Status st;
        fill(form);
        if (rank % 2 == 0) {
            if (form % 2) OK(MPI_Rsend(out, 1, MPI_INT, peer, 1, MPI_COMM_WORLD));
            else OK(MPI_Irsend(out, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &r));
            if (form % 2 == 0) OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
            OK(MPI_Barrier(MPI_COMM_WORLD));
            OK(MPI_Irsend(out, LONG, MPI_INT, peer, 2, MPI_COMM_WORLD, &r));
            OK(MPI_Barrier(MPI_COMM_WORLD));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Barrier(MPI_COMM_WORLD));
            switch (form) {
            case 0: answer(MPI_Recv(in, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &st), wanted, rank == 1 ? "with tag 1 to rank 1 of MPI_COMM_WORLD" : "with tag 1 to rank 3 of"); break;
            case 1: OK(MPI_Irecv(in, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &r)); answer(MPI_Wait(&r, &st), wanted, "tag 1"); break;
            default:
                while (!flag) OK(MPI_Iprobe(peer, 1, MPI_COMM_WORLD, &flag, &st));
                answer(MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &st), wanted, "tag 1");
                break;
            }
            CHECK(st.MPI_SOURCE == peer && st.MPI_TAG == 1);
            arrived(1, form);
            fill(form);
            OK(MPI_Barrier(MPI_COMM_WORLD));
            if (form % 2) {
                OK(MPI_Irecv(in, LONG, MPI_INT, peer, 2, MPI_COMM_WORLD, &r));
                answer(MPI_Wait(&r, &st), wanted, "200000 bytes with tag 2");
            } else {
                answer(MPI_Recv(in, LONG, MPI_INT, peer, 2, MPI_COMM_WORLD, &st), wanted, "200000 bytes with tag 2");
            }
            arrived(LONG, form);
        }
    }
    /* Another communicator; without any help from the receiver: the message lies there when it is asked for. */
    if (rank % 2 == 0) {
        OK(MPI_Rsend(out, 2, MPI_INT, peer % 2, 3, row));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    } else {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        answer(MPI_Recv(in, 2, MPI_INT, 0, 3, row, MPI_STATUS_IGNORE), wanted, rank == 1 ? "of row 0" : "of row 1");
    }
}

/* A promise that is kept: in any form and length, nothing is said. Tag 9 is in no warning. */
static void in_time(void)
{
    for (int n = 1; n <= LONG; n *= n < LONG ? LONG : 2) {
        for (int form = 0; form < 3; form++) {
            MPI_Request r, s;
            fill(form);
            OK(MPI_Irecv(in, n, MPI_INT, peer, 9, MPI_COMM_WORLD, &r));
            OK(MPI_Barrier(MPI_COMM_WORLD));
            if (form == 0) OK(MPI_Rsend(out, n, MPI_INT, peer, 9, MPI_COMM_WORLD));
            if (form == 1) OK(MPI_Irsend(out, n, MPI_INT, peer, 9, MPI_COMM_WORLD, &s));
            if (form == 2) OK(MPI_Rsend_init(out, n, MPI_INT, peer, 9, MPI_COMM_WORLD, &s));
            if (form == 2) OK(MPI_Start(&s));
            if (form >= 1) OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
            if (form == 2) OK(MPI_Request_free(&s));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
            arrived(n, form);
        }
    }
}

static int finish(void)
{
    OK(MPI_Comm_free(&row));
    return check_end();
}
