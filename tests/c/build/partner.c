/* One of two jobs that meet, whichever launchers have started them: `partner ROLE WAY PLACE`. The role is accept or connect; the way is
 * port, whose name is left in the file PLACE; name, under which PLACE is published; or join: a socket of the two first ranks, whose
 * address is left in PLACE. Each of the two may be there first. They meet twice; what takes longer than LIMIT seconds is an error. */
#include "../meeting_check.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <time.h>

enum { LIMIT = 30 };

static MPI_Info info;

/* The port's name has to be there whole when the file is. */
static void leave(const char *place, const char *port)
{
    char other[4096];
    snprintf(other, sizeof other, "%s.part", place);
    FILE *file = fopen(other, "w");
    CHECK(file && fputs(port, file) >= 0 && fclose(file) == 0 && rename(other, place) == 0, "no file %s", place);
}

static int find(const char *place, char *port)
{
    FILE *file = fopen(place, "r");
    if (!file) return 0;
    CHECK(fgets(port, MPI_MAX_PORT_NAME, file), "nothing in %s", place);
    fclose(file);
    return 1;
}

static void look_for(int by_name, const char *place, char *port)
{
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    for (time_t end = time(NULL) + LIMIT;;) {
        if (by_name ? MPI_Lookup_name(place, MPI_INFO_NULL, port) == MPI_SUCCESS : find(place, port)) return;
        CHECK(time(NULL) < end, "nobody is at %s", place);
        usleep(10000);
    }
}

/* An address of this host that others reach. */
static struct in_addr own_address(void)
{
    struct in_addr found = {htonl(INADDR_LOOPBACK)};
    struct ifaddrs *all;
    CHECK(getifaddrs(&all) == 0, "no interfaces");
    for (struct ifaddrs *one = all; one; one = one->ifa_next)
        if (one->ifa_addr && one->ifa_addr->sa_family == AF_INET && (one->ifa_flags & IFF_UP) && !(one->ifa_flags & IFF_LOOPBACK)) {
            found = ((struct sockaddr_in *)(void *)one->ifa_addr)->sin_addr;
            break;
        }
    freeifaddrs(all);
    return found;
}

/* A socket that is connected with the other job's. */
static int connected(int high, const char *place)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    socklen_t length = sizeof to;
    char text[INET_ADDRSTRLEN], line[MPI_MAX_PORT_NAME] = "";
    int port, fd = socket(AF_INET, SOCK_STREAM, 0);
    if (high) {
        look_for(0, place, line);
        CHECK(sscanf(line, "%15s %d", text, &port) == 2 && inet_pton(AF_INET, text, &to.sin_addr) == 1, "no address: %s", line);
        to.sin_port = htons(port);
        CHECK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "nobody at %s", line);
        return fd;
    }
    to.sin_addr = own_address();
    CHECK(bind(fd, (struct sockaddr *)&to, sizeof to) == 0 && listen(fd, 1) == 0, "no socket");
    CHECK(getsockname(fd, (struct sockaddr *)&to, &length) == 0 && inet_ntop(AF_INET, &to.sin_addr, text, sizeof text), "no address");
    snprintf(line, sizeof line, "%s %d", text, ntohs(to.sin_port));
    leave(place, line);
    int accepted = accept(fd, NULL, NULL);
    CHECK(accepted >= 0, "nobody has called");
    close(fd);
    return accepted;
}

static void join(int high, const char *place)
{
    if (rank) return;
    puts(high ? "looking" : "open");
    fflush(stdout);
    int fd = connected(high, place);
    for (int round = 0; round < 2; round++) {
        MPI_Comm inter;
        OK(MPI_Comm_join(fd, &inter));
        use(inter, high);
        OK(MPI_Comm_disconnect(&inter));
    }
    close(fd);
    puts("they have met");
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", limit[8];
    check_start(&argc, &argv);
    CHECK(argc == 4, "partner ROLE WAY PLACE");
    int high = !strcmp(argv[1], "connect");
    if (!strcmp(argv[2], "join")) {
        join(high, argv[3]);
        return check_end();
    }
    int by_name = !strcmp(argv[2], "name");
    snprintf(limit, sizeof limit, "%d", LIMIT);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "timeout", limit));
    if (rank == 0 && high) {
        puts("looking");
        fflush(stdout);
        look_for(by_name, argv[3], port);
    } else if (rank == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        if (by_name)
            OK(MPI_Publish_name(argv[3], MPI_INFO_NULL, port));
        else
            leave(argv[3], port);
        puts("open");
        fflush(stdout);
    }
    for (int round = 0; round < 2; round++) {
        MPI_Comm inter;
        if (high)
            OK(MPI_Comm_connect(port, info, 0, MPI_COMM_WORLD, &inter));
        else
            OK(MPI_Comm_accept(port, info, 0, MPI_COMM_WORLD, &inter));
        use(inter, high);
        OK(MPI_Comm_disconnect(&inter));
    }
    if (rank == 0 && !high) {
        if (by_name) OK(MPI_Unpublish_name(argv[3], MPI_INFO_NULL, port));
        OK(MPI_Close_port(port));
    }
    OK(MPI_Info_free(&info));
    if (rank == 0) puts("they have met");
    return check_end();
}
