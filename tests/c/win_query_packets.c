// ranks: 1 3
// only: posthaste
// env: POSTHASTE_MAP_WINDOWS=0
/* Memory that is not mapped has size 0. */
#include "win_query.c"
