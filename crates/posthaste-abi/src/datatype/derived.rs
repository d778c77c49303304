//! C functions for constructors and queries of datatypes (MPI-5.0 §5.1).
//!
//! What must stay true: a type that was freed lives on in the types built from it and in the messages that use it,
//! because those hold counted references.

use std::collections::HashMap;
use std::ffi::{c_char, c_int};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use posthaste_core::datatype::{Combiner, Datatype, Dimension, Distribution, Order, TypeClass};
use posthaste_core::error::{Error, ErrorClass, Result, say};

use crate::abi::constants::{
    MPI_DATATYPE_NULL, MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE, MPI_LB,
    MPI_MAX_OBJECT_NAME, MPI_ORDER_C, MPI_ORDER_FORTRAN, MPI_TYPECLASS_COMPLEX, MPI_TYPECLASS_INTEGER,
    MPI_TYPECLASS_REAL, MPI_UB, MPI_UNDEFINED, MPIX_TYPECLASS_LOGICAL,
};
use crate::abi::pointer::{In, Number, Out, Plain};
use crate::abi::types::{MPI_Aint, MPI_Count, MPI_Datatype};
use crate::call::mpi_fn;
use crate::layer::library::library;
use crate::mapping::types;
use crate::object::attribute::{copy_all_of_type, delete_all_of_type};
use crate::object::datatype::{find, handle_for, remove, store};
use crate::object::memory::{count as checked_count, length};
use crate::object::object_name;
use crate::object::site::Site;

// Constructors.
mpi_fn! {
    /// MPI-5.0 §5.1.2
    fn MPI_Type_contiguous / PMPI_Type_contiguous(count: c_int, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>) raises Site::Process => {
        build(newtype, false, Datatype::contiguous(count.into(), &find("oldtype", oldtype)?))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_vector / PMPI_Type_vector(count: c_int, blocklength: c_int, stride: c_int,
        oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>) raises Site::Process => {
        let oldtype = find("oldtype", oldtype)?;
        build(newtype, false, Datatype::vector(count.into(), blocklength.into(), stride.into(), &oldtype))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_create_hvector / PMPI_Type_create_hvector(count: c_int, blocklength: c_int, stride: MPI_Aint,
        oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>) raises Site::Process => {
        let oldtype = find("oldtype", oldtype)?;
        build(newtype, false, Datatype::hvector(count.into(), blocklength.into(), stride as i64, &oldtype))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_indexed / PMPI_Type_indexed(count: c_int, array_of_blocklengths: In<c_int>,
        array_of_displacements: In<c_int>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let lengths = numbers("array_of_blocklengths", array_of_blocklengths, count.into())?;
        let displacements = numbers("array_of_displacements", array_of_displacements, count.into())?;
        build(newtype, false, Datatype::indexed(&lengths, &displacements, &find("oldtype", oldtype)?))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_create_hindexed / PMPI_Type_create_hindexed(count: c_int, array_of_blocklengths: In<c_int>,
        array_of_displacements: In<MPI_Aint>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let lengths = numbers("array_of_blocklengths", array_of_blocklengths, count.into())?;
        let displacements = numbers("array_of_displacements", array_of_displacements, count.into())?;
        build(newtype, false, Datatype::hindexed(&lengths, &displacements, &find("oldtype", oldtype)?))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_create_indexed_block / PMPI_Type_create_indexed_block(count: c_int, blocklength: c_int,
        array_of_displacements: In<c_int>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let displacements = numbers("array_of_displacements", array_of_displacements, count.into())?;
        let oldtype = find("oldtype", oldtype)?;
        build(newtype, false, Datatype::indexed_block(blocklength.into(), &displacements, &oldtype))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_create_hindexed_block / PMPI_Type_create_hindexed_block(count: c_int, blocklength: c_int,
        array_of_displacements: In<MPI_Aint>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let displacements = numbers("array_of_displacements", array_of_displacements, count.into())?;
        let oldtype = find("oldtype", oldtype)?;
        build(newtype, false, Datatype::hindexed_block(blocklength.into(), &displacements, &oldtype))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_create_struct / PMPI_Type_create_struct(count: c_int, array_of_blocklengths: In<c_int>,
        array_of_displacements: In<MPI_Aint>, array_of_types: In<MPI_Datatype>, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let lengths = numbers("array_of_blocklengths", array_of_blocklengths, count.into())?;
        let displacements = numbers("array_of_displacements", array_of_displacements, count.into())?;
        let types = array_of_types.slice("array_of_types", lengths.len())?;
        build(newtype, false, structure(&lengths, &displacements, types))
    }
    /// MPI-5.0 §5.1.3
    fn MPI_Type_create_subarray / PMPI_Type_create_subarray(ndims: c_int, array_of_sizes: In<c_int>,
        array_of_subsizes: In<c_int>, array_of_starts: In<c_int>, order: c_int, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>) raises Site::Process => {
        let sizes = dimensions("array_of_sizes", array_of_sizes, ndims)?;
        let subsizes = dimensions("array_of_subsizes", array_of_subsizes, ndims)?;
        let starts = dimensions("array_of_starts", array_of_starts, ndims)?;
        let oldtype = find("oldtype", oldtype)?;
        build(newtype, false, Datatype::subarray(&sizes, &subsizes, &starts, memory_order(order)?, &oldtype))
    }
    /// MPI-5.0 §5.1.7
    fn MPI_Type_create_resized / PMPI_Type_create_resized(oldtype: MPI_Datatype, lb: MPI_Aint,
        extent: MPI_Aint, newtype: Out<MPI_Datatype>) raises Site::Process => {
        build(newtype, false, Datatype::resized(&find("oldtype", oldtype)?, lb as i64, extent as i64))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_contiguous_c / PMPI_Type_contiguous_c(count: MPI_Count, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>) raises Site::Process => {
        build(newtype, true, Datatype::contiguous(count, &find("oldtype", oldtype)?))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_vector_c / PMPI_Type_vector_c(count: MPI_Count, blocklength: MPI_Count, stride: MPI_Count,
        oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>) raises Site::Process => {
        let oldtype = find("oldtype", oldtype)?;
        build(newtype, true, Datatype::vector(count, blocklength, stride, &oldtype))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_create_hvector_c / PMPI_Type_create_hvector_c(count: MPI_Count, blocklength: MPI_Count, stride: MPI_Count,
        oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>) raises Site::Process => {
        let oldtype = find("oldtype", oldtype)?;
        build(newtype, true, Datatype::hvector(count, blocklength, stride, &oldtype))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_indexed_c / PMPI_Type_indexed_c(count: MPI_Count, array_of_blocklengths: In<MPI_Count>,
        array_of_displacements: In<MPI_Count>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let lengths = numbers("array_of_blocklengths", array_of_blocklengths, count)?;
        let displacements = numbers("array_of_displacements", array_of_displacements, count)?;
        build(newtype, true, Datatype::indexed(&lengths, &displacements, &find("oldtype", oldtype)?))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_create_hindexed_c / PMPI_Type_create_hindexed_c(count: MPI_Count, array_of_blocklengths: In<MPI_Count>,
        array_of_displacements: In<MPI_Count>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let lengths = numbers("array_of_blocklengths", array_of_blocklengths, count)?;
        let displacements = numbers("array_of_displacements", array_of_displacements, count)?;
        build(newtype, true, Datatype::hindexed(&lengths, &displacements, &find("oldtype", oldtype)?))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_create_indexed_block_c / PMPI_Type_create_indexed_block_c(count: MPI_Count, blocklength: MPI_Count,
        array_of_displacements: In<MPI_Count>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let displacements = numbers("array_of_displacements", array_of_displacements, count)?;
        let oldtype = find("oldtype", oldtype)?;
        build(newtype, true, Datatype::indexed_block(blocklength, &displacements, &oldtype))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_create_hindexed_block_c / PMPI_Type_create_hindexed_block_c(count: MPI_Count, blocklength: MPI_Count,
        array_of_displacements: In<MPI_Count>, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let displacements = numbers("array_of_displacements", array_of_displacements, count)?;
        let oldtype = find("oldtype", oldtype)?;
        build(newtype, true, Datatype::hindexed_block(blocklength, &displacements, &oldtype))
    }
    /// MPI-5.0 §5.1.2
    fn MPI_Type_create_struct_c / PMPI_Type_create_struct_c(count: MPI_Count, array_of_blocklengths: In<MPI_Count>,
        array_of_displacements: In<MPI_Count>, array_of_types: In<MPI_Datatype>, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let lengths = numbers("array_of_blocklengths", array_of_blocklengths, count)?;
        let displacements = numbers("array_of_displacements", array_of_displacements, count)?;
        let types = array_of_types.slice("array_of_types", lengths.len())?;
        build(newtype, true, structure(&lengths, &displacements, types))
    }
    /// MPI-5.0 §5.1.3
    fn MPI_Type_create_subarray_c / PMPI_Type_create_subarray_c(ndims: c_int, array_of_sizes: In<MPI_Count>,
        array_of_subsizes: In<MPI_Count>, array_of_starts: In<MPI_Count>, order: c_int, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>) raises Site::Process => {
        let sizes = dimensions("array_of_sizes", array_of_sizes, ndims)?;
        let subsizes = dimensions("array_of_subsizes", array_of_subsizes, ndims)?;
        let starts = dimensions("array_of_starts", array_of_starts, ndims)?;
        let oldtype = find("oldtype", oldtype)?;
        build(newtype, true, Datatype::subarray(&sizes, &subsizes, &starts, memory_order(order)?, &oldtype))
    }
    /// MPI-5.0 §5.1.7
    fn MPI_Type_create_resized_c / PMPI_Type_create_resized_c(oldtype: MPI_Datatype, lb: MPI_Count,
        extent: MPI_Count, newtype: Out<MPI_Datatype>) raises Site::Process => {
        build(newtype, true, Datatype::resized(&find("oldtype", oldtype)?, lb, extent))
    }
}

// Distributed arrays.
mpi_fn! {
    /// MPI-5.0 §5.1.4
    fn MPI_Type_create_darray / PMPI_Type_create_darray(size: c_int, rank: c_int, ndims: c_int,
        array_of_gsizes: In<c_int>, array_of_distribs: In<c_int>, array_of_dargs: In<c_int>,
        array_of_psizes: In<c_int>, order: c_int, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let sizes = dimensions("array_of_gsizes", array_of_gsizes, ndims)?;
        let grid = grid(&sizes, array_of_distribs, array_of_dargs, array_of_psizes)?;
        let (order, oldtype) = (memory_order(order)?, find("oldtype", oldtype)?);
        build(newtype, false, Datatype::darray(size.into(), rank.into(), &grid, order, &oldtype))
    }
    /// MPI-5.0 §5.1.4
    fn MPI_Type_create_darray_c / PMPI_Type_create_darray_c(size: c_int, rank: c_int, ndims: c_int,
        array_of_gsizes: In<MPI_Count>, array_of_distribs: In<c_int>, array_of_dargs: In<c_int>,
        array_of_psizes: In<c_int>, order: c_int, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        let sizes = dimensions("array_of_gsizes", array_of_gsizes, ndims)?;
        let grid = grid(&sizes, array_of_distribs, array_of_dargs, array_of_psizes)?;
        let (order, oldtype) = (memory_order(order)?, find("oldtype", oldtype)?);
        build(newtype, true, Datatype::darray(size.into(), rank.into(), &grid, order, &oldtype))
    }
}

// Commit, free, duplicate.
mpi_fn! {
    /// MPI-5.0 §5.1.9
    fn MPI_Type_commit / PMPI_Type_commit(datatype: Out<MPI_Datatype>) raises Site::Process => {
        let found = find("datatype", datatype.get("datatype")?)?;
        let world = &library().world;
        if found.commit() && world.shows_types() {
            say(format_args!("rank {} commits {found}", world.rank()));
        }
        Ok(())
    }
    /// MPI-5.0 §5.1.9
    fn MPI_Type_free / PMPI_Type_free(datatype: Out<MPI_Datatype>) raises Site::Process => {
        let handle = datatype.get("datatype")?;
        let found = find("datatype", handle)?;
        if found.is_predefined() {
            let got = format_args!("the predefined {found:?}");
            return Err(Error::invalid(ErrorClass::Type, "datatype", got, "a type made by the program"));
        }
        delete_all_of_type(handle)?;
        remove("datatype", handle)?;
        datatype.set("datatype", MPI_DATATYPE_NULL)
    }
    /// MPI-5.0 §5.1.10
    fn MPI_Type_dup / PMPI_Type_dup(oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        newtype.set("newtype", MPI_DATATYPE_NULL)?;
        let made = store(Datatype::dup(&find("oldtype", oldtype)?)?)?;
        if let Err(error) = copy_all_of_type(oldtype, made) {
            let _ = remove("newtype", made);
            return Err(error);
        }
        newtype.set("newtype", made)
    }
}

// Extent, bounds, size.
mpi_fn! {
    /// MPI-5.0 §5.1.7
    fn MPI_Type_get_extent / PMPI_Type_get_extent(datatype: MPI_Datatype, lb: Out<MPI_Aint>,
        extent: Out<MPI_Aint>) raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        lb.set("lb", datatype.lb() as MPI_Aint)?;
        extent.set("extent", datatype.extent() as MPI_Aint)
    }
    /// MPI-5.0 §5.1.8
    fn MPI_Type_get_true_extent / PMPI_Type_get_true_extent(datatype: MPI_Datatype, true_lb: Out<MPI_Aint>,
        true_extent: Out<MPI_Aint>) raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        true_lb.set("true_lb", datatype.true_lb() as MPI_Aint)?;
        true_extent.set("true_extent", datatype.true_extent() as MPI_Aint)
    }
    /// MPI-5.0 §5.1.7
    fn MPI_Type_get_extent_c / PMPI_Type_get_extent_c(datatype: MPI_Datatype, lb: Out<MPI_Count>,
        extent: Out<MPI_Count>) raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        lb.set("lb", datatype.lb())?;
        extent.set("extent", datatype.extent())
    }
    /// MPI-5.0 §5.1.8
    fn MPI_Type_get_true_extent_c / PMPI_Type_get_true_extent_c(datatype: MPI_Datatype,
        true_lb: Out<MPI_Count>, true_extent: Out<MPI_Count>) raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        true_lb.set("true_lb", datatype.true_lb())?;
        true_extent.set("true_extent", datatype.true_extent())
    }
    /// MPI-5.0 §5.1.5
    fn MPI_Type_size_c / PMPI_Type_size_c(datatype: MPI_Datatype, size: Out<MPI_Count>)
        raises Site::Process => {
        size.set("size", find("datatype", datatype)?.size() as MPI_Count)
    }
    /// MPI-5.0 §5.1.7
    fn MPI_Type_get_extent_x / PMPI_Type_get_extent_x(datatype: MPI_Datatype, lb: Out<MPI_Count>,
        extent: Out<MPI_Count>) raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        lb.set("lb", datatype.lb())?;
        extent.set("extent", datatype.extent())
    }
    /// MPI-5.0 §5.1.8
    fn MPI_Type_get_true_extent_x / PMPI_Type_get_true_extent_x(datatype: MPI_Datatype,
        true_lb: Out<MPI_Count>, true_extent: Out<MPI_Count>) raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        true_lb.set("true_lb", datatype.true_lb())?;
        true_extent.set("true_extent", datatype.true_extent())
    }
    /// MPI-5.0 §5.1.5
    fn MPI_Type_size_x / PMPI_Type_size_x(datatype: MPI_Datatype, size: Out<MPI_Count>)
        raises Site::Process => {
        size.set("size", find("datatype", datatype)?.size() as MPI_Count)
    }
    /// MPI-5.0 §5.1.5. A size that does not fit is `MPI_UNDEFINED`.
    fn MPI_Type_size / PMPI_Type_size(datatype: MPI_Datatype, size: Out<c_int>) raises Site::Process => {
        let bytes = find("datatype", datatype)?.size();
        size.set("size", c_int::try_from(bytes).unwrap_or(MPI_UNDEFINED))
    }
}

// Decoding.
mpi_fn! {
    /// MPI-5.0 §5.1.13
    fn MPI_Type_get_envelope / PMPI_Type_get_envelope(datatype: MPI_Datatype, num_integers: Out<c_int>,
        num_addresses: Out<c_int>, num_datatypes: Out<c_int>, combiner: Out<c_int>) raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        let (ints, aints, counts, types) = datatype.contents().map_or((0, 0, 0, 0), |c| c.envelope());
        if counts > 0 {
            return Err(large_counts(&datatype));
        }
        num_integers.set("num_integers", ints as c_int)?;
        num_addresses.set("num_addresses", aints as c_int)?;
        num_datatypes.set("num_datatypes", types as c_int)?;
        combiner.set("combiner", types::combiner(&datatype))
    }
    /// MPI-5.0 §5.1.13
    fn MPI_Type_get_envelope_c / PMPI_Type_get_envelope_c(datatype: MPI_Datatype,
        num_integers: Out<MPI_Count>, num_addresses: Out<MPI_Count>, num_large_counts: Out<MPI_Count>,
        num_datatypes: Out<MPI_Count>, combiner: Out<c_int>) raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        let (ints, aints, counts, types) = datatype.contents().map_or((0, 0, 0, 0), |c| c.envelope());
        num_integers.set("num_integers", ints as MPI_Count)?;
        num_addresses.set("num_addresses", aints as MPI_Count)?;
        num_large_counts.set("num_large_counts", counts as MPI_Count)?;
        num_datatypes.set("num_datatypes", types as MPI_Count)?;
        combiner.set("combiner", types::combiner(&datatype))
    }
    /// MPI-5.0 §5.1.13
    fn MPI_Type_get_contents / PMPI_Type_get_contents(datatype: MPI_Datatype, max_integers: c_int,
        max_addresses: c_int, max_datatypes: c_int, array_of_integers: Out<c_int>,
        array_of_addresses: Out<MPI_Aint>, array_of_datatypes: Out<MPI_Datatype>) raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        if datatype.contents().is_some_and(|c| c.envelope().2 > 0) {
            return Err(large_counts(&datatype));
        }
        let rooms = [max_integers.into(), max_addresses.into(), 0, max_datatypes.into()];
        let no_counts = Out::at(std::ptr::null_mut());
        unfold(&datatype, rooms, array_of_integers, array_of_addresses, no_counts, array_of_datatypes)
    }
    /// MPI-5.0 §5.1.13
    fn MPI_Type_get_contents_c / PMPI_Type_get_contents_c(datatype: MPI_Datatype, max_integers: MPI_Count,
        max_addresses: MPI_Count, max_large_counts: MPI_Count, max_datatypes: MPI_Count,
        array_of_integers: Out<c_int>, array_of_addresses: Out<MPI_Aint>,
        array_of_large_counts: Out<MPI_Count>, array_of_datatypes: Out<MPI_Datatype>)
        raises Site::Process => {
        let datatype = find("datatype", datatype)?;
        let rooms = [max_integers, max_addresses, max_large_counts, max_datatypes];
        unfold(&datatype, rooms, array_of_integers, array_of_addresses, array_of_large_counts, array_of_datatypes)
    }
}

// Names.
mpi_fn! {
    /// MPI-5.0 §7.8
    fn MPI_Type_set_name / PMPI_Type_set_name(datatype: MPI_Datatype, type_name: In<c_char>)
        raises Site::Process => {
        let name = object_name("type_name", type_name)?;
        let found = find("datatype", datatype)?;
        if found.builtin().is_some() {
            renamed().insert(datatype.number(), name);
            return Ok(());
        }
        found.set_name(&name)
    }
    /// MPI-5.0 §7.8
    fn MPI_Type_get_name / PMPI_Type_get_name(datatype: MPI_Datatype, type_name: Out<c_char>,
        resultlen: Out<c_int>) raises Site::Process => {
        let name = if datatype == MPI_DATATYPE_NULL {
            "MPI_DATATYPE_NULL".to_string()
        } else {
            let found = find("datatype", datatype)?;
            renamed().get(&datatype.number()).cloned().unwrap_or_else(|| found.name())
        };
        resultlen.set("resultlen", type_name.set_text("type_name", &name, MPI_MAX_OBJECT_NAME as usize)?)
    }
}

// Types by size.
mpi_fn! {
    /// MPI-5.0 §19.1.6
    fn MPI_Type_match_size / PMPI_Type_match_size(typeclass: c_int, size: c_int, datatype: Out<MPI_Datatype>)
        raises Site::Process => {
        let class = match typeclass {
            MPI_TYPECLASS_INTEGER => TypeClass::Integer,
            MPI_TYPECLASS_REAL => TypeClass::Real,
            MPI_TYPECLASS_COMPLEX => TypeClass::Complex,
            MPIX_TYPECLASS_LOGICAL => TypeClass::Logical,
            _ => {
                let expected = "MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL or MPI_TYPECLASS_COMPLEX";
                return Err(Error::invalid(ErrorClass::Arg, "typeclass", typeclass, expected));
            }
        };
        datatype.set("datatype", handle_for(&Datatype::match_size(class, size.into())?)?.0)
    }
    /// MPI-5.0 §6.9.4
    fn MPI_Type_get_value_index / PMPI_Type_get_value_index(value_type: MPI_Datatype,
        index_type: MPI_Datatype, pair_type: Out<MPI_Datatype>) raises Site::Process => {
        let value = find("value_type", value_type)?;
        let index = find("index_type", index_type)?;
        pair_type.set("pair_type", MPI_DATATYPE_NULL)?;
        match Datatype::value_index(&value, &index)? {
            Some(pair) => pair_type.set("pair_type", unfreed(pair)?),
            None => Ok(()),
        }
    }
}

// Fortran types by precision and range.
mpi_fn! {
    /// MPI-5.0 §19.1.5
    fn MPI_Type_create_f90_integer / PMPI_Type_create_f90_integer(r: c_int, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        fortran_kind(newtype, Datatype::f90_integer(r.into()))
    }
    /// MPI-5.0 §19.1.5
    fn MPI_Type_create_f90_real / PMPI_Type_create_f90_real(p: c_int, r: c_int, newtype: Out<MPI_Datatype>)
        raises Site::Process => {
        fortran_kind(newtype, Datatype::f90_real(types::digits(p), types::digits(r)))
    }
    /// MPI-5.0 §19.1.5
    fn MPI_Type_create_f90_complex / PMPI_Type_create_f90_complex(p: c_int, r: c_int,
        newtype: Out<MPI_Datatype>) raises Site::Process => {
        fortran_kind(newtype, Datatype::f90_complex(types::digits(p), types::digits(r)))
    }
}

/// Names that the program gave to predefined types, by handle.
fn renamed() -> MutexGuard<'static, HashMap<usize, String>> {
    static RENAMED: LazyLock<Mutex<HashMap<usize, String>>> = LazyLock::new(Mutex::default);
    RENAMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A structure. Where entries (`MPI_LB` and `MPI_UB`, which MPI-3.0 removed) mark bounds, it is resized to the outermost of them.
fn structure(lengths: &[i64], displacements: &[i64], types: &[MPI_Datatype]) -> Result<Datatype> {
    let is_marker = |one: &MPI_Datatype| *one == MPI_LB || *one == MPI_UB;
    if library().strict || !types.iter().any(is_marker) {
        let types: Vec<Datatype> =
            types.iter().map(|one| find("array_of_types", *one)).collect::<Result<_>>()?;
        return Datatype::structure(lengths, displacements, &types);
    }
    let mut data = (Vec::new(), Vec::new(), Vec::new());
    let (mut lowest, mut highest) = (None, None);
    for ((one, length), place) in types.iter().zip(lengths).zip(displacements) {
        match *one {
            MPI_LB | MPI_UB if *length == 0 => {}
            MPI_LB => lowest = Some(lowest.map_or(*place, |found: i64| found.min(*place))),
            MPI_UB => highest = Some(highest.map_or(*place, |found: i64| found.max(*place))),
            datatype => {
                data.0.push(*length);
                data.1.push(*place);
                data.2.push(find("array_of_types", datatype)?);
            }
        }
    }
    let within = Datatype::structure(&data.0, &data.1, &data.2)?;
    let lb = lowest.unwrap_or_else(|| within.lb());
    let ub = highest.unwrap_or_else(|| within.lb() + within.extent());
    Datatype::resized(&within, lb, ub.saturating_sub(lb))
}

/// Ends a constructor: stores the type and gives its handle to the program.
fn build(newtype: Out<MPI_Datatype>, large: bool, made: Result<Datatype>) -> Result<()> {
    newtype.set("newtype", MPI_DATATYPE_NULL)?;
    let made = if large { made?.from_large_counts() } else { made? };
    newtype.set("newtype", store(made)?)
}

/// Ends a constructor of a Fortran kind.
fn fortran_kind(newtype: Out<MPI_Datatype>, made: Result<Datatype>) -> Result<()> {
    newtype.set("newtype", MPI_DATATYPE_NULL)?;
    newtype.set("newtype", unfreed(made?)?)
}

/// The handle of a type that the library makes on demand and the program never frees: the same arguments give the
/// same handle for good (MPI-5.0 §6.9.4, §19.1.5).
fn unfreed(made: Datatype) -> Result<MPI_Datatype> {
    static MADE: Mutex<Vec<(Datatype, MPI_Datatype)>> = Mutex::new(Vec::new());
    let arguments = |datatype: &Datatype| {
        let contents = datatype.contents()?;
        let types: Vec<_> = contents.type_arguments().iter().map(Datatype::named).collect();
        Some((contents.combiner, contents.ints.clone(), types))
    };
    if let Some(named) = made.named() {
        return Ok(types::handle(named));
    }
    let mut all = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, handle)) = all.iter().find(|(known, _)| arguments(known) == arguments(&made)) {
        return Ok(*handle);
    }
    let handle = store(made.clone())?;
    all.push((made, handle));
    Ok(handle)
}

/// The dimensions of a distributed array.
fn grid(sizes: &[i64], distribs: In<c_int>, dargs: In<c_int>, psizes: In<c_int>) -> Result<Vec<Dimension>> {
    let distribs = distribs.slice("array_of_distribs", sizes.len())?;
    let dargs = dargs.slice("array_of_dargs", sizes.len())?;
    let psizes = psizes.slice("array_of_psizes", sizes.len())?;
    let dimension = |i: usize| {
        let distribution = match distribs[i] {
            MPI_DISTRIBUTE_NONE => Distribution::None,
            MPI_DISTRIBUTE_BLOCK => Distribution::Block,
            MPI_DISTRIBUTE_CYCLIC => Distribution::Cyclic,
            other => {
                let got = format_args!("{other} in dimension {i}");
                let expected = "MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK or MPI_DISTRIBUTE_CYCLIC";
                return Err(Error::invalid(ErrorClass::Arg, "array_of_distribs", got, expected));
            }
        };
        Ok(Dimension {
            size: sizes[i],
            distribution,
            darg: types::darg(dargs[i]),
            processes: psizes[i].into(),
        })
    };
    (0..sizes.len()).map(dimension).collect()
}

/// An array of `count` numbers, in the width of the engine.
fn numbers<T: Plain + Number>(argument: &'static str, array: In<T>, count: i64) -> Result<Vec<i64>> {
    let count = checked_count("count", count)?;
    Ok(array.slice(argument, count as usize)?.iter().map(|number| number.widen()).collect())
}

/// An array with a number for each dimension.
fn dimensions<T: Plain + Number>(argument: &'static str, array: In<T>, ndims: c_int) -> Result<Vec<i64>> {
    let ndims = length("ndims", ndims.into())?;
    Ok(array.slice(argument, ndims)?.iter().map(|number| number.widen()).collect())
}

fn memory_order(order: c_int) -> Result<Order> {
    match order {
        MPI_ORDER_C => Ok(Order::C),
        MPI_ORDER_FORTRAN => Ok(Order::Fortran),
        _ => Err(Error::invalid(ErrorClass::Arg, "order", order, "MPI_ORDER_C or MPI_ORDER_FORTRAN")),
    }
}

#[cold]
fn large_counts(datatype: &Datatype) -> Error {
    let expected = "a type built without large counts, or the function whose name ends in _c";
    Error::invalid(
        ErrorClass::Type,
        "datatype",
        format_args!("{datatype:?}, built with large counts"),
        expected,
    )
}

/// Stores what a type was built from.
fn unfold(
    datatype: &Datatype,
    rooms: [i64; 4],
    ints: Out<c_int>,
    aints: Out<MPI_Aint>,
    counts: Out<MPI_Count>,
    types: Out<MPI_Datatype>,
) -> Result<()> {
    let Some(contents) = datatype.contents().filter(|c| c.combiner != Combiner::Named) else {
        let got = format_args!("the predefined {}", datatype.name());
        return Err(Error::invalid(ErrorClass::Type, "datatype", got, "a derived type"));
    };
    let (many_ints, many_aints, many_counts, many_types) = contents.envelope();
    let needed = [
        ("max_integers", many_ints),
        ("max_addresses", many_aints),
        ("max_large_counts", many_counts),
        ("max_datatypes", many_types),
    ];
    for ((argument, need), room) in needed.into_iter().zip(rooms) {
        if room < need as i64 {
            return Err(Error::invalid(ErrorClass::Arg, argument, room, format_args!("{need} or more")));
        }
    }
    let (small, large) = contents.split_large();
    let small = types::integers(contents.combiner, small);
    if many_types > 0 {
        types.ready("array_of_datatypes")?;
    }
    for (at, value) in small.iter().enumerate() {
        ints.set_at("array_of_integers", at, *value as c_int)?;
    }
    for (at, value) in contents.aints.iter().enumerate().take(many_aints) {
        aints.set_at("array_of_addresses", at, *value as MPI_Aint)?;
    }
    for (at, value) in large.iter().enumerate() {
        counts.set_at("array_of_large_counts", at, *value)?;
    }
    for (at, child) in contents.type_arguments().iter().enumerate() {
        // Predefined types come back as themselves, all others as new handles (MPI-5.0 §5.1.13).
        let handle = if child.is_predefined() { handle_for(child)?.0 } else { store(child.clone())? };
        types.set_at("array_of_datatypes", at, handle)?;
    }
    Ok(())
}
