/* stall.c: a file server that does not answer for a while, to be loaded before mpiexec (`cargo xtask test --only hosts`).
 * STALL says which call of each process takes long, once: write (to a regular file) or chdir; STALL_S says how many
 * seconds it takes. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void stall(const char *call)
{
    static int is_over;
    const char *which = getenv("STALL"), *seconds = getenv("STALL_S");
    if (is_over || !which || !seconds || strcmp(which, call)) return;
    is_over = 1;
    for (unsigned left = atoi(seconds); left > 0;) left = sleep(left);
}

ssize_t write(int file, const void *bytes, size_t count)
{
    struct stat what;
    if (fstat(file, &what) == 0 && S_ISREG(what.st_mode)) stall("write");
    return syscall(SYS_write, file, bytes, count);
}

int chdir(const char *folder)
{
    stall("chdir");
    return syscall(SYS_chdir, folder);
}
