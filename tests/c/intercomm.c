// ranks: 2 3 4 7
/* Intercommunicators: create, messages, merge, dup, split, create, compare, collective operations.
 * MPI-5.0 sections 6.2.3 and 7.6. */
#include "check.h"

static MPI_Comm half, inter;
static int right, mine, local_size, remote_size;

/* World rank of a member of a side: the left has the even ranks, the right the odd ones. */
static int world_rank(int side, int r)
{
    return 2 * r + side;
}

static void create(void)
{
    int flag = -1, n = -1;
    MPI_Group group;
    right = rank % 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, right, rank, &half));
    /* The leaders are rank 0 on the left and the last one on the right. */
    int last_right = size - 1 - size % 2;
    OK(MPI_Comm_size(half, &local_size));
    OK(MPI_Intercomm_create(half, right ? local_size - 1 : 0, MPI_COMM_WORLD, right ? 0 : last_right, 17, &inter));
    OK(MPI_Comm_test_inter(inter, &flag));
    EQUAL(flag, 1);
    OK(MPI_Comm_test_inter(half, &flag));
    EQUAL(flag, 0);
    remote_size = size - local_size;
    OK(MPI_Comm_size(inter, &n));
    EQUAL(n, local_size);
    OK(MPI_Comm_remote_size(inter, &n));
    EQUAL(n, remote_size);
    OK(MPI_Comm_rank(inter, &mine));
    EQUAL(mine, rank / 2);
    OK(MPI_Comm_remote_group(inter, &group));
    MPI_Group all;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (int i = 0; i < remote_size; i++) {
        int in_world = -1;
        OK(MPI_Group_translate_ranks(group, 1, &i, all, &in_world));
        EQUAL(in_world, world_rank(!right, i));
    }
    OK(MPI_Group_free(&group));
    OK(MPI_Comm_group(inter, &group));
    OK(MPI_Group_size(group, &n));
    EQUAL(n, local_size);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
    /* The peer communicator and the remote leader are significant at the leader only. */
    MPI_Comm again;
    OK(MPI_Intercomm_create(half, 0, mine == 0 ? MPI_COMM_WORLD : MPI_COMM_NULL, mine == 0 ? !right : -77, 17, &again));
    OK(MPI_Comm_compare(inter, again, &n));
    EQUAL(n, MPI_CONGRUENT);
    OK(MPI_Comm_compare(inter, half, &n));
    EQUAL(n, MPI_UNEQUAL);
    OK(MPI_Comm_compare(inter, inter, &n));
    EQUAL(n, MPI_IDENT);
    OK(MPI_Comm_free(&again));
}

/* Everybody sends everybody on the other side its rank, with messages of several lengths, and gets them in any order. */
static void messages(MPI_Comm comm)
{
    int n = 0, me = -1;
    OK(MPI_Comm_remote_size(comm, &n));
    OK(MPI_Comm_rank(comm, &me));
    for (size_t length = 8; length <= 300000; length *= 30) {
        MPI_Request *requests = malloc(sizeof *requests * (size_t)n);
        unsigned char *out = malloc(length), *in = malloc(length), *seen = calloc((size_t)n, 1);
        check_fill(out, length, (unsigned)me);
        for (int i = 0; i < n; i++) OK(MPI_Isend(out, (int)length, MPI_BYTE, i, 5, comm, &requests[i]));
        for (int i = 0; i < n; i++) {
            MPI_Status status;
            int count = -1;
            if (i % 2) OK(MPI_Probe(MPI_ANY_SOURCE, 5, comm, &status));
            else OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
            OK(MPI_Recv(in, (int)length, MPI_BYTE, status.MPI_SOURCE, 5, comm, &status));
            OK(MPI_Get_count(&status, MPI_BYTE, &count));
            EQUAL(count, length);
            CHECK(status.MPI_SOURCE >= 0 && status.MPI_SOURCE < n && !seen[status.MPI_SOURCE], "source %d",
                  status.MPI_SOURCE);
            seen[status.MPI_SOURCE] = 1;
            check_filled(in, length, (unsigned)status.MPI_SOURCE);
        }
        OK(MPI_Waitall(n, requests, MPI_STATUSES_IGNORE));
        free(requests), free(out), free(in), free(seen);
        OK(MPI_Barrier(comm));
    }
    int value = me, got = -1;
    if (me < n) {
        OK(MPI_Sendrecv(&value, 1, MPI_INT, me, 6, &got, 1, MPI_INT, me, 6, comm, MPI_STATUS_IGNORE));
        EQUAL(got, me);
    }
    OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, comm));
}

static void derived(void)
{
    MPI_Comm comm;
    int order = -1, n = -1;
    OK(MPI_Comm_dup(inter, &comm));
    messages(comm);
    OK(MPI_Comm_free(&comm));
    MPI_Request request;
    OK(MPI_Comm_idup(inter, &comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    messages(comm);
    OK(MPI_Comm_free(&comm));

    for (int high_side = 0; high_side < 2; high_side++) {
        OK(MPI_Intercomm_merge(inter, right == high_side, &comm));
        OK(MPI_Comm_rank(comm, &order));
        EQUAL(order, right == high_side ? remote_size + mine : mine);
        int sum = -1;
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        EQUAL(sum, size * (size - 1) / 2);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Intercomm_merge(inter, 0, &comm));
    OK(MPI_Comm_size(comm, &n));
    EQUAL(n, size);
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));

    /* In reverse order; then only rank 0 of the left and all of the right; then a color of one side only. */
    OK(MPI_Comm_split(inter, 3, -rank, &comm));
    OK(MPI_Comm_rank(comm, &order));
    EQUAL(order, local_size - 1 - mine);
    messages(comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(inter, right || mine == 0 ? 1 : MPI_UNDEFINED, 0, &comm));
    EQUAL(comm == MPI_COMM_NULL, !right && mine != 0);
    if (comm != MPI_COMM_NULL) {
        OK(MPI_Comm_remote_size(comm, &n));
        EQUAL(n, right ? 1 : remote_size);
        messages(comm);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Comm_split(inter, right, 0, &comm));
    EQUAL(comm == MPI_COMM_NULL, 1);

    MPI_Group group, first;
    OK(MPI_Comm_group(inter, &group));
    OK(MPI_Group_incl(group, 1, (int[]){0}, &first));
    OK(MPI_Comm_create(inter, first, &comm));
    EQUAL(comm == MPI_COMM_NULL, mine != 0);
    if (comm != MPI_COMM_NULL) {
        messages(comm);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Comm_create(inter, right ? MPI_GROUP_EMPTY : group, &comm));
    EQUAL(comm == MPI_COMM_NULL, 1);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&first));
    /* An intercommunicator as the peer communicator. */
    OK(MPI_Intercomm_create(half, 0, inter, 0, 3, &comm));
    messages(comm);
    OK(MPI_Comm_free(&comm));
}

static void rooted(int root_side, int root)
{
    int argument = right != root_side ? root : mine == root ? MPI_ROOT : MPI_PROC_NULL;
    int is_root = argument == MPI_ROOT, across = right != root_side;
    int data[3] = {-1, -1, -1}, *all = malloc(sizeof(int) * 3 * (size_t)size);
    if (is_root) data[0] = data[1] = data[2] = 100 + root;
    OK(MPI_Bcast(data, 3, MPI_INT, argument, inter));
    EQUAL(data[2], across || is_root ? 100 + root : -1);

    int value[2] = {rank, -rank};
    for (int i = 0; i < 3 * size; i++) all[i] = -5;
    OK(MPI_Gather(across ? value : NULL, across ? 2 : -1, MPI_INT, is_root ? all : NULL, is_root ? 2 : -1, MPI_INT,
                  argument, inter));
    for (int i = 0; is_root && i < remote_size; i++) {
        EQUAL(all[2 * i], world_rank(!right, i));
        EQUAL(all[2 * i + 1], -world_rank(!right, i));
    }
    EQUAL(all[2 * remote_size], -5);

    for (int i = 0; i < remote_size; i++) all[i] = 7 * i + root;
    data[0] = -1;
    OK(MPI_Scatter(all, 1, MPI_INT, data, 1, MPI_INT, argument, inter));
    if (across) EQUAL(data[0], 7 * mine + root);

    int *counts = malloc(sizeof(int) * (size_t)size), *places = malloc(sizeof(int) * (size_t)size);
    for (int i = 0; i < size; i++) counts[i] = i % 3, places[i] = 3 * (size - 1 - i);
    int three[3] = {rank, rank, rank};
    for (int i = 0; i < 3 * size; i++) all[i] = -5;
    OK(MPI_Gatherv(three, mine % 3, MPI_INT, all, counts, places, MPI_INT, argument, inter));
    for (int i = 0; is_root && i < remote_size; i++)
        for (int k = 0; k < 3; k++) EQUAL(all[places[i] + k], k < i % 3 ? world_rank(!right, i) : -5);
    for (int i = 0; i < 3 * size; i++) all[i] = i;
    for (int k = 0; k < 3; k++) three[k] = -1;
    OK(MPI_Scatterv(all, counts, places, MPI_INT, three, mine % 3, MPI_INT, argument, inter));
    for (int k = 0; across && k < 3; k++) EQUAL(three[k], k < mine % 3 ? places[mine] + k : -1);

    int sum[2] = {-1, -1}, expected = 0;
    for (int i = 0; i < remote_size; i++) expected += world_rank(!right, i);
    OK(MPI_Reduce(value, is_root ? sum : NULL, 2, MPI_INT, MPI_SUM, argument, inter));
    EQUAL(sum[0], is_root ? expected : -1);
    free(all), free(counts), free(places);
}

static void collectives(void)
{
    int n = remote_size;
    OK(MPI_Barrier(inter));
    for (int side = 0; side < 2; side++)
        for (int root = 0; root < (right == side ? local_size : remote_size); root++) rooted(side, root);

    int value[2] = {rank, rank * rank}, *all = malloc(sizeof(int) * 4 * (size_t)size), sum[2], expected = 0, squares = 0;
    for (int i = 0; i < n; i++) {
        int other = world_rank(!right, i);
        expected += other, squares += other * other;
    }
    OK(MPI_Allreduce(value, sum, 2, MPI_INT, MPI_SUM, inter));
    EQUAL(sum[0], expected);
    EQUAL(sum[1], squares);
    OK(MPI_Allgather(value, 2, MPI_INT, all, 2, MPI_INT, inter));
    for (int i = 0; i < n; i++) EQUAL(all[2 * i + 1], world_rank(!right, i) * world_rank(!right, i));
    /* The left gives nothing. */
    all[0] = -4;
    OK(MPI_Allgather(value, right ? 1 : 0, MPI_INT, all, right ? 0 : 1, MPI_INT, inter));
    EQUAL(all[0], right ? -4 : 1);

    int *counts = malloc(sizeof(int) * (size_t)size), *places = malloc(sizeof(int) * (size_t)size), total = 0;
    for (int i = 0; i < n; i++) counts[i] = i % 2 + 1, places[i] = total, total += counts[i];
    OK(MPI_Allgatherv(value, mine % 2 + 1, MPI_INT, all, counts, places, MPI_INT, inter));
    for (int i = 0; i < n; i++) EQUAL(all[places[i]], world_rank(!right, i));

    int *out = malloc(sizeof(int) * (size_t)size);
    for (int i = 0; i < n; i++) out[i] = 1000 * rank + world_rank(!right, i);
    OK(MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, inter));
    for (int i = 0; i < n; i++) EQUAL(all[i], 1000 * world_rank(!right, i) + rank);
    for (int i = 0; i < n; i++) counts[i] = 1, places[i] = i;
    OK(MPI_Alltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, inter));
    for (int i = 0; i < n; i++) EQUAL(all[i], 1000 * world_rank(!right, i) + rank);
    MPI_Datatype *types = malloc(sizeof *types * (size_t)size);
    for (int i = 0; i < n; i++) types[i] = MPI_INT, places[i] = (int)sizeof(int) * i, all[i] = -1;
    OK(MPI_Alltoallw(out, counts, places, types, all, counts, places, types, inter));
    for (int i = 0; i < n; i++) EQUAL(all[i], 1000 * world_rank(!right, i) + rank);

    /* As many elements in all on either side. */
    int whole = local_size * remote_size, *vector = malloc(sizeof(int) * (size_t)whole);
    for (int i = 0; i < whole; i++) vector[i] = rank + 100 * i;
    OK(MPI_Reduce_scatter_block(vector, all, remote_size, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < remote_size; i++) EQUAL(all[i], expected + 100 * n * (mine * remote_size + i));
    for (int i = 0; i < local_size; i++) counts[i] = i ? 0 : whole;
    for (int i = 0; i < whole; i++) vector[i] = rank + i;
    int *whole_out = calloc((size_t)whole, sizeof(int));
    OK(MPI_Reduce_scatter(vector, whole_out, counts, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < whole; i++) EQUAL(whole_out[i], mine ? 0 : expected + n * i);

    /* Nonblocking and persistent forms. */
    MPI_Request requests[2];
    OK(MPI_Iallreduce(value, sum, 2, MPI_INT, MPI_SUM, inter, &requests[0]));
    OK(MPI_Ibarrier(inter, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EQUAL(sum[0], expected);
    OK(MPI_Allreduce_init(value, sum, 2, MPI_INT, MPI_SUM, inter, MPI_INFO_NULL, requests));
    for (int i = 0; i < 3; i++) {
        sum[0] = -1;
        OK(MPI_Start(requests));
        OK(MPI_Wait(requests, MPI_STATUS_IGNORE));
        EQUAL(sum[0], expected);
    }
    OK(MPI_Request_free(requests));

    /* Long ones. */
    enum { LONG = 50000 };
    double *from = malloc(sizeof(double) * LONG), *to = malloc(sizeof(double) * LONG);
    for (int i = 0; i < LONG; i++) from[i] = rank + i;
    OK(MPI_Allreduce(from, to, LONG, MPI_DOUBLE, MPI_MAX, inter));
    for (int i = 0; i < LONG; i += 999) EQUAL(to[i], world_rank(!right, n - 1) + i);
    OK(MPI_Bcast(right ? to : from, LONG, MPI_DOUBLE, right ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
    if (right) EQUAL(to[LONG - 1], LONG - 1);
    free(all), free(counts), free(places), free(out), free(types), free(vector), free(whole_out), free(from), free(to);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    create();
    messages(inter);
    derived();
    collectives();
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    return check_end();
}
