// ranks: 2
// timeout: 300
/* Messages of more than 2^31 elements, whole and in pieces, between two ranks and to oneself. The buffers are address
 * space over which a file of about four megabytes is mapped again and again, so they take hardly any memory; its length
 * divides no power of two, so bytes at a wrong place are wrong bytes. A byte of the file is written many times, always
 * the same one, for parts of a message that go over several links come in any order. No page follows the end of a buffer.
 * MPI-5.0 sections 2.5.8, 3.2. */
#define _GNU_SOURCE
#include "check.h"

#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, TILE = 1039 * PAGE }; /* longer than what is copied at once: a copy may store its first bytes last */

static const MPI_Count length = (1LL << 31) + 12345;

/* Address space for `bytes` bytes that end with a page, over which a file of `TILE` bytes, or `tile`, is repeated. */
struct buffer {
    unsigned char *first, *tile;
    void *base;
    size_t mapped;
};

static struct buffer tiled_by(MPI_Count bytes, size_t tile)
{
    struct buffer buffer;
    int file = memfd_create("tile", 0);
    if (file < 0 || ftruncate(file, (off_t)tile)) FAIL("no file for the buffer");
    size_t whole = ((size_t)bytes + PAGE - 1) / PAGE * PAGE;
    buffer.mapped = whole + PAGE;
    buffer.base = mmap(NULL, buffer.mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (buffer.base == MAP_FAILED) FAIL("no address space for %lld bytes", (long long)bytes);
    for (size_t at = 0; at < whole; at += tile) {
        size_t now = whole - at < tile ? whole - at : tile;
        if (mmap((char *)buffer.base + at, now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
            FAIL("the file cannot be mapped at %zu", at);
    }
    close(file);
    buffer.tile = buffer.base;
    buffer.first = buffer.tile + (whole - (size_t)bytes);
    return buffer;
}

static struct buffer tiled(MPI_Count bytes)
{
    return tiled_by(bytes, TILE);
}

static void let_go(struct buffer *buffer)
{
    munmap(buffer->base, buffer->mapped);
}

/* The whole of the file is what was sent, byte by byte: each has been written many times, from other places. */
static void is_whole(const struct buffer *buffer, unsigned seed)
{
    check_filled(buffer->tile, TILE, seed);
}

static void expect(MPI_Status *status, MPI_Datatype type, MPI_Count count)
{
    int small = 0;
    MPI_Count large = 0;
    OK(MPI_Get_count(status, MPI_BYTE, &small));
    EQUAL(small, MPI_UNDEFINED);
    OK(MPI_Get_count_c(status, MPI_BYTE, &large));
    EQUAL(large, length);
    OK(MPI_Get_count_c(status, type, &large));
    EQUAL(large, count);
}

/* In the last argument: the receive is posted first. */
static void whole(int posted)
{
    struct buffer buffer = tiled(length);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    if (rank == 0) {
        check_fill(buffer.tile, TILE, 3);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (posted) OK(MPI_Send_c(buffer.first, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        else OK(MPI_Issend_c(buffer.first, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        memset(buffer.tile, 0, TILE);
        if (posted) OK(MPI_Irecv_c(buffer.first, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (!posted) {
            OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            expect(&status, MPI_BYTE, length);
            OK(MPI_Recv_c(buffer.first, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status));
        } else {
            OK(MPI_Wait(&request, &status));
        }
        expect(&status, MPI_BYTE, length);
    }
    is_whole(&buffer, 3);
    let_go(&buffer);
}

/* The sender's bytes lie in blocks. Both files have room for the same number of them, one with and one without the gaps, so
 * what lies at a place of the receiver's lies at one place of the sender's. */
static void pieces(void)
{
    enum { BLOCK = 16000, GAP = 384, BLOCKS = 288, OUT = BLOCKS * (BLOCK + GAP), IN = BLOCKS * BLOCK };
    MPI_Count blocks = length / BLOCK, rest = length - blocks * BLOCK, end = blocks * (BLOCK + GAP) + rest;
    MPI_Datatype vector, type;
    struct buffer buffer = rank == 0 ? tiled_by(end, OUT) : tiled_by(length, IN);
    MPI_Status status;
    MPI_Count lengths[2] = {1, rest}, places[2] = {0, blocks * (BLOCK + GAP)}, size = 0;
    OK(MPI_Type_vector_c(blocks, BLOCK, BLOCK + GAP, MPI_BYTE, &vector));
    OK(MPI_Type_create_struct_c(2, lengths, places, (MPI_Datatype[]){vector, MPI_BYTE}, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_size_c(type, &size));
    EQUAL(size, length);
    if (rank == 0) {
        check_fill(buffer.tile, OUT, 4);
        OK(MPI_Send_c(buffer.first, 1, type, 1, 2, MPI_COMM_WORLD));
        check_filled(buffer.tile, OUT, 4);
    } else {
        memset(buffer.tile, 0, IN);
        OK(MPI_Recv_c(buffer.first, length, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &status));
        expect(&status, type, 1);
        size_t skew = (size_t)((PAGE - end % PAGE) % PAGE);
        for (MPI_Count at = length - IN; at < length; at++) {
            size_t sent = (size_t)(at / BLOCK * (BLOCK + GAP) + at % BLOCK);
            unsigned char right = check_byte((skew + sent) % OUT, 4);
            CHECK(buffer.first[at] == right, "byte %lld is %d, expected %d", (long long)at, buffer.first[at], right);
        }
    }
    OK(MPI_Type_free(&vector));
    OK(MPI_Type_free(&type));
    let_go(&buffer);
}

/* Cut to a few bytes; the length is reported in full. */
static void cut(void)
{
    struct buffer buffer = tiled(length);
    unsigned char *few = check_guarded(100);
    if (rank == 0) {
        check_fill(buffer.tile, TILE, 5);
        OK(MPI_Send_c(buffer.first, length, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    } else {
        MPI_Status status;
        int code = MPI_Recv(few, 100, MPI_BYTE, 0, 3, MPI_COMM_WORLD, &status);
        REFUSED(code, MPI_ERR_TRUNCATE);
    }
    check_free_guarded(few, 100);
    let_go(&buffer);
}

static void to_myself(void)
{
    struct buffer out = tiled(length), in = tiled(length);
    MPI_Status status;
    check_fill(out.tile, TILE, 6);
    OK(MPI_Sendrecv_c(out.first, length, MPI_BYTE, 0, 4, in.first, length, MPI_BYTE, 0, 4, MPI_COMM_SELF, &status));
    expect(&status, MPI_BYTE, length);
    is_whole(&in, 6);
    let_go(&out);
    let_go(&in);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    whole(1);
    whole(0);
    pieces();
    cut();
    if (rank == 0) to_myself();
    return check_end();
}
