/* mpi.h of the face of the tests: what a program sees of its types. Its constants, the callbacks and the functions stand
 * in face.h, which the part `face` of `cargo xtask test` makes of tests/face/src/abi/constants.rs and the tables in
 * crates/posthaste-abi/abi. */
#ifndef MPI_H_INCLUDED
#define MPI_H_INCLUDED

#include <stdint.h>

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Offset;
typedef int64_t MPI_Count;

typedef struct MPI_Status {
    int count_lo;
    int count_hi_and_cancelled;
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
} MPI_Status;

typedef int MPI_Op;
typedef int MPI_Comm;
typedef int MPI_Group;
typedef int MPI_Win;
typedef int MPI_File;
typedef int MPI_Session;
typedef int MPI_Message;
typedef int MPI_Info;
typedef int MPI_Errhandler;
typedef int MPI_Request;
typedef int MPI_Datatype;
typedef int MPI_T_enum;
typedef int MPI_T_cvar_handle;
typedef int MPI_T_pvar_handle;
typedef int MPI_T_pvar_session;
typedef int MPI_T_event_registration;
typedef int MPI_T_event_instance;
typedef int MPI_T_cb_safety;
typedef int MPI_T_source_order;

#include "face.h"

#endif
