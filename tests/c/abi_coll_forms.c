// ranks: 1 2 3 5 8
/* Every form of every collective operation gives the same: blocking, large counts, nonblocking, persistent.
 * On the world and on a communicator with the ranks in reverse. MPI-5.0 chapter 6. */
#include "check.h"

enum { MOST = 16, FORMS = 6 };

static MPI_Comm comm;
static int me, n, root;
static int mine[4 * MOST], source[4 * MOST], all[4 * MOST];
static int counts[MOST], mycounts[MOST], places[MOST], byteplaces[MOST];
static MPI_Count counts_c[MOST], mycounts_c[MOST];
static MPI_Aint places_c[MOST], byteplaces_c[MOST];
static MPI_Datatype types[MOST];

static void clear(void)
{
    for (int i = 0; i < 4 * MOST; i++) all[i] = -1;
}

static void fill_mine(void)
{
    for (int i = 0; i < 3; i++) mine[i] = me * 100 + i;
}

/* What the root has for each: block `i` begins at `i * step`. */
static void fill_source(int step)
{
    for (int i = 0; i < 4 * MOST; i++) source[i] = mine[i] = -1;
    if (me != root) return;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) source[i * step + k] = i * 100 + k;
}

/* What each has for each. */
static void fill_exchange(int step)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) source[i * step + k] = me * 10000 + i * 100 + k;
}

static void check_mine(int length)
{
    for (int k = 0; k < 3; k++) EQUAL(mine[k], k < length ? me * 100 + k : -1);
}

static void check_blocks(int length)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < length; k++) EQUAL(all[i * length + k], i * 100 + k);
}

static void check_pieces(void)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++) EQUAL(all[i * 4 + k], k < counts[i] ? i * 100 + k : -1);
}

/* Blocks of `length` elements, or as long as their counts. */
static void check_exchange(int step, int length)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < (length ? length : counts[i]); k++)
            EQUAL(all[i * step + k], i * 10000 + me * 100 + k);
}

static void check_sum(int first, int end, int length)
{
    int ranks = 0;
    for (int i = first; i < end; i++) ranks += i;
    for (int k = 0; k < length; k++) EQUAL(all[k], 100 * ranks + k * (end - first));
}

static void finish(MPI_Request *request)
{
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    CHECK(*request == MPI_REQUEST_NULL);
}

/* A persistent request runs as often as it is started. */
static void run_twice(MPI_Request *request)
{
    MPI_Request same = *request;
    for (int i = 0; i < 2; i++) {
        OK(MPI_Start(request));
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
        CHECK(*request == same);
    }
    OK(MPI_Request_free(request));
    CHECK(*request == MPI_REQUEST_NULL);
}

static void barrier(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    switch (form) {
    case 0: OK(MPI_Barrier(comm)); break;
    case 2: OK(MPI_Ibarrier(comm, &request)); finish(&request); break;
    case 4: OK(MPI_Barrier_init(comm, MPI_INFO_NULL, &request)); run_twice(&request); break;
    }
}

static void bcast(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int buffer[3];
    for (int i = 0; i < 3; i++) buffer[i] = me == root ? 70 + i : -1;
    switch (form) {
    case 0: OK(MPI_Bcast(buffer, 3, MPI_INT, root, comm)); break;
    case 1: OK(MPI_Bcast_c(buffer, 3, MPI_INT, root, comm)); break;
    case 2: OK(MPI_Ibcast(buffer, 3, MPI_INT, root, comm, &request)); finish(&request); break;
    case 3: OK(MPI_Ibcast_c(buffer, 3, MPI_INT, root, comm, &request)); finish(&request); break;
    case 4: OK(MPI_Bcast_init(buffer, 3, MPI_INT, root, comm, MPI_INFO_NULL, &request)); run_twice(&request); break;
    case 5: OK(MPI_Bcast_init_c(buffer, 3, MPI_INT, root, comm, MPI_INFO_NULL, &request)); run_twice(&request); break;
    }
    for (int i = 0; i < 3; i++) EQUAL(buffer[i], 70 + i);
}

static void gather(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_mine();
    clear();
    switch (form) {
    case 0: OK(MPI_Gather(mine, 3, MPI_INT, all, 3, MPI_INT, root, comm)); break;
    case 1: OK(MPI_Gather_c(mine, 3, MPI_INT, all, 3, MPI_INT, root, comm)); break;
    case 2: OK(MPI_Igather(mine, 3, MPI_INT, all, 3, MPI_INT, root, comm, &request)); finish(&request); break;
    case 3: OK(MPI_Igather_c(mine, 3, MPI_INT, all, 3, MPI_INT, root, comm, &request)); finish(&request); break;
    case 4:
        OK(MPI_Gather_init(mine, 3, MPI_INT, all, 3, MPI_INT, root, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Gather_init_c(mine, 3, MPI_INT, all, 3, MPI_INT, root, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    if (me == root) check_blocks(3);
}

static void gatherv(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_mine();
    clear();
    switch (form) {
    case 0: OK(MPI_Gatherv(mine, counts[me], MPI_INT, all, counts, places, MPI_INT, root, comm)); break;
    case 1: OK(MPI_Gatherv_c(mine, counts[me], MPI_INT, all, counts_c, places_c, MPI_INT, root, comm)); break;
    case 2:
        OK(MPI_Igatherv(mine, counts[me], MPI_INT, all, counts, places, MPI_INT, root, comm, &request));
        finish(&request);
        break;
    case 3:
        OK(MPI_Igatherv_c(mine, counts[me], MPI_INT, all, counts_c, places_c, MPI_INT, root, comm, &request));
        finish(&request);
        break;
    case 4:
        OK(MPI_Gatherv_init(mine, counts[me], MPI_INT, all, counts, places, MPI_INT, root, comm,
           MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Gatherv_init_c(mine, counts[me], MPI_INT, all, counts_c, places_c, MPI_INT, root, comm,
           MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    if (me == root) check_pieces();
}

static void scatter(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_source(3);
    clear();
    switch (form) {
    case 0: OK(MPI_Scatter(source, 3, MPI_INT, mine, 3, MPI_INT, root, comm)); break;
    case 1: OK(MPI_Scatter_c(source, 3, MPI_INT, mine, 3, MPI_INT, root, comm)); break;
    case 2: OK(MPI_Iscatter(source, 3, MPI_INT, mine, 3, MPI_INT, root, comm, &request)); finish(&request); break;
    case 3: OK(MPI_Iscatter_c(source, 3, MPI_INT, mine, 3, MPI_INT, root, comm, &request)); finish(&request); break;
    case 4:
        OK(MPI_Scatter_init(source, 3, MPI_INT, mine, 3, MPI_INT, root, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Scatter_init_c(source, 3, MPI_INT, mine, 3, MPI_INT, root, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    check_mine(3);
}

static void scatterv(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_source(4);
    clear();
    switch (form) {
    case 0: OK(MPI_Scatterv(source, counts, places, MPI_INT, mine, counts[me], MPI_INT, root, comm)); break;
    case 1: OK(MPI_Scatterv_c(source, counts_c, places_c, MPI_INT, mine, counts[me], MPI_INT, root, comm)); break;
    case 2:
        OK(MPI_Iscatterv(source, counts, places, MPI_INT, mine, counts[me], MPI_INT, root, comm, &request));
        finish(&request);
        break;
    case 3:
        OK(MPI_Iscatterv_c(source, counts_c, places_c, MPI_INT, mine, counts[me], MPI_INT, root, comm, &request));
        finish(&request);
        break;
    case 4:
        OK(MPI_Scatterv_init(source, counts, places, MPI_INT, mine, counts[me], MPI_INT, root, comm, MPI_INFO_NULL,
           &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Scatterv_init_c(source, counts_c, places_c, MPI_INT, mine, counts[me], MPI_INT, root, comm,
           MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    check_mine(counts[me]);
}

static void allgather(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_mine();
    clear();
    switch (form) {
    case 0: OK(MPI_Allgather(mine, 3, MPI_INT, all, 3, MPI_INT, comm)); break;
    case 1: OK(MPI_Allgather_c(mine, 3, MPI_INT, all, 3, MPI_INT, comm)); break;
    case 2: OK(MPI_Iallgather(mine, 3, MPI_INT, all, 3, MPI_INT, comm, &request)); finish(&request); break;
    case 3: OK(MPI_Iallgather_c(mine, 3, MPI_INT, all, 3, MPI_INT, comm, &request)); finish(&request); break;
    case 4:
        OK(MPI_Allgather_init(mine, 3, MPI_INT, all, 3, MPI_INT, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Allgather_init_c(mine, 3, MPI_INT, all, 3, MPI_INT, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    check_blocks(3);
}

static void allgatherv(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_mine();
    clear();
    switch (form) {
    case 0: OK(MPI_Allgatherv(mine, counts[me], MPI_INT, all, counts, places, MPI_INT, comm)); break;
    case 1: OK(MPI_Allgatherv_c(mine, counts[me], MPI_INT, all, counts_c, places_c, MPI_INT, comm)); break;
    case 2:
        OK(MPI_Iallgatherv(mine, counts[me], MPI_INT, all, counts, places, MPI_INT, comm, &request));
        finish(&request);
        break;
    case 3:
        OK(MPI_Iallgatherv_c(mine, counts[me], MPI_INT, all, counts_c, places_c, MPI_INT, comm, &request));
        finish(&request);
        break;
    case 4:
        OK(MPI_Allgatherv_init(mine, counts[me], MPI_INT, all, counts, places, MPI_INT, comm, MPI_INFO_NULL,
           &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Allgatherv_init_c(mine, counts[me], MPI_INT, all, counts_c, places_c, MPI_INT, comm,
           MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    check_pieces();
}

static void alltoall(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_exchange(3);
    clear();
    switch (form) {
    case 0: OK(MPI_Alltoall(source, 3, MPI_INT, all, 3, MPI_INT, comm)); break;
    case 1: OK(MPI_Alltoall_c(source, 3, MPI_INT, all, 3, MPI_INT, comm)); break;
    case 2: OK(MPI_Ialltoall(source, 3, MPI_INT, all, 3, MPI_INT, comm, &request)); finish(&request); break;
    case 3: OK(MPI_Ialltoall_c(source, 3, MPI_INT, all, 3, MPI_INT, comm, &request)); finish(&request); break;
    case 4:
        OK(MPI_Alltoall_init(source, 3, MPI_INT, all, 3, MPI_INT, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Alltoall_init_c(source, 3, MPI_INT, all, 3, MPI_INT, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    check_exchange(3, 3);
}

static void alltoallv(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_exchange(4);
    clear();
    switch (form) {
    case 0: OK(MPI_Alltoallv(source, mycounts, places, MPI_INT, all, counts, places, MPI_INT, comm)); break;
    case 1: OK(MPI_Alltoallv_c(source, mycounts_c, places_c, MPI_INT, all, counts_c, places_c, MPI_INT, comm)); break;
    case 2:
        OK(MPI_Ialltoallv(source, mycounts, places, MPI_INT, all, counts, places, MPI_INT, comm, &request));
        finish(&request);
        break;
    case 3:
        OK(MPI_Ialltoallv_c(source, mycounts_c, places_c, MPI_INT, all, counts_c, places_c, MPI_INT, comm,
           &request));
        finish(&request);
        break;
    case 4:
        OK(MPI_Alltoallv_init(source, mycounts, places, MPI_INT, all, counts, places, MPI_INT, comm,
           MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Alltoallv_init_c(source, mycounts_c, places_c, MPI_INT, all, counts_c, places_c, MPI_INT, comm,
           MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    check_exchange(4, 0);
}

static void alltoallw(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_exchange(4);
    clear();
    switch (form) {
    case 0: OK(MPI_Alltoallw(source, mycounts, byteplaces, types, all, counts, byteplaces, types, comm)); break;
    case 1:
        OK(MPI_Alltoallw_c(source, mycounts_c, byteplaces_c, types, all, counts_c, byteplaces_c, types,
           comm));
        break;
    case 2:
        OK(MPI_Ialltoallw(source, mycounts, byteplaces, types, all, counts, byteplaces, types, comm,
           &request));
        finish(&request);
        break;
    case 3:
        OK(MPI_Ialltoallw_c(source, mycounts_c, byteplaces_c, types, all, counts_c, byteplaces_c, types, comm,
           &request));
        finish(&request);
        break;
    case 4:
        OK(MPI_Alltoallw_init(source, mycounts, byteplaces, types, all, counts, byteplaces, types, comm,
           MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Alltoallw_init_c(source, mycounts_c, byteplaces_c, types, all, counts_c, byteplaces_c, types,
           comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    check_exchange(4, 0);
}

static void reduce(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_mine();
    clear();
    switch (form) {
    case 0: OK(MPI_Reduce(mine, all, 3, MPI_INT, MPI_SUM, root, comm)); break;
    case 1: OK(MPI_Reduce_c(mine, all, 3, MPI_INT, MPI_SUM, root, comm)); break;
    case 2: OK(MPI_Ireduce(mine, all, 3, MPI_INT, MPI_SUM, root, comm, &request)); finish(&request); break;
    case 3: OK(MPI_Ireduce_c(mine, all, 3, MPI_INT, MPI_SUM, root, comm, &request)); finish(&request); break;
    case 4:
        OK(MPI_Reduce_init(mine, all, 3, MPI_INT, MPI_SUM, root, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Reduce_init_c(mine, all, 3, MPI_INT, MPI_SUM, root, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    if (me == root) check_sum(0, n, 3);
}

static void allreduce(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_mine();
    clear();
    switch (form) {
    case 0: OK(MPI_Allreduce(mine, all, 3, MPI_INT, MPI_SUM, comm)); break;
    case 1: OK(MPI_Allreduce_c(mine, all, 3, MPI_INT, MPI_SUM, comm)); break;
    case 2: OK(MPI_Iallreduce(mine, all, 3, MPI_INT, MPI_SUM, comm, &request)); finish(&request); break;
    case 3: OK(MPI_Iallreduce_c(mine, all, 3, MPI_INT, MPI_SUM, comm, &request)); finish(&request); break;
    case 4:
        OK(MPI_Allreduce_init(mine, all, 3, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Allreduce_init_c(mine, all, 3, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    check_sum(0, n, 3);
}

static void scan(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_mine();
    clear();
    switch (form) {
    case 0: OK(MPI_Scan(mine, all, 3, MPI_INT, MPI_SUM, comm)); break;
    case 1: OK(MPI_Scan_c(mine, all, 3, MPI_INT, MPI_SUM, comm)); break;
    case 2: OK(MPI_Iscan(mine, all, 3, MPI_INT, MPI_SUM, comm, &request)); finish(&request); break;
    case 3: OK(MPI_Iscan_c(mine, all, 3, MPI_INT, MPI_SUM, comm, &request)); finish(&request); break;
    case 4:
        OK(MPI_Scan_init(mine, all, 3, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Scan_init_c(mine, all, 3, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    check_sum(0, me + 1, 3);
}

static void exscan(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    fill_mine();
    clear();
    switch (form) {
    case 0: OK(MPI_Exscan(mine, me == 0 ? NULL : all, 3, MPI_INT, MPI_SUM, comm)); break;
    case 1: OK(MPI_Exscan_c(mine, all, 3, MPI_INT, MPI_SUM, comm)); break;
    case 2: OK(MPI_Iexscan(mine, all, 3, MPI_INT, MPI_SUM, comm, &request)); finish(&request); break;
    case 3: OK(MPI_Iexscan_c(mine, all, 3, MPI_INT, MPI_SUM, comm, &request)); finish(&request); break;
    case 4:
        OK(MPI_Exscan_init(mine, all, 3, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Exscan_init_c(mine, all, 3, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    if (me > 0) check_sum(0, me, 3);
}

static void reduce_scatter_block(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 2 * n; i++) source[i] = me * 100 + i;
    clear();
    switch (form) {
    case 0: OK(MPI_Reduce_scatter_block(source, all, 2, MPI_INT, MPI_SUM, comm)); break;
    case 1: OK(MPI_Reduce_scatter_block_c(source, all, 2, MPI_INT, MPI_SUM, comm)); break;
    case 2: OK(MPI_Ireduce_scatter_block(source, all, 2, MPI_INT, MPI_SUM, comm, &request)); finish(&request); break;
    case 3:
        OK(MPI_Ireduce_scatter_block_c(source, all, 2, MPI_INT, MPI_SUM, comm, &request));
        finish(&request);
        break;
    case 4:
        OK(MPI_Reduce_scatter_block_init(source, all, 2, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Reduce_scatter_block_init_c(source, all, 2, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    for (int i = 0; i < 2; i++) EQUAL(all[i], 100 * n * (n - 1) / 2 + n * (2 * me + i));
}

static void reduce_scatter(int form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    for (int i = 0; i < 3 * n; i++) source[i] = me * 100 + i;
    clear();
    int first = 0;
    for (int i = 0; i < me; i++) first += counts[i];
    switch (form) {
    case 0: OK(MPI_Reduce_scatter(source, all, counts, MPI_INT, MPI_SUM, comm)); break;
    case 1: OK(MPI_Reduce_scatter_c(source, all, counts_c, MPI_INT, MPI_SUM, comm)); break;
    case 2: OK(MPI_Ireduce_scatter(source, all, counts, MPI_INT, MPI_SUM, comm, &request)); finish(&request); break;
    case 3:
        OK(MPI_Ireduce_scatter_c(source, all, counts_c, MPI_INT, MPI_SUM, comm, &request));
        finish(&request);
        break;
    case 4:
        OK(MPI_Reduce_scatter_init(source, all, counts, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    case 5:
        OK(MPI_Reduce_scatter_init_c(source, all, counts_c, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request));
        run_twice(&request);
        break;
    }
    for (int i = 0; i < counts[me]; i++) EQUAL(all[i], 100 * n * (n - 1) / 2 + n * (first + i));
}

static void every_form(void)
{
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &n));
    for (int i = 0; i < n; i++) {
        counts_c[i] = counts[i] = i % 3 + 1;
        mycounts_c[i] = mycounts[i] = me % 3 + 1;
        places_c[i] = places[i] = 4 * i;
        byteplaces_c[i] = byteplaces[i] = 4 * i * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    for (int form = 0; form < FORMS; form++) {
        root = (form * 5) % n;
        barrier(form);
        bcast(form);
        gather(form);
        gatherv(form);
        scatter(form);
        scatterv(form);
        allgather(form);
        allgatherv(form);
        alltoall(form);
        alltoallv(form);
        alltoallw(form);
        reduce(form);
        allreduce(form);
        scan(form);
        exscan(form);
        reduce_scatter_block(form);
        reduce_scatter(form);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    comm = MPI_COMM_WORLD;
    every_form();
    OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm));
    every_form();
    OK(MPI_Comm_free(&comm));
    return check_end();
}
