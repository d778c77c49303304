// ranks: 1
// timeout: 60
/* Children send what they have and finalise at once. Their parent receives it later, in another order. */
#include "check.h"

#include <unistd.h>

enum { CHILDREN = 3, KINDS = 5, LONGEST = 30000 };

static const int lengths[KINDS] = {0, 100, 5000, 16000, LONGEST};
static unsigned char data[LONGEST];

int main(int argc, char **argv)
{
    static char own[4096];
    MPI_Comm inter;
    int rank;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&inter));
    if (inter != MPI_COMM_NULL) {
        OK(MPI_Comm_rank(inter, &rank));
        for (int kind = 0; kind < KINDS; kind++) {
            memset(data, 10 * rank + kind + 1, sizeof data);
            OK(MPI_Send(data, lengths[kind], MPI_BYTE, 0, kind, inter));
        }
        return check_end();
    }
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
    OK(MPI_Comm_spawn(own, MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    /* Everything comes meanwhile, and so do the ends of the children. */
    for (double start = MPI_Wtime(); MPI_Wtime() < start + 0.3;) {
        int flag;
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    }
    for (int from = CHILDREN - 1; from >= 0; from--)
        for (int kind = KINDS - 1; kind >= 0; kind--) {
            MPI_Request request;
            MPI_Status status;
            memset(data, 0, sizeof data);
            if (kind % 2)
                OK(MPI_Recv(data, LONGEST, MPI_BYTE, from, kind, inter, &status));
            else {
                OK(MPI_Irecv(data, LONGEST, MPI_BYTE, from, kind, inter, &request));
                OK(MPI_Wait(&request, &status));
            }
            int count;
            OK(MPI_Get_count(&status, MPI_BYTE, &count));
            CHECK(count == lengths[kind], "%d bytes of message %d", count, kind);
            for (int i = 0; i < count; i++) CHECK(data[i] == 10 * from + kind + 1, "byte %d of message %d is %d", i, kind, data[i]);
        }
    return check_end();
}
