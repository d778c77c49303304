// ranks: 2
/* What a status says in counts and elements: messages that end in the middle of a type, of one of its parts, or of a
 * pair; statuses filled in by the program; types without data. MPI-5.0 sections 3.2.5, 5.1.11 and 13.3. */
#include "check.h"

/* After `bytes` of a message: how many of this type, how many basic elements. */
static void says(MPI_Datatype type, int bytes, int count_is, int elements_is)
{
    MPI_Status status;
    int n = -1;
    MPI_Count c = -1;
    OK(MPI_Status_set_elements(&status, MPI_BYTE, bytes));
    OK(MPI_Get_count(&status, type, &n));
    EQUAL(n, count_is);
    OK(MPI_Get_count_c(&status, type, &c));
    EQUAL(c, count_is);
    OK(MPI_Get_elements(&status, type, &n));
    CHECK(n == elements_is, "%d bytes are %d elements, expected %d", bytes, n, elements_is);
    OK(MPI_Get_elements_c(&status, type, &c));
    EQUAL(c, elements_is);
    OK(MPI_Get_elements_x(&status, type, &c));
    EQUAL(c, elements_is);
}

static void arrays_of_structures(void)
{
    MPI_Datatype vector, record;
    OK(MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &vector));
    /* Three shorts, two vectors of two doubles, one char: 6 + 32 + 1 bytes. */
    OK(MPI_Type_create_struct(3, (int[]){3, 2, 1}, (MPI_Aint[]){0, 8, 200},
                              (MPI_Datatype[]){MPI_SHORT, vector, MPI_CHAR}, &record));
    OK(MPI_Type_commit(&record));
    says(record, 0, 0, 0);
    says(record, 1, MPI_UNDEFINED, MPI_UNDEFINED);
    says(record, 2, MPI_UNDEFINED, 1);
    says(record, 6, MPI_UNDEFINED, 3);
    says(record, 13, MPI_UNDEFINED, MPI_UNDEFINED);
    says(record, 14, MPI_UNDEFINED, 4);
    says(record, 22, MPI_UNDEFINED, 5);
    says(record, 38, MPI_UNDEFINED, 7);
    says(record, 39, 1, 8);
    says(record, 41, MPI_UNDEFINED, 9);
    says(record, 10 * 39, 10, 80);
    says(record, 10 * 39 + 38, MPI_UNDEFINED, 87);
    OK(MPI_Type_free(&vector));
    OK(MPI_Type_free(&record));
}

/* A message that is shorter than the type it is received with. */
static void received(void)
{
    MPI_Datatype type;
    MPI_Status status;
    int values[12] = {0}, n = -1;
    OK(MPI_Type_contiguous(4, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int sent = 0; sent <= 12; sent++) {
        if (rank == 0) OK(MPI_Send(values, sent, MPI_INT, 1, 1, MPI_COMM_WORLD));
        if (rank != 1) continue;
        OK(MPI_Recv(values, 3, type, 0, 1, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, type, &n));
        EQUAL(n, sent % 4 ? MPI_UNDEFINED : sent / 4);
        OK(MPI_Get_elements(&status, type, &n));
        EQUAL(n, sent);
    }
    OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    MPI_Datatype nothing;
    check_start(&argc, &argv);
    says(MPI_INT, 12, 3, 3);
    says(MPI_INT, 13, MPI_UNDEFINED, MPI_UNDEFINED);
    arrays_of_structures();
    received();
    OK(MPI_Type_contiguous(0, MPI_INT, &nothing));
    OK(MPI_Type_commit(&nothing));
    says(nothing, 0, 0, 0);
    OK(MPI_Type_free(&nothing));
    return check_end();
}
