// ranks: 1 3
// only: posthaste
/* Two jobs of different launchers meet: by a port, in both directions, twice at the same time and again after they have
 * parted; by a name; over a socket. */
#include "meeting_check.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

static char port[MPI_MAX_PORT_NAME];

/* A connection of the two ranks 0; the number of the port goes over `inter`. */
static int connection(MPI_Comm inter, int listens)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int number, fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(fd >= 0, "no socket");
    if (!listens) {
        OK(MPI_Recv(&number, 1, MPI_INT, 0, 9, inter, MPI_STATUS_IGNORE));
        at.sin_port = (in_port_t)number;
        CHECK(connect(fd, (struct sockaddr *)&at, sizeof at) == 0, "no connection");
        return fd;
    }
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 1) == 0, "nothing to listen at");
    CHECK(getsockname(fd, (struct sockaddr *)&at, &length) == 0, "no name");
    number = at.sin_port;
    OK(MPI_Send(&number, 1, MPI_INT, 0, 9, inter));
    int accepted = accept(fd, NULL, NULL);
    CHECK(accepted >= 0, "nobody comes");
    close(fd);
    return accepted;
}

static void over_socket(MPI_Comm inter, int high)
{
    MPI_Comm joined;
    char letter = 0;
    int fd = connection(inter, !high), mine;
    OK(MPI_Comm_join(fd, &joined));
    CHECK(joined != MPI_COMM_NULL, "they do not meet");
    OK(MPI_Comm_rank(joined, &mine));
    EQUAL(mine, 0);
    int word = high, theirs = -1;
    OK(MPI_Sendrecv(&word, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, joined, MPI_STATUS_IGNORE));
    EQUAL(theirs, !high);
    /* The socket is the program's again, as it was. */
    CHECK(write(fd, "x", 1) == 1 && read(fd, &letter, 1) == 1 && letter == 'x', "the socket has %d", letter);
    OK(MPI_Comm_disconnect(&joined));
    close(fd);
}

/* Both jobs do the same, on opposite sides. */
static void meet(int high)
{
    MPI_Comm first, second, third;
    char name[MPI_MAX_PORT_NAME] = "";
    /* The one that was started connects, then the other one does. */
    if (high)
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &first));
    else
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &first));
    use(first, high);
    if (high && rank == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, name));
        OK(MPI_Send(name, sizeof name, MPI_CHAR, 0, 3, first));
    } else if (rank == 0) {
        OK(MPI_Recv(name, sizeof name, MPI_CHAR, 0, 3, first, MPI_STATUS_IGNORE));
    }
    if (high)
        OK(MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second));
    else
        OK(MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second));
    use(second, !high);
    /* They are connected as long as one communicator is left. */
    OK(MPI_Comm_disconnect(&first));
    use(second, high);
    if (rank == 0) over_socket(second, high);
    OK(MPI_Comm_disconnect(&second));
    /* They meet anew. */
    if (high)
        OK(MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &third));
    else
        OK(MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &third));
    use(third, high);
    OK(MPI_Comm_disconnect(&third));
    if (high && rank == 0) OK(MPI_Close_port(name));
}

int main(int argc, char **argv)
{
    char service[64];
    check_start(&argc, &argv);
    if (argc > 2) {
        /* By its name. */
        OK(MPI_Lookup_name(argv[2], MPI_INFO_NULL, port));
        meet(1);
        return check_end();
    }
    pid_t job = 0;
    snprintf(service, sizeof service, "meeting_jobs of %d", (int)getpid());
    if (rank == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
        job = job_start("2", "client", service);
    }
    meet(0);
    if (rank == 0) {
        job_end(job);
        OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
        OK(MPI_Close_port(port));
    }
    return check_end();
}
