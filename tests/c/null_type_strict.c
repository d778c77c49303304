// ranks: 2
// env: POSTHASTE_STRICT=1
// only: posthaste
/* The same calls, read strictly: MPI-5.0 section 3.2.2 wants a datatype whatever the count is. */
#define NOTHING NULL, 0, MPI_DATATYPE_NULL
#define ALLOWED(call) REFUSED(call, MPI_ERR_TYPE)
#define STRICT
#include "null_type_check.h"
