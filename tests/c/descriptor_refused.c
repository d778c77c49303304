// ranks: 1
// only: posthaste
/* Without a progress thread, and with one thread promised, there is no descriptor: nobody would look for messages. */
#include "check.h"

#include <posthaste.h>

int main(int argc, char **argv)
{
    int fd = -7;
    char *text;
    check_start(&argc, &argv);
    REFUSED(Posthaste_Get_fd(&fd), MPI_ERR_OTHER);
    EQUAL(fd, -7);
    text = (char *)check_text(Posthaste_Get_fd(&fd));
    CHECK(strstr(text, "POSTHASTE_PROGRESS_THREAD=1"), "%s", text);
    REFUSED(Posthaste_Drain_fd(), MPI_ERR_OTHER);
    return check_end();
}
