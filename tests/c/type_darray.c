// ranks: 2
// timeout: 90
/* MPI_Type_create_darray: every distribution, both orders, every rank of the grid. MPI-5.0 section 5.1.4. What other
 * implementations get wrong is left to type_darray_grids.c. */
#include "darray_check.h"

int main(int argc, char **argv)
{
    const int orders[] = {MPI_ORDER_C, MPI_ORDER_FORTRAN};
    check_start(&argc, &argv);
    type_has_elements = 0;
    type_bytes = 20000;
    for (int o = 0; o < 2; o++) {
        for (int i = 0; i < KINDS; i++) array(1, &all[i], orders[o]);
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 5; j++) array(2, (struct dimension[]){all[i], all[j]}, orders[o]);
        array(3, (struct dimension[]){all[2], all[1], all[3]}, orders[o]);
    }
    return check_end();
}
