// ranks: 1 2
// alone
// only: posthaste
/* The tool interface has no variables, events, sources and categories yet: it starts, counts none of each, and ends,
 * before, while and after MPI is initialised. What asks for one of them is refused and leaves nothing to trip over.
 * MPI-5.0 section 15.3. */
#define POSTHASTE_MISSING_SILENT
#include "check.h"

/* Counts nothing, whatever was in the place before. */
#define NONE(call, place)                                                      \
    do {                                                                       \
        (place) = 77;                                                          \
        EQUAL(call, MPI_SUCCESS);                                              \
        EQUAL(place, 0);                                                       \
    } while (0)

static void counts(void)
{
    int number;
    NONE(MPI_T_cvar_get_num(&number), number);
    NONE(MPI_T_pvar_get_num(&number), number);
    NONE(MPI_T_event_get_num(&number), number);
    NONE(MPI_T_source_get_num(&number), number);
    NONE(MPI_T_category_get_num(&number), number);
    NONE(MPI_T_category_changed(&number), number);
    EQUAL(PMPI_T_pvar_get_num(NULL), MPI_T_ERR_INVALID);
}

static void refused(void)
{
    int number = 77, count = 77;
    MPI_T_pvar_session session = (MPI_T_pvar_session)&number;
    MPI_T_pvar_handle pvar = (MPI_T_pvar_handle)&number;
    MPI_T_cvar_handle cvar = (MPI_T_cvar_handle)&number;
    CHECK(MPI_T_pvar_session_create(&session) != MPI_SUCCESS);
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
    CHECK(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &count) != MPI_SUCCESS);
    CHECK(pvar == MPI_T_PVAR_HANDLE_NULL && count == 0);
    count = 77;
    CHECK(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &count) != MPI_SUCCESS);
    CHECK(cvar == MPI_T_CVAR_HANDLE_NULL && count == 0);
    CHECK(MPI_T_cvar_get_index("nothing", &number) != MPI_SUCCESS);
    EQUAL(number, -1);
    number = 77;
    CHECK(MPI_T_category_get_num_events(0, &number) != MPI_SUCCESS);
    EQUAL(number, 0);
}

int main(int argc, char **argv)
{
    int provided = -1, number = 77;
    EQUAL(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(number, 0);
    EQUAL(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    counts();
    refused();
    check_start(&argc, &argv);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    EQUAL(provided, MPI_THREAD_SINGLE);
    counts();
    OK(MPI_T_finalize());
    counts();
    int code = check_end();
    counts();
    OK(MPI_T_finalize());
    EQUAL(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
    EQUAL(MPI_T_init_thread(17, &provided), MPI_T_ERR_INVALID);
    return code;
}
