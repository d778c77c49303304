// ranks: 2
/* MPI_Pack of several things into one buffer, unpacked piece by piece and received as a whole with another type;
 * a buffer that is too small is refused. MPI-5.0 section 5.2. */
#include "check.h"

int main(int argc, char **argv)
{
    char buffer[4096], text[20] = "hello";
    int position = 0, numbers[5] = {1, 2, 3, 4, 5}, room = 0, more = 0, count;
    double x = 2.5;
    MPI_Status status;
    check_start(&argc, &argv);
    OK(MPI_Pack_size(5, MPI_INT, MPI_COMM_WORLD, &room));
    CHECK(room >= 20);
    OK(MPI_Pack_size(0, MPI_INT, MPI_COMM_WORLD, &more));
    CHECK(more >= 0);
    if (rank == 0) {
        OK(MPI_Pack(numbers, 5, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
        OK(MPI_Pack(&x, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
        OK(MPI_Pack(text, 6, MPI_CHAR, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
        CHECK(position >= 34);
        OK(MPI_Send(buffer, position, MPI_PACKED, 1, 1, MPI_COMM_WORLD));
        position = 0;
        OK(MPI_Pack(numbers, 5, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
        OK(MPI_Send(buffer, position, MPI_PACKED, 1, 2, MPI_COMM_WORLD));
        position = 0;
        CHECK(MPI_Pack(numbers, 5, MPI_INT, buffer, 10, &position, MPI_COMM_WORLD) != MPI_SUCCESS);
        EQUAL(position, 0);
    } else {
        int got[5] = {0};
        double y = 0;
        char word[20] = "";
        OK(MPI_Recv(buffer, sizeof buffer, MPI_PACKED, 0, 1, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_PACKED, &count));
        OK(MPI_Unpack(buffer, count, &position, got, 2, MPI_INT, MPI_COMM_WORLD));
        OK(MPI_Unpack(buffer, count, &position, got + 2, 3, MPI_INT, MPI_COMM_WORLD));
        OK(MPI_Unpack(buffer, count, &position, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD));
        OK(MPI_Unpack(buffer, count, &position, word, 6, MPI_CHAR, MPI_COMM_WORLD));
        EQUAL(position, count);
        for (int i = 0; i < 5; i++) EQUAL(got[i], i + 1);
        CHECK(y == 2.5 && strcmp(word, "hello") == 0, "%g %s", y, word);
        CHECK(MPI_Unpack(buffer, count, &position, &y, 1, MPI_DOUBLE, MPI_COMM_WORLD) != MPI_SUCCESS);
        memset(got, 0, sizeof got);
        OK(MPI_Recv(got, 5, MPI_INT, 0, 2, MPI_COMM_WORLD, &status));
        for (int i = 0; i < 5; i++) EQUAL(got[i], i + 1);
    }
    return check_end();
}
