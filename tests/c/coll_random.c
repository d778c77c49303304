// ranks: 2 3 5 8
// timeout: 120
/* Random programs of collective operations on random nested communicators and on intercommunicators, blocking, nonblocking and
 * persistent mixed, several under way on each, ranks out of step; all results against what a naive implementation by point-to-point
 * messages gives, which runs meanwhile. Operands are affine maps, whose composition does not commute, or numbers to be added. For
 * more than the usual rounds: COLL_RANDOM=ROUNDS,SEED in the environment. MPI-5.0 chapter 6. */
#include "coll_random.h"

enum { ROUNDS = 6 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    begin_programs(ROUNDS);
    program(MPI_COMM_WORLD, 0);
    end_programs();
    return check_end();
}
