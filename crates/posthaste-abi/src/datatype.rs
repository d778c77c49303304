//! C functions for constructors and queries of datatypes (MPI-5.0 §5.1).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::{c_char, c_int};

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::{MPI_Aint, MPI_Count, MPI_Datatype};

// Constructors.
unsupported! {
    "5.1.2";
    fn MPI_Type_contiguous / PMPI_Type_contiguous(count: c_int, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>);
    fn MPI_Type_contiguous_c / PMPI_Type_contiguous_c(count: MPI_Count, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>);
    fn MPI_Type_vector / PMPI_Type_vector(count: c_int, blocklength: c_int, stride: c_int,
        oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
    fn MPI_Type_vector_c / PMPI_Type_vector_c(count: MPI_Count, blocklength: MPI_Count, stride: MPI_Count,
        oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_hvector / PMPI_Type_create_hvector(count: c_int, blocklength: c_int, stride: MPI_Aint,
        oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_hvector_c / PMPI_Type_create_hvector_c(count: MPI_Count, blocklength: MPI_Count,
        stride: MPI_Count, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
    fn MPI_Type_indexed / PMPI_Type_indexed(count: c_int, array_of_blocklengths: In<c_int>,
        array_of_displacements: In<c_int>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
    fn MPI_Type_indexed_c / PMPI_Type_indexed_c(count: MPI_Count, array_of_blocklengths: In<MPI_Count>,
        array_of_displacements: In<MPI_Count>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_hindexed / PMPI_Type_create_hindexed(count: c_int, array_of_blocklengths: In<c_int>,
        array_of_displacements: In<MPI_Aint>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_hindexed_c / PMPI_Type_create_hindexed_c(count: MPI_Count,
        array_of_blocklengths: In<MPI_Count>, array_of_displacements: In<MPI_Count>, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_indexed_block / PMPI_Type_create_indexed_block(count: c_int, blocklength: c_int,
        array_of_displacements: In<c_int>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_indexed_block_c / PMPI_Type_create_indexed_block_c(count: MPI_Count,
        blocklength: MPI_Count, array_of_displacements: In<MPI_Count>, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_hindexed_block / PMPI_Type_create_hindexed_block(count: c_int, blocklength: c_int,
        array_of_displacements: In<MPI_Aint>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_hindexed_block_c / PMPI_Type_create_hindexed_block_c(count: MPI_Count,
        blocklength: MPI_Count, array_of_displacements: In<MPI_Count>, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_struct / PMPI_Type_create_struct(count: c_int, array_of_blocklengths: In<c_int>,
        array_of_displacements: In<MPI_Aint>, array_of_types: In<MPI_Datatype>, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_struct_c / PMPI_Type_create_struct_c(count: MPI_Count,
        array_of_blocklengths: In<MPI_Count>, array_of_displacements: In<MPI_Count>,
        array_of_types: In<MPI_Datatype>, newtype: Out<MPI_Datatype>);
}

// Arrays.
unsupported! {
    "5.1.3";
    fn MPI_Type_create_subarray / PMPI_Type_create_subarray(ndims: c_int, array_of_sizes: In<c_int>,
        array_of_subsizes: In<c_int>, array_of_starts: In<c_int>, order: c_int, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_subarray_c / PMPI_Type_create_subarray_c(ndims: c_int, array_of_sizes: In<MPI_Count>,
        array_of_subsizes: In<MPI_Count>, array_of_starts: In<MPI_Count>, order: c_int, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_darray / PMPI_Type_create_darray(size: c_int, rank: c_int, ndims: c_int,
        array_of_gsizes: In<c_int>, array_of_distribs: In<c_int>, array_of_dargs: In<c_int>,
        array_of_psizes: In<c_int>, order: c_int, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_darray_c / PMPI_Type_create_darray_c(size: c_int, rank: c_int, ndims: c_int,
        array_of_gsizes: In<MPI_Count>, array_of_distribs: In<c_int>, array_of_dargs: In<c_int>,
        array_of_psizes: In<c_int>, order: c_int, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
}

// Extent and bounds.
unsupported! {
    "5.1.7";
    fn MPI_Type_create_resized / PMPI_Type_create_resized(oldtype: MPI_Datatype, lb: MPI_Aint,
        extent: MPI_Aint, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_resized_c / PMPI_Type_create_resized_c(oldtype: MPI_Datatype, lb: MPI_Count,
        extent: MPI_Count, newtype: Out<MPI_Datatype>);
    fn MPI_Type_get_extent / PMPI_Type_get_extent(datatype: MPI_Datatype, lb: Out<MPI_Aint>,
        extent: Out<MPI_Aint>);
    fn MPI_Type_get_extent_c / PMPI_Type_get_extent_c(datatype: MPI_Datatype, lb: Out<MPI_Count>,
        extent: Out<MPI_Count>);
    fn MPI_Type_get_extent_x / PMPI_Type_get_extent_x(datatype: MPI_Datatype, lb: Out<MPI_Count>,
        extent: Out<MPI_Count>);
    fn MPI_Type_get_true_extent / PMPI_Type_get_true_extent(datatype: MPI_Datatype, true_lb: Out<MPI_Aint>,
        true_extent: Out<MPI_Aint>);
    fn MPI_Type_get_true_extent_c / PMPI_Type_get_true_extent_c(datatype: MPI_Datatype,
        true_lb: Out<MPI_Count>, true_extent: Out<MPI_Count>);
    fn MPI_Type_get_true_extent_x / PMPI_Type_get_true_extent_x(datatype: MPI_Datatype,
        true_lb: Out<MPI_Count>, true_extent: Out<MPI_Count>);
    fn MPI_Type_size / PMPI_Type_size(datatype: MPI_Datatype, size: Out<c_int>);
    fn MPI_Type_size_c / PMPI_Type_size_c(datatype: MPI_Datatype, size: Out<MPI_Count>);
    fn MPI_Type_size_x / PMPI_Type_size_x(datatype: MPI_Datatype, size: Out<MPI_Count>);
}

// Commit, free, duplicate.
unsupported! {
    "5.1.9";
    fn MPI_Type_commit / PMPI_Type_commit(datatype: Out<MPI_Datatype>);
    fn MPI_Type_free / PMPI_Type_free(datatype: Out<MPI_Datatype>);
    fn MPI_Type_dup / PMPI_Type_dup(oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>);
}

// Decoding.
unsupported! {
    "5.1.13";
    fn MPI_Type_get_envelope / PMPI_Type_get_envelope(datatype: MPI_Datatype, num_integers: Out<c_int>,
        num_addresses: Out<c_int>, num_datatypes: Out<c_int>, combiner: Out<c_int>);
    fn MPI_Type_get_envelope_c / PMPI_Type_get_envelope_c(datatype: MPI_Datatype,
        num_integers: Out<MPI_Count>, num_addresses: Out<MPI_Count>, num_large_counts: Out<MPI_Count>,
        num_datatypes: Out<MPI_Count>, combiner: Out<c_int>);
    fn MPI_Type_get_contents / PMPI_Type_get_contents(datatype: MPI_Datatype, max_integers: c_int,
        max_addresses: c_int, max_datatypes: c_int, array_of_integers: Out<c_int>,
        array_of_addresses: Out<MPI_Aint>, array_of_datatypes: Out<MPI_Datatype>);
    fn MPI_Type_get_contents_c / PMPI_Type_get_contents_c(datatype: MPI_Datatype, max_integers: MPI_Count,
        max_addresses: MPI_Count, max_large_counts: MPI_Count, max_datatypes: MPI_Count,
        array_of_integers: Out<c_int>, array_of_addresses: Out<MPI_Aint>,
        array_of_large_counts: Out<MPI_Count>, array_of_datatypes: Out<MPI_Datatype>);
}

// Names.
unsupported! {
    "7.8";
    fn MPI_Type_set_name / PMPI_Type_set_name(datatype: MPI_Datatype, type_name: In<c_char>);
    fn MPI_Type_get_name / PMPI_Type_get_name(datatype: MPI_Datatype, type_name: Out<c_char>,
        resultlen: Out<c_int>);
}

// Types by size and value.
unsupported! {
    "19.1";
    fn MPI_Type_match_size / PMPI_Type_match_size(typeclass: c_int, size: c_int, datatype: Out<MPI_Datatype>);
    fn MPI_Type_get_value_index / PMPI_Type_get_value_index(value_type: MPI_Datatype,
        index_type: MPI_Datatype, pair_type: Out<MPI_Datatype>);
    fn MPI_Type_create_f90_integer / PMPI_Type_create_f90_integer(r: c_int, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_f90_real / PMPI_Type_create_f90_real(p: c_int, r: c_int, newtype: Out<MPI_Datatype>);
    fn MPI_Type_create_f90_complex / PMPI_Type_create_f90_complex(p: c_int, r: c_int,
        newtype: Out<MPI_Datatype>);
}
