// ranks: 2
// timeout: 90
/* A message longer than the receive buffer: MPI_ERR_TRUNCATE, guard bytes intact, the rest of the message is
 * drained, and both sides go on as if nothing had happened. MPI-5.0 section 3.2.4. */
#include "check.h"

static const int lengths[] = {2, 9, 41, 100, 1000, 4097, 8193, 20000, 65537, 300000, 1 << 20, 5 << 20};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* One message that fits must still come through. */
static void still_works(int i)
{
    unsigned char *buffer = check_guarded((size_t)lengths[i]);
    if (rank == 0) {
        check_fill(buffer, (size_t)lengths[i], 99);
        OK(MPI_Send(buffer, lengths[i], MPI_BYTE, 1, 2, MPI_COMM_WORLD));
        OK(MPI_Recv(buffer, lengths[i], MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Recv(buffer, lengths[i], MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(buffer, lengths[i], MPI_BYTE, 0, 2, MPI_COMM_WORLD));
    }
    check_filled(buffer, (size_t)lengths[i], 99);
    check_free_guarded(buffer, (size_t)lengths[i]);
}

/* form 0: blocking receive, unexpected; 1: posted first; 2: in a list of three, the others must be fine */
static void too_short(int i, int room, int form)
{
    unsigned char *buffer = check_guarded((size_t)(rank == 0 ? lengths[i] : room));
    int small[2] = {0, 0};
    MPI_Request requests[3];
    MPI_Status statuses[3];
    if (rank == 0) {
        check_fill(buffer, (size_t)lengths[i], 1);
        if (form > 0) OK(MPI_Recv(NULL, 0, MPI_INT, 1, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        small[0] = 11;
        if (form == 2) OK(MPI_Send(&small[0], 1, MPI_INT, 1, 8, MPI_COMM_WORLD));
        OK(MPI_Send(buffer, lengths[i], MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        if (form == 2) OK(MPI_Send(&small[0], 1, MPI_INT, 1, 9, MPI_COMM_WORLD));
        check_free_guarded(buffer, (size_t)lengths[i]);
        return;
    }
    if (form == 0) {
        REFUSED(MPI_Recv(buffer, room, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &statuses[0]), MPI_ERR_TRUNCATE);
    } else if (form == 1) {
        OK(MPI_Irecv(buffer, room, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Send(NULL, 0, MPI_INT, 0, 50, MPI_COMM_WORLD));
        REFUSED(MPI_Wait(&requests[0], &statuses[0]), MPI_ERR_TRUNCATE);
    } else {
        int class = 0;
        OK(MPI_Irecv(&small[0], 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Irecv(buffer, room, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Irecv(&small[1], 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &requests[2]));
        OK(MPI_Send(NULL, 0, MPI_INT, 0, 50, MPI_COMM_WORLD));
        int code = MPI_Waitall(3, requests, statuses);
        EQUAL(code, MPI_ERR_IN_STATUS);
        OK(MPI_Error_class(statuses[1].MPI_ERROR, &class));
        EQUAL(class, MPI_ERR_TRUNCATE);
        /* What had not completed yet is pending and can be waited for. */
        for (int k = 0; k < 3; k += 2) {
            if (statuses[k].MPI_ERROR == MPI_ERR_PENDING) OK(MPI_Wait(&requests[k], &statuses[k]));
            else EQUAL(statuses[k].MPI_ERROR, MPI_SUCCESS);
            CHECK(requests[k] == MPI_REQUEST_NULL);
        }
        EQUAL(small[0], 11);
        EQUAL(small[1], 11);
    }
    check_free_guarded(buffer, (size_t)room);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int i = 0; i < LENGTHS; i++) {
        for (int form = 0; form < 3; form++) {
            int rooms[] = {0, 1, lengths[i] / 2, lengths[i] - 1};
            for (int k = 0; k < 4; k++) {
                too_short(i, rooms[k], form);
                still_works(i);
            }
        }
    }
    return check_end();
}
