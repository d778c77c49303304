// ranks: 2 4
// of memory
// only: posthaste
// env: POSTHASTE_READY_CHECK=error
/* ready_error.c: as ready_early.c, where the setting makes it an error of the receive. */
#include "ready_check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    early(MPI_ERR_OTHER);
    in_time();
    return finish();
}
