// ranks: 2
// only: posthaste
// of memory
/* Memory of a window goes when the window is freed, though another thread has used it last. MPI-5.0 section 12.2.5. */
#include "win.h"
#include <pthread.h>

static MPI_Win win;
static pthread_barrier_t turn;

static void *user(void *unused)
{
    int one = 1;
    (void)unused;
    OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < 10; i++) OK(MPI_Put(&one, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win));
    OK(MPI_Win_unlock_all(win));
    pthread_barrier_wait(&turn); /* the window goes while this thread has a rest */
    pthread_barrier_wait(&turn);
    return NULL;
}

/* How many windows of a node this process has mapped. */
static int mapped(void)
{
    char line[512];
    int found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps, "no list of mappings");
    while (fgets(line, sizeof line, maps)) found += strstr(line, "posthaste-window") != NULL;
    fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    int provided, *base;
    pthread_t thread;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    pthread_barrier_init(&turn, NULL, 2);
    for (int i = 0; i < 3; i++) {
        EQUAL(mapped(), 0);
        OK(MPI_Win_allocate(1 << 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        CHECK(mapped() > 0, "nothing is mapped");
        pthread_create(&thread, NULL, user, NULL);
        pthread_barrier_wait(&turn);
        OK(MPI_Win_free(&win));
        EQUAL(mapped(), 0);
        pthread_barrier_wait(&turn);
        pthread_join(thread, NULL);
    }
    pthread_barrier_destroy(&turn);
    return check_end();
}
