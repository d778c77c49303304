/* A program that is linked to one MPI library. rivals WHEN [LIBRARY]: loads another one, "before" MPI begins or "inside". */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <mpi.h>

static int load(int argc, char **argv)
{
    if (argc < 3 || dlopen(argv[2], RTLD_NOW | RTLD_LOCAL)) return 0;
    fprintf(stderr, "%s\n", dlerror());
    return 1;
}

int main(int argc, char **argv)
{
    int inside = argc > 1 && strcmp(argv[1], "inside") == 0;
    if (!inside) {
        /* What is linked differs from what is preloaded: it is only looked at which library that is. */
        return load(argc, argv);
    }
    MPI_Init(NULL, NULL);
    int wrong = load(argc, argv);
    MPI_Finalize();
    return wrong;
}
