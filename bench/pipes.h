/* pipes.h: two ranks tell each other to go on through pipes, and not by MPI: whoever is told finds all messages that the
 * other has sent before, and has not looked for them. So programs whose instructions are counted never spin. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int pipes_rank, pipes_fd[2];

static void pipes_fail(const char *what)
{
    fprintf(stderr, "rank %d: %s\n", pipes_rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Makes a pipe for each rank in a folder. */
static void pipes_open(const char *folder)
{
    char name[400];
    MPI_Comm_rank(MPI_COMM_WORLD, &pipes_rank);
    for (int of = 0; of < 2 && pipes_rank == 0; of++) {
        snprintf(name, sizeof name, "%s/pipe.%d", folder, of);
        unlink(name);
        if (mkfifo(name, 0600) != 0) pipes_fail("no pipe could be made");
    }
    MPI_Bcast(name, 0, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int of = 0; of < 2; of++) {
        snprintf(name, sizeof name, "%s/pipe.%d", folder, of);
        pipes_fd[of] = open(name, of == pipes_rank ? O_WRONLY : O_RDONLY);
        if (pipes_fd[of] < 0) pipes_fail("a pipe could not be opened");
    }
}

static void pipes_tell(void)
{
    if (write(pipes_fd[pipes_rank], "", 1) != 1) pipes_fail("a pipe is broken");
}

static void pipes_hear(void)
{
    char token;
    if (read(pipes_fd[1 - pipes_rank], &token, 1) != 1) pipes_fail("a pipe is broken");
}
