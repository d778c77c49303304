// ranks: 2
// only: posthaste
/* A message of no elements needs no datatype: MPI_DATATYPE_NULL with count 0 is what other libraries accept, and programs
 * send. With a count of 1 it is an error as ever. */
#define NOTHING NULL, 0, MPI_DATATYPE_NULL
#define ALLOWED(call) OK(call)
#include "null_type_check.h"
