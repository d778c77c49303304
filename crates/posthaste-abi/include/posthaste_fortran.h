/* posthaste_fortran.h: handles and statuses as Fortran has them (MPI-5.0 section 19.3), for C programs and libraries
 * with Fortran interfaces.
 *
 * Included by mpi.h. The standard's own mpi.h leaves these names out, because C code cannot know how long an INTEGER of
 * Fortran is. Here an MPI_Fint is an int, which is right for every Fortran compiler unless an option says otherwise. They are
 * inline functions over functions of the standard ABI, not symbols of the library, so a program that uses them runs with
 * every library that follows that ABI. POSTHASTE_ONLY_STANDARD leaves them out.
 */
#ifndef POSTHASTE_FORTRAN_H
#define POSTHASTE_FORTRAN_H

/* An INTEGER of Fortran. */
typedef int MPI_Fint;

/* Both ways for one kind of handle. */
#define POSTHASTE_FORTRAN_HANDLE(Type, Name)                                                            \
    POSTHASTE_INLINE Type MPI_##Name##_f2c(MPI_Fint number) { return MPI_##Name##_fromint(number); }    \
    POSTHASTE_INLINE MPI_Fint MPI_##Name##_c2f(Type handle) { return MPI_##Name##_toint(handle); }      \
    POSTHASTE_INLINE Type PMPI_##Name##_f2c(MPI_Fint number) { return PMPI_##Name##_fromint(number); }  \
    POSTHASTE_INLINE MPI_Fint PMPI_##Name##_c2f(Type handle) { return PMPI_##Name##_toint(handle); }

POSTHASTE_FORTRAN_HANDLE(MPI_Comm, Comm)
POSTHASTE_FORTRAN_HANDLE(MPI_Datatype, Type)
POSTHASTE_FORTRAN_HANDLE(MPI_Errhandler, Errhandler)
POSTHASTE_FORTRAN_HANDLE(MPI_File, File)
POSTHASTE_FORTRAN_HANDLE(MPI_Group, Group)
POSTHASTE_FORTRAN_HANDLE(MPI_Info, Info)
POSTHASTE_FORTRAN_HANDLE(MPI_Message, Message)
POSTHASTE_FORTRAN_HANDLE(MPI_Op, Op)
POSTHASTE_FORTRAN_HANDLE(MPI_Request, Request)
POSTHASTE_FORTRAN_HANDLE(MPI_Session, Session)
POSTHASTE_FORTRAN_HANDLE(MPI_Win, Win)

#undef POSTHASTE_FORTRAN_HANDLE

/* TYPE(MPI_Status) of the module mpi_f08. As an array of INTEGER a status has MPI_F_STATUS_SIZE elements, of which
 * MPI_F_SOURCE, MPI_F_TAG and MPI_F_ERROR are the places of the public ones. */
typedef struct {
    MPI_Fint MPI_SOURCE;
    MPI_Fint MPI_TAG;
    MPI_Fint MPI_ERROR;
    MPI_Fint MPI_internal[MPI_F_STATUS_SIZE - 3];
} MPI_F08_status;

/* Statuses that are ignored: variables of posthaste's library for Fortran, where that is linked; else what they are in C. */
#ifdef __GNUC__
extern MPI_Fint posthastempi_[] __attribute__((weak));
#define POSTHASTE_IGNORED(Type, at) ((Type *)(posthastempi_ ? posthastempi_ + (at) : (MPI_Fint *)0))
#else
#define POSTHASTE_IGNORED(Type, at) ((Type *)0)
#endif
#define MPI_F_STATUS_IGNORE     POSTHASTE_IGNORED(MPI_Fint, 6)
#define MPI_F_STATUSES_IGNORE   POSTHASTE_IGNORED(MPI_Fint, 14)
#define MPI_F08_STATUS_IGNORE   POSTHASTE_IGNORED(MPI_F08_status, 6)
#define MPI_F08_STATUSES_IGNORE POSTHASTE_IGNORED(MPI_F08_status, 14)

/* Whether a status is ignored, which is an error where it is converted (section 19.3.5). */
POSTHASTE_INLINE int posthaste_ignores(const void *f_status)
{
    return !f_status || f_status == MPI_F_STATUS_IGNORE || f_status == MPI_F_STATUSES_IGNORE;
}

/* Between C and an array of INTEGER. */
POSTHASTE_INLINE int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    int i;
    if (posthaste_ignores(f_status) || !c_status) return MPI_ERR_ARG;
    c_status->MPI_SOURCE = f_status[MPI_F_SOURCE];
    c_status->MPI_TAG = f_status[MPI_F_TAG];
    c_status->MPI_ERROR = f_status[MPI_F_ERROR];
    for (i = 3; i < MPI_F_STATUS_SIZE; i++) c_status->MPI_internal[i - 3] = f_status[i];
    return MPI_SUCCESS;
}

POSTHASTE_INLINE int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    int i;
    if (!c_status || posthaste_ignores(f_status)) return MPI_ERR_ARG;
    f_status[MPI_F_SOURCE] = c_status->MPI_SOURCE;
    f_status[MPI_F_TAG] = c_status->MPI_TAG;
    f_status[MPI_F_ERROR] = c_status->MPI_ERROR;
    for (i = 3; i < MPI_F_STATUS_SIZE; i++) f_status[i] = c_status->MPI_internal[i - 3];
    return MPI_SUCCESS;
}

/* Between C and TYPE(MPI_Status). */
POSTHASTE_INLINE int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    int i;
    if (posthaste_ignores(f08_status) || !c_status) return MPI_ERR_ARG;
    c_status->MPI_SOURCE = f08_status->MPI_SOURCE;
    c_status->MPI_TAG = f08_status->MPI_TAG;
    c_status->MPI_ERROR = f08_status->MPI_ERROR;
    for (i = 3; i < MPI_F_STATUS_SIZE; i++) c_status->MPI_internal[i - 3] = f08_status->MPI_internal[i - 3];
    return MPI_SUCCESS;
}

POSTHASTE_INLINE int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    int i;
    if (!c_status || posthaste_ignores(f08_status)) return MPI_ERR_ARG;
    f08_status->MPI_SOURCE = c_status->MPI_SOURCE;
    f08_status->MPI_TAG = c_status->MPI_TAG;
    f08_status->MPI_ERROR = c_status->MPI_ERROR;
    for (i = 3; i < MPI_F_STATUS_SIZE; i++) f08_status->MPI_internal[i - 3] = c_status->MPI_internal[i - 3];
    return MPI_SUCCESS;
}

/* Between the two forms of Fortran. */
POSTHASTE_INLINE int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    MPI_Status status;
    int code = MPI_Status_f2c(f_status, &status);
    return code == MPI_SUCCESS ? MPI_Status_c2f08(&status, f08_status) : code;
}

POSTHASTE_INLINE int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    MPI_Status status;
    int code = MPI_Status_f082c(f08_status, &status);
    return code == MPI_SUCCESS ? MPI_Status_c2f(&status, f_status) : code;
}

/* Their profiling names (section 15.2). */
#define PMPI_Status_f2c   MPI_Status_f2c
#define PMPI_Status_c2f   MPI_Status_c2f
#define PMPI_Status_f082c MPI_Status_f082c
#define PMPI_Status_c2f08 MPI_Status_c2f08
#define PMPI_Status_f2f08 MPI_Status_f2f08
#define PMPI_Status_f082f MPI_Status_f082f

#endif
