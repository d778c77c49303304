// ranks: 2 3
// Messages between memory from MPI_Alloc_mem and other memory, in every direction, contiguous and not: the data, guard
// bytes, truncation, memory that is freed and allocated again, and much more memory than the peers have mapped at first. And memory
// that begins where the program wants it.
#include "check.h"
#include <stdint.h>

enum { MOST = 3 << 19, GUARD = 64 };

static int next, before;

static char *fresh(int shared, size_t len)
{
    char *base;
    if (shared) CHECK(MPI_Alloc_mem((MPI_Aint)(len + 2 * GUARD), MPI_INFO_NULL, &base) == MPI_SUCCESS);
    else base = malloc(len + 2 * GUARD);
    CHECK(base != NULL);
    memset(base, 0x55, len + 2 * GUARD);
    return base;
}

static void give_back(int shared, char *base)
{
    if (shared) CHECK(MPI_Free_mem(base) == MPI_SUCCESS);
    else free(base);
}

static char byte(size_t at, int of, int len) { return (char)(at * 7 + at / 251 + (size_t)of * 31 + (size_t)len); }

/* Everybody sends `len` bytes to the next one; strided: every other one of 16 bytes. */
static void message(int len, int from_shared, int to_shared, int strided_from, int strided_to, int room)
{
    MPI_Datatype column;
    MPI_Request request;
    MPI_Status status;
    size_t span = (size_t)len * 2;
    char *out = fresh(from_shared, span), *in = fresh(to_shared, span);
    int blocks = len / 16, count;
    CHECK(MPI_Type_vector(blocks, 16, 32, MPI_BYTE, &column) == MPI_SUCCESS);
    CHECK(MPI_Type_commit(&column) == MPI_SUCCESS);
    for (int i = 0; i < len; i++) {
        size_t at = strided_from ? (size_t)(i / 16 * 32 + i % 16) : (size_t)i;
        out[GUARD + at] = byte((size_t)i, rank, len);
    }
    if (strided_to) MPI_Irecv(in + GUARD, 1, column, before, 3, MPI_COMM_WORLD, &request);
    else MPI_Irecv(in + GUARD, room, MPI_BYTE, before, 3, MPI_COMM_WORLD, &request);
    if (strided_from) MPI_Send(out + GUARD, 1, column, next, 3, MPI_COMM_WORLD);
    else MPI_Send(out + GUARD, len, MPI_BYTE, next, 3, MPI_COMM_WORLD);
    int code = MPI_Wait(&request, &status), class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    int got = strided_to || room > len ? len : room;
    CHECK(class == (got < len ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
    CHECK(MPI_Get_count(&status, MPI_BYTE, &count) == MPI_SUCCESS && count == got);
    size_t wrong = 0;
    for (size_t i = 0; i < span + 2 * GUARD; i++) {
        char expected = 0x55;
        if (i >= GUARD) {
            size_t at = i - GUARD;
            if (!strided_to && at < (size_t)got) expected = byte(at, before, len);
            if (strided_to && at % 32 < 16 && at / 32 < (size_t)blocks)
                expected = byte(at / 32 * 16 + at % 32, before, len);
        }
        wrong += in[i] != expected;
    }
    CHECK(wrong == 0);
    MPI_Type_free(&column);
    give_back(from_shared, out);
    give_back(to_shared, in);
}

/* The address is a multiple of what is wanted, and the memory can be used and given back; what is no power of two means nothing. */
static void aligned(void)
{
    for (int power = 0; power <= 22; power++) {
        MPI_Info info;
        char wanted[16], *bases[8];
        snprintf(wanted, sizeof wanted, "%d", 1 << power);
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", wanted);
        for (int i = 0; i < 8; i++) {
            CHECK(MPI_Alloc_mem(1000 + i * 5000, info, &bases[i]) == MPI_SUCCESS);
            CHECK((uintptr_t)bases[i] % (1u << power) == 0);
            memset(bases[i], i + 1, (size_t)(1000 + i * 5000));
        }
        MPI_Info_free(&info);
        for (int i = 0; i < 8; i++) {
            CHECK(bases[i][0] == i + 1 && bases[i][1000 + i * 5000 - 1] == i + 1);
            CHECK(MPI_Free_mem(bases[i]) == MPI_SUCCESS);
        }
    }
    static const char *const meaningless[] = {"0", "3", "-8", "page", "99999999999999999999"};
    for (int i = 0; i < 5; i++) {
        MPI_Info info;
        char *base;
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_minimum_memory_alignment", meaningless[i]);
        CHECK(MPI_Alloc_mem(100, info, &base) == MPI_SUCCESS && base);
        CHECK(MPI_Free_mem(base) == MPI_SUCCESS);
        MPI_Info_free(&info);
    }
}

int main(int argc, char **argv)
{
    static const int lengths[] = {4096, 16384, 65536, MOST};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < 4; i++)
        for (int how = 0; how < 16; how++) {
            int len = lengths[i];
            message(len, how & 1, how >> 1 & 1, how >> 2 & 1, how >> 3 & 1, len);
            message(len, how & 1, how >> 1 & 1, how >> 2 & 1, 0, len - 1000);
            message(len, how & 1, how >> 1 & 1, how >> 2 & 1, 0, len + 1000);
        }
    /* Many, freed in another order, while messages go on. */
    char *kept[40];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 40; i++) kept[i] = fresh(1, (size_t)(4096 + i * 50000));
        for (int i = 0; i < 40; i += 2) give_back(1, kept[i]);
        for (int i = 1; i < 40; i += 2) {
            MPI_Request request;
            char *in = fresh(i % 4 == 1, 100000);
            memset(kept[i] + GUARD, round + i + rank, 4096);
            MPI_Irecv(in + GUARD, 100000, MPI_BYTE, before, i, MPI_COMM_WORLD, &request);
            MPI_Ssend(kept[i] + GUARD, 4096 + i * 1000, MPI_BYTE, next, i, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(in[GUARD] == (char)(round + i + before) && in[GUARD + 4095] == in[GUARD]);
            CHECK(in[GUARD + 4096] == 0x55 && in[GUARD + 4096 + i * 1000] == 0x55);
            give_back(i % 4 == 1, in);
        }
        for (int i = 1; i < 40; i += 2) give_back(1, kept[i]);
    }
    aligned();
    MPI_Finalize();
    return 0;
}
