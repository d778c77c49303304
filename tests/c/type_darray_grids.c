// ranks: 2
// timeout: 90
// only: posthaste
/* MPI_Type_create_darray with every distribution in each of two and three dimensions. MPICH and Intel MPI cannot count
 * the elements of such types and forget where a process begins whose only block of a cyclic dimension is short; Intel
 * MPI packs blocks of several rows wrongly. */
#include "darray_check.h"

int main(int argc, char **argv)
{
    const int orders[] = {MPI_ORDER_C, MPI_ORDER_FORTRAN};
    check_start(&argc, &argv);
    type_bytes = 5000;
    for (int o = 0; o < 2; o++) {
        for (int i = 0; i < KINDS; i++)
            for (int j = 0; j < KINDS; j++) array(2, (struct dimension[]){all[i], all[j]}, orders[o]);
        array(3, (struct dimension[]){all[0], all[3], all[5]}, orders[o]);
        array(3, (struct dimension[]){all[4], all[5], all[1]}, orders[o]);
    }
    return check_end();
}
