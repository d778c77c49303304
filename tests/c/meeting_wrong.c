// ranks: 2
// only: posthaste
/* Everything that can be wrong with ports, names and the calls that use them is an error at all ranks that take part, and what
 * is right works afterwards. */
#include "bad_check.h"
#include "meeting_check.h"

static MPI_Info limited(const char *seconds)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "timeout", seconds));
    return info;
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", other[MPI_MAX_PORT_NAME], service[64], found[MPI_MAX_PORT_NAME];
    check_start(&argc, &argv);
    MPI_Comm made = MPI_COMM_WORLD, inter;
    MPI_Info soon = limited("0.3"), senseless = limited("soon"), negative = limited("-1");
    snprintf(service, sizeof service, "meeting_wrong of %d", (int)getpid());

    /* Ports. */
    BAD(MPI_ERR_ARG, "port_name", MPI_Open_port, MPI_INFO_NULL, NULL);
    BAD(MPI_ERR_INFO, "info", MPI_Open_port, (MPI_Info)MPI_COMM_WORLD, port);
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    BAD(MPI_ERR_ARG, "port_name", MPI_Close_port, NULL);
    BAD(MPI_ERR_PORT, "port_name is no name of a port", MPI_Close_port, "nonsense");
    memcpy(other, port, sizeof other);
    other[strlen(other) - 1] ^= 1;
    CHECK(strcmp(port, other) != 0, "the same port");
    BAD(MPI_ERR_PORT, "port_name", MPI_Close_port, other);

    /* Communicators, roots, results: at each rank by itself. */
    BAD(MPI_ERR_ARG, "newcomm", MPI_Comm_accept, port, MPI_INFO_NULL, 0, MPI_COMM_SELF, NULL);
    BAD(MPI_ERR_ARG, "newcomm", MPI_Comm_connect, port, MPI_INFO_NULL, 0, MPI_COMM_SELF, NULL);
    for (int root = -3; root < 4; root += 2) {
        BAD(MPI_ERR_ROOT, "root", MPI_Comm_accept, port, MPI_INFO_NULL, root, MPI_COMM_SELF, &made);
        BAD(MPI_ERR_ROOT, "root", MPI_Comm_connect, port, MPI_INFO_NULL, root, MPI_COMM_SELF, &made);
        CHECK(made == MPI_COMM_NULL, "the result of a wrong call");
    }
    OK(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, !rank, 0, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    REFUSED(MPI_Comm_accept(port, MPI_INFO_NULL, 0, inter, &made), MPI_ERR_COMM);
    REFUSED(MPI_Comm_connect(port, MPI_INFO_NULL, 0, inter, &made), MPI_ERR_COMM);
    OK(MPI_Comm_free(&inter));
    REFUSED(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_NULL, &made), MPI_ERR_COMM);

    /* What only the root looks at is an error at all ranks. */
    BAD(MPI_ERR_ARG, "port_name", MPI_Comm_accept, NULL, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made);
    BAD(MPI_ERR_PORT, "port_name", MPI_Comm_accept, "nonsense", MPI_INFO_NULL, 1, MPI_COMM_WORLD, &made);
    BAD(MPI_ERR_PORT, "expected ph1/port/secret/addresses", MPI_Comm_connect, "nonsense", MPI_INFO_NULL, 0,
        MPI_COMM_WORLD, &made);
    BAD(MPI_ERR_INFO_VALUE, "timeout=soon", MPI_Comm_accept, port, senseless, 0, MPI_COMM_WORLD, &made);
    BAD(MPI_ERR_INFO_VALUE, "timeout=-1", MPI_Comm_connect, port, negative, 1, MPI_COMM_WORLD, &made);
    CHECK(made == MPI_COMM_NULL, "the result of a wrong call");

    /* Nobody comes, and nobody accepts. */
    BAD(MPI_ERR_PORT, "no other job was met at port", MPI_Comm_accept, port, soon, 0, MPI_COMM_WORLD, &made);
    BAD(MPI_ERR_PORT, "no other job was met to port", MPI_Comm_connect, port, soon, 0, MPI_COMM_WORLD, &made);
    CHECK(made == MPI_COMM_NULL, "the result of a call whose time is over");
    memcpy(other, port, sizeof other);
    OK(MPI_Close_port(other));
    BAD(MPI_ERR_PORT, "port_name", MPI_Comm_accept, port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
    BAD(MPI_ERR_PORT, "nobody accepts at port", MPI_Comm_connect, port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);

    OK(MPI_Open_port(MPI_INFO_NULL, port));

    /* Names. */
    BAD(MPI_ERR_ARG, "service_name", MPI_Publish_name, NULL, MPI_INFO_NULL, port);
    BAD(MPI_ERR_ARG, "port_name", MPI_Publish_name, service, MPI_INFO_NULL, NULL);
    BAD(MPI_ERR_ARG, "service_name", MPI_Lookup_name, NULL, MPI_INFO_NULL, found);
    BAD(MPI_ERR_ARG, "port_name", MPI_Lookup_name, service, MPI_INFO_NULL, NULL);
    BAD(MPI_ERR_NAME, "service_name is \"meeting_wrong of", MPI_Lookup_name, service, MPI_INFO_NULL, found);
    BAD(MPI_ERR_SERVICE, "service_name", MPI_Unpublish_name, service, MPI_INFO_NULL, port);
    char longest[MPI_MAX_PORT_NAME + 1];
    memset(longest, 'x', sizeof longest);
    longest[MPI_MAX_PORT_NAME] = 0;
    BAD(MPI_ERR_ARG, "port_name is 1024 bytes long", MPI_Publish_name, service, MPI_INFO_NULL, longest);
    OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
    BAD(MPI_ERR_SERVICE, "service_name", MPI_Publish_name, service, MPI_INFO_NULL, port);
    BAD(MPI_ERR_SERVICE, "port_name", MPI_Unpublish_name, service, MPI_INFO_NULL, other);
    OK(MPI_Lookup_name(service, MPI_INFO_NULL, found));
    CHECK(strcmp(found, port) == 0, "found %s", found);
    OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
    BAD(MPI_ERR_NAME, "service_name", MPI_Lookup_name, service, MPI_INFO_NULL, found);

    /* Sockets. */
    BAD(MPI_ERR_ARG, "intercomm", MPI_Comm_join, 0, NULL);
    BAD(MPI_ERR_ARG, "fd is -1", MPI_Comm_join, -1, &made);
    int pipes[2];
    CHECK(pipe(pipes) == 0, "no pipe");
    BAD(MPI_ERR_ARG, "fd is ", MPI_Comm_join, pipes[0], &made);
    CHECK(made == MPI_COMM_NULL, "the result of a wrong call");

    /* A caller that has given up stands at the port; the next one comes all the same. */
    char shared[MPI_MAX_PORT_NAME];
    memcpy(shared, port, sizeof shared);
    OK(MPI_Bcast(shared, sizeof shared, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (rank == 1) {
        BAD(MPI_ERR_PORT, "no other job was met to port", MPI_Comm_connect, shared, soon, 0, MPI_COMM_SELF, &made);
        OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 8, MPI_COMM_WORLD));
        OK(MPI_Comm_connect(shared, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made));
    }
    if (rank == 0) {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made));
    }
    use(made, rank);
    OK(MPI_Comm_disconnect(&made));
    OK(MPI_Close_port(port));
    MPI_Info *all[] = {&soon, &senseless, &negative};
    for (int i = 0; i < 3; i++) OK(MPI_Info_free(all[i]));
    if (bad_failures) FAIL("%d of %d wrong calls", bad_failures, bad_calls);
    return check_end();
}
