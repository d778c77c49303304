/* Opens each library that it is told of, by itself, as an interpreter does, and asks it what went wrong. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i < argc; i++) {
        int wrong = -1;
        void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
        void (*plugin)(int *) = library ? (void (*)(int *))dlsym(library, "plugin") : NULL;
        if (plugin)
            plugin(&wrong);
        else
            fprintf(stderr, "%s\n", dlerror());
        if (wrong) printf("%s: %d\n", argv[i], wrong);
        all |= wrong;
    }
    if (rank == 0 && !all) puts("plugins: right");
    MPI_Finalize();
    return all != 0;
}
