/* posthaste_removed.h: names that MPI-3.0 removed (MPI-5.0 chapter 17), for programs written before.
 *
 * Included by mpi.h. Each is an inline function over what replaced it, and the compiler warns of it by the replacement's
 * name (-Wno-deprecated-declarations silences that). None is a symbol of the library. POSTHASTE_ONLY_STANDARD leaves
 * them out. Names that are deprecated and not removed, such as MPI_Attr_put, are in mpi.h itself.
 */
#ifndef POSTHASTE_REMOVED_H
#define POSTHASTE_REMOVED_H

#if defined(__GNUC__)
#define POSTHASTE_REPLACED_BY(name) __attribute__((deprecated("removed in MPI-3.0; use " name)))
#else
#define POSTHASTE_REPLACED_BY(name)
#endif

/* Addresses and datatypes. */
POSTHASTE_REPLACED_BY("MPI_Get_address")
POSTHASTE_INLINE int MPI_Address(const void *location, MPI_Aint *address)
{
    return MPI_Get_address(location, address);
}

POSTHASTE_REPLACED_BY("MPI_Type_create_hindexed")
POSTHASTE_INLINE int MPI_Type_hindexed(int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return MPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}

POSTHASTE_REPLACED_BY("MPI_Type_create_hvector")
POSTHASTE_INLINE int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
    MPI_Datatype *newtype)
{
    return MPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

POSTHASTE_REPLACED_BY("MPI_Type_create_struct")
POSTHASTE_INLINE int MPI_Type_struct(int count, const int array_of_blocklengths[],
    const MPI_Aint array_of_displacements[], const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    return MPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}

POSTHASTE_REPLACED_BY("MPI_Type_get_extent")
POSTHASTE_INLINE int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return MPI_Type_get_extent(datatype, &lb, extent);
}

POSTHASTE_REPLACED_BY("MPI_Type_get_extent")
POSTHASTE_INLINE int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return MPI_Type_get_extent(datatype, displacement, &extent);
}

POSTHASTE_REPLACED_BY("MPI_Type_get_extent")
POSTHASTE_INLINE int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lb = 0, extent = 0;
    int code = MPI_Type_get_extent(datatype, displacement ? &lb : displacement, &extent);
    if (code == MPI_SUCCESS) *displacement = lb + extent;
    return code;
}

/* Error handlers. */
typedef MPI_Comm_errhandler_function MPI_Handler_function
    POSTHASTE_REPLACED_BY("MPI_Comm_errhandler_function");

POSTHASTE_REPLACED_BY("MPI_Comm_create_errhandler")
POSTHASTE_INLINE int MPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)
{
    return MPI_Comm_create_errhandler(function, errhandler);
}

POSTHASTE_REPLACED_BY("MPI_Comm_set_errhandler")
POSTHASTE_INLINE int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return MPI_Comm_set_errhandler(comm, errhandler);
}

POSTHASTE_REPLACED_BY("MPI_Comm_get_errhandler")
POSTHASTE_INLINE int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return MPI_Comm_get_errhandler(comm, errhandler);
}

/* Entries of MPI_Type_struct that say where a structure begins and ends. Only posthaste's MPI_Type_create_struct knows
 * these numbers, which are outside of the standard ABI; with POSTHASTE_STRICT=1 it refuses them.
 * And combiners of constructors that only Fortran had: no type has them. */
#if defined(__GNUC__) && __GNUC__ >= 6 || defined(__clang__)
#define POSTHASTE_NUMBER(name, value, replacement) name POSTHASTE_REPLACED_BY(replacement) = value
#else
#define POSTHASTE_NUMBER(name, value, replacement) name = value
#endif
enum {
    POSTHASTE_NUMBER(posthaste_lb, 0xf01, "MPI_Type_create_resized"),
    POSTHASTE_NUMBER(posthaste_ub, 0xf02, "MPI_Type_create_resized"),
    POSTHASTE_NUMBER(posthaste_combiner_hvector_integer, -105, "MPI_COMBINER_HVECTOR"),
    POSTHASTE_NUMBER(posthaste_combiner_hindexed_integer, -107, "MPI_COMBINER_HINDEXED"),
    POSTHASTE_NUMBER(posthaste_combiner_struct_integer, -110, "MPI_COMBINER_STRUCT")
};
#define MPI_LB                        ((MPI_Datatype)posthaste_lb)
#define MPI_UB                        ((MPI_Datatype)posthaste_ub)
#define MPI_COMBINER_HVECTOR_INTEGER  posthaste_combiner_hvector_integer
#define MPI_COMBINER_HINDEXED_INTEGER posthaste_combiner_hindexed_integer
#define MPI_COMBINER_STRUCT_INTEGER   posthaste_combiner_struct_integer

#undef POSTHASTE_NUMBER
#undef POSTHASTE_REPLACED_BY
#endif
