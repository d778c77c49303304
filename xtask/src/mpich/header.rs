//! `mpi.h` for MPICH's ABI: the functions, callbacks and names of constants are those of the standard's tables, the numbers those of
//! posthaste-mpich. `cargo xtask test --only mpich` compares it with MPICH's own.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use crate::{abi_check, project::Fallible};

/// Types, and what the tables do not have: functions and variables for Fortran, and names that MPI-3.0 removed.
const START: &str = "/* mpi.h: the C interface of MPI-5.0 with MPICH's ABI, as posthaste offers it. The library behind it is libmpi.so.12.
 * Written by `cargo xtask install` from posthaste's tables. `mpicc -abi=mpich` finds it; programs of the standard ABI have another one.
 */
#ifndef MPI_H_INCLUDED
#define MPI_H_INCLUDED

#include <stdint.h>

#if defined(__cplusplus)
extern \"C\" {
#endif

typedef long MPI_Aint;
typedef long long MPI_Offset;
typedef long long MPI_Count;
typedef int MPI_Fint;

typedef struct MPI_Status {
    int count_lo;
    int count_hi_and_cancelled;
    int MPI_SOURCE;
    int MPI_TAG;
    int MPI_ERROR;
} MPI_Status;
typedef MPI_Status MPI_F08_status;

typedef int MPI_Op;
typedef int MPI_Comm;
typedef int MPI_Group;
typedef int MPI_Win;
typedef int MPI_Session;
typedef int MPI_Message;
typedef int MPI_Info;
typedef int MPI_Errhandler;
typedef int MPI_Request;
typedef int MPI_Datatype;
typedef struct posthaste_file *MPI_File;
typedef struct posthaste_enum *MPI_T_enum;
typedef struct posthaste_cvar_handle *MPI_T_cvar_handle;
typedef struct posthaste_pvar_handle *MPI_T_pvar_handle;
typedef struct posthaste_pvar_session *MPI_T_pvar_session;
typedef struct posthaste_event_registration *MPI_T_event_registration;
typedef struct posthaste_event_instance *MPI_T_event_instance;
typedef int MPI_T_cb_safety;
typedef int MPI_T_source_order;
";

const END: &str = "
/* Variables of the library. */
extern int *const MPI_UNWEIGHTED;
extern int *const MPI_WEIGHTS_EMPTY;
extern MPI_T_pvar_handle const MPI_T_PVAR_ALL_HANDLES;
extern MPI_Fint *MPI_F_STATUS_IGNORE;
extern MPI_Fint *MPI_F_STATUSES_IGNORE;
extern MPI_F08_status *MPI_F08_STATUS_IGNORE;
extern MPI_F08_status *MPI_F08_STATUSES_IGNORE;

/* MPI_DUP_FN and its kin. */
int MPIR_Dup_fn(MPI_Comm object, int keyval, void *extra_state, void *value_in, void *value_out, int *flag);
#define MPI_DUP_FN MPIR_Dup_fn
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function *)MPIR_Dup_fn)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function *)MPIR_Dup_fn)
#define MPI_WIN_DUP_FN ((MPI_Win_copy_attr_function *)MPIR_Dup_fn)
";

/// The functions beside the standard, in the header of the other ABI.
const EXTENSIONS: &str = "crates/posthaste-abi/include/mpi-ext.h";

/// What the tables do not have, each also under its name with `P`.
const BESIDES: [&str; 16] = [
    "int MPI_Status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)",
    "int MPI_Status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)",
    "int MPI_Status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)",
    "int MPI_Status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)",
    "int MPI_Status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)",
    "int MPI_Status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)",
    "int MPI_Address(void *location, MPI_Aint *address)",
    "int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint *extent)",
    "int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint *displacement)",
    "int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint *displacement)",
    "int MPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)",
    "int MPI_Type_hindexed(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype oldtype, MPI_Datatype *newtype)",
    "int MPI_Type_struct(int count, int *blocklengths, MPI_Aint *displacements, MPI_Datatype *types, MPI_Datatype *newtype)",
    "int MPI_Errhandler_create(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler)",
    "int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)",
    "int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *errhandler)",
];

const HANDLES: [(&str, &str); 11] = [
    ("Comm", "Comm"),
    ("Datatype", "Type"),
    ("Errhandler", "Errhandler"),
    ("File", "File"),
    ("Group", "Group"),
    ("Info", "Info"),
    ("Message", "Message"),
    ("Op", "Op"),
    ("Request", "Request"),
    ("Session", "Session"),
    ("Win", "Win"),
];

/// Each constant of posthaste-mpich with its type and value in Rust.
pub(super) fn constants(root: &Path) -> Fallible<Vec<(String, String, String)>> {
    let path = root.join("crates/posthaste-mpich/src/abi/constants.rs");
    let rust = read(&path)?;
    let lines = rust.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once(" = "));
    let split = lines.filter_map(|(left, value)| Some((left.split_once(": ")?, value)));
    Ok(split.map(|((name, ty), value)| (name.into(), ty.into(), value.into())).collect())
}

/// What is a variable or a function there, and has no number.
pub(super) fn is_no_number(name: &str) -> bool {
    name.ends_with("DUP_FN")
        || ["MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY", "MPI_T_PVAR_ALL_HANDLES"].contains(&name)
}

/// A value as C writes it.
pub(super) fn number(value: &str) -> String {
    let bare = value.split_once('(').map_or(value, |(_, inner)| inner.trim_end_matches(')'));
    bare.trim_end_matches("_u32 as i32").replace("usize::MAX", "-1")
}

/// The whole file.
pub(crate) fn header(root: &Path) -> Fallible<String> {
    let tables = root.join("crates/posthaste-abi/abi");
    let types: BTreeMap<String, String> = abi_check::table(&tables.join("constants.csv"))?
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    let mut text = START.to_string();
    for (name, ty, value) in constants(root)?.iter().filter(|constant| !is_no_number(&constant.0)) {
        let value = number(value);
        let _ = match (ty.as_str(), types.get(name).map(String::as_str)) {
            ("c_int", _) => writeln!(text, "#define {name} ({value})"),
            ("usize", Some(pointer)) => writeln!(text, "#define {name} (({pointer})(intptr_t)({value}))"),
            ("usize", None) => Ok(()),
            (handle, _) => writeln!(text, "#define {name} (({handle})({value}))"),
        };
    }
    for row in abi_check::table(&tables.join("callbacks.csv"))? {
        let _ = writeln!(text, "typedef {} {}({});", row[1], row[0], row[2]);
    }
    for row in abi_check::table(&tables.join("types.csv"))?.iter().filter(|row| row[0].ends_with("_fn")) {
        let _ = writeln!(text, "typedef {} {};", row[1], row[0]);
    }
    text += END;
    let functions = abi_check::table(&tables.join("functions.csv"))?;
    let of_tables = functions.iter().map(|row| {
        let parameters = if row[2].is_empty() { "void" } else { &row[2] };
        format!("{} {}({parameters})", row[1], row[0])
    });
    let conversions = HANDLES.iter().flat_map(|(ty, name)| {
        [
            format!("MPI_Fint MPI_{name}_c2f(MPI_{ty} handle)"),
            format!("MPI_{ty} MPI_{name}_f2c(MPI_Fint handle)"),
        ]
    });
    let besides = BESIDES.iter().map(|function| (*function).to_string());
    for function in of_tables.chain(conversions).chain(besides) {
        let (result, rest) = function.split_once(" MPI_").ok_or(format!("{function} is no function"))?;
        let _ = writeln!(text, "{result} MPI_{rest};\n{result} PMPI_{rest};");
    }
    // Extensions have numbers of this ABI and the functions of the other one, as MPICH's own header has them.
    text += &functions_beyond(root)?;
    for memory in ["cuda", "hip", "ze"] {
        let _ =
            writeln!(text, "int MPIX_Query_{memory}_support(void);\nint PMPIX_Query_{memory}_support(void);");
    }
    Ok(text + "\n#if defined(__cplusplus)\n}\n#endif\n\n#endif\n")
}

/// `mpi-ext.h` beside it, for programs that include it, also with MPICH's own `mpi.h`, which has not all of them.
pub(crate) fn extensions(root: &Path) -> Fallible<String> {
    let beyond = read(&root.join(EXTENSIONS))?;
    let says = |line: &&str| line.starts_with("#define") && line.ends_with(" 1");
    let said: Vec<&str> = beyond.lines().filter(says).collect();
    Ok(format!(
        "/* mpi-ext.h: what there is beside the standard, for MPICH's ABI. */\n#ifndef POSTHASTE_MPI_EXT_H\n\
         #define POSTHASTE_MPI_EXT_H\n\n#include <mpi.h>\n\n{}\n\n#if defined(__cplusplus)\nextern \"C\" {{\n#endif\n\n{}\n\
         #if defined(__cplusplus)\n}}\n#endif\n\n#endif\n",
        said.join("\n"),
        functions_beyond(root)?,
    ))
}

/// The functions beside the standard, declared.
fn functions_beyond(root: &Path) -> Fallible<String> {
    let beyond = read(&root.join(EXTENSIONS))?;
    let functions = beyond.lines().filter(|line| line.starts_with("int ") && line.ends_with(");"));
    Ok(functions.map(|function| format!("{function}\n")).collect())
}

fn read(path: &Path) -> Fallible<String> {
    fs::read_to_string(path).map_err(|e| format!("can't read {}: {e}", path.display()))
}
