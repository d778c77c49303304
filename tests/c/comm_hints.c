// ranks: 1 2 4
/* Hints that promise receives without wildcards: what is in use is told, a duplicate has what it was given, a wildcard is
 * refused while the promise holds, and messages find their receives before, meanwhile and afterwards. MPI-5.0 sections 7.4.2
 * and 7.4.4. */
#include "check.h"

enum { MANY = 12 };

static int next, before;

static void tells(MPI_Comm comm, const char *key, const char *wanted)
{
    char value[20] = "";
    int length = sizeof value, flag = 0;
    MPI_Info used;
    OK(MPI_Comm_get_info(comm, &used));
    OK(MPI_Info_get_string(used, key, &length, value, &flag));
    OK(MPI_Info_free(&used));
    CHECK(flag && strcmp(value, wanted) == 0, "%s is \"%s\"", key, value);
}

static void set(MPI_Comm comm, const char *key, const char *value, int class)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    if (class == MPI_SUCCESS) OK(MPI_Comm_set_info(comm, info));
    else REFUSED(MPI_Comm_set_info(comm, info), class);
    OK(MPI_Info_free(&info));
}

/* More messages than are looked through one by one, all there before any is received. */
static void send_many(MPI_Comm comm, int first)
{
    int there = 0;
    for (int i = 0; i < MANY; i++) {
        int data = first + i;
        OK(MPI_Send(&data, 1, MPI_INT, next, i, comm));
    }
    while (!there) OK(MPI_Iprobe(before, MANY - 1, comm, &there, MPI_STATUS_IGNORE));
}

static void receive(MPI_Comm comm, int source, int tag, int wanted)
{
    int data = -1;
    OK(MPI_Recv(&data, 1, MPI_INT, source, tag, comm, MPI_STATUS_IGNORE));
    EQUAL(data, wanted);
}

static void wildcards_are_refused(MPI_Comm comm)
{
    int flag, data;
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    REFUSED(MPI_Recv(&data, 1, MPI_INT, before, MPI_ANY_TAG, comm, &status), MPI_ERR_TAG);
    REFUSED(MPI_Irecv(&data, 1, MPI_INT, before, MPI_ANY_TAG, comm, &request), MPI_ERR_TAG);
    REFUSED(MPI_Recv_init(&data, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &request), MPI_ERR_RANK);
    REFUSED(MPI_Iprobe(MPI_ANY_SOURCE, 1, comm, &flag, &status), MPI_ERR_RANK);
    REFUSED(MPI_Improbe(before, MPI_ANY_TAG, comm, &flag, &message, &status), MPI_ERR_TAG);
}

int main(int argc, char **argv)
{
    static const char *const keys[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
                                       "mpi_assert_allow_overtaking"};
    MPI_Info info;
    MPI_Comm plain, strict, copy;
    MPI_Request request;
    int data = -1;
    check_start(&argc, &argv);
    next = (rank + 1) % size, before = (rank + size - 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &plain));
    for (int i = 0; i < 4; i++) tells(plain, keys[i], "false");
    OK(MPI_Info_create(&info));
    for (int i = 0; i < 4; i++) OK(MPI_Info_set(info, keys[i], "true"));
    OK(MPI_Comm_dup_with_info(plain, info, &strict));
    OK(MPI_Info_free(&info));
    /* What is in use; nothing makes use of the other two. */
    for (int i = 0; i < 4; i++) tells(strict, keys[i], i < 2 ? "true" : "false");
    wildcards_are_refused(strict);
    OK(MPI_Comm_dup(strict, &copy));
    for (int i = 0; i < 4; i++) tells(copy, keys[i], "false");
    OK(MPI_Comm_free(&copy));

    /* Beside a communicator on which wildcards are used, so that messages are looked for in every way. */
    OK(MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, plain, &request));
    send_many(strict, 100);
    for (int i = MANY - 1; i > MANY / 2; i--) receive(strict, before, i, 100 + i);
    wildcards_are_refused(strict);
    /* The promise ends: messages that came meanwhile are found by wildcards, in their order. */
    set(strict, keys[0], "false", MPI_SUCCESS);
    tells(strict, keys[0], "false");
    tells(strict, keys[1], "true");
    receive(strict, before, MPI_ANY_TAG, 100);
    set(strict, keys[1], "false", MPI_SUCCESS);
    for (int i = 1; i <= MANY / 2; i++) receive(strict, i % 2 ? MPI_ANY_SOURCE : before, i % 3 ? MPI_ANY_TAG : i, 100 + i);
    OK(MPI_Send(&rank, 1, MPI_INT, next, 5, plain));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(data, before);

    /* A receive that is posted already would break it. */
    OK(MPI_Irecv(&data, 1, MPI_INT, before, MPI_ANY_TAG, strict, &request));
    set(strict, keys[0], "true", MPI_ERR_INFO_VALUE);
    tells(strict, keys[0], "false");
    set(strict, keys[1], "true", MPI_SUCCESS);
    set(strict, keys[0], "perhaps", MPI_SUCCESS);
    tells(strict, keys[0], "false");
    OK(MPI_Barrier(plain)); /* it was posted everywhere */
    OK(MPI_Send(&rank, 1, MPI_INT, next, 6, strict));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(data, before);

    /* Promised with messages waiting. */
    send_many(strict, 200);
    set(strict, keys[0], "true", MPI_SUCCESS);
    for (int i = 0; i < MANY; i++) receive(strict, before, i, 200 + i);
    OK(MPI_Barrier(strict));
    OK(MPI_Comm_free(&strict));
    OK(MPI_Comm_free(&plain));
    return check_end();
}
