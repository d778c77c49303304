//! What Fortran programs include and use: `mpif.h`, and the sources of the modules. The modules have interfaces, constants and
//! types, but no procedures: nothing of them has to be linked, and a compiler needs only their `.mod` files.
//!
//! In `mpi` a compiler calls a routine by the name that it gives an external one, in `mpi_f08` mostly by its binding label: there
//! choice buffers come as descriptors (MPI-5.0 §19.1.5).

use std::{fmt::Write as _, path::Path};

use crate::{abi_check, project::Fallible};

use super::fixed::{BESIDES_F08, BESIDES_MPI, PROTOTYPES};
use super::table::{Access, HANDLES, Kind, Parameter, Routine, Width};

const START: &str = "! Written by `cargo xtask fortran`; do not edit.\n";

/// The constants that Fortran has.
pub(super) struct Constants {
    /// Name and value of each INTEGER.
    integers: Vec<(String, i64)>,
    /// Name, type without `MPI_`, and value of each handle.
    handles: Vec<(String, String, i64)>,
}

/// Types whose length an option of the compiler changes: what the constant stands for with one that makes REAL 8 bytes long, or
/// DOUBLE PRECISION 16, and how that is asked in a constant expression. The name is one that no program has for a variable.
const LONGER: [(&str, &str, &str); 6] = [
    ("MPI_REAL", "MPI_REAL8", "(maxexponent(1.0)/1024)"),
    ("MPI_COMPLEX", "MPI_COMPLEX16", "(maxexponent(1.0)/1024)"),
    ("MPI_2REAL", "MPI_2DOUBLE_PRECISION", "(maxexponent(1.0)/1024)"),
    ("MPI_DOUBLE_PRECISION", "MPI_REAL16", "(maxexponent(1d0)/16384)"),
    ("MPI_DOUBLE_COMPLEX", "MPI_COMPLEX32", "(maxexponent(1d0)/16384)"),
    ("MPI_2DOUBLE_PRECISION", "MPI_DATATYPE_NULL", "(maxexponent(1d0)/16384)"),
];

/// What the standard gives Fortran besides.
const OWN: [(&str, i64); 8] = [
    ("MPI_ADDRESS_KIND", 8),
    ("MPI_COUNT_KIND", 8),
    ("MPI_OFFSET_KIND", 8),
    ("MPI_INTEGER_KIND", 4),
    ("MPI_STATUS_SIZE", 8),
    ("MPI_SOURCE", 1),
    ("MPI_TAG", 2),
    ("MPI_ERROR", 3),
];

impl Constants {
    pub(super) fn read(root: &Path) -> Fallible<Self> {
        let rows = abi_check::table(&root.join("crates/posthaste-abi/abi/constants.csv"))?;
        let number = |text: &str| match text.strip_prefix("0x") {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        let of_c = ["MPI_T_", "MPI_F_", "MPIX_", "MPI_ABI_Offset", "MPI_ABI_Count"];
        let mut integers: Vec<(String, i64)> = OWN.map(|(name, value)| (name.into(), value)).into();
        let mut handles: Vec<(String, String, i64)> = Vec::new();
        for row in rows.iter().filter(|row| !of_c.iter().any(|start| row[0].starts_with(start))) {
            let (name, ty, value) = (&row[0], row[1].as_str(), row[2].as_str());
            match (ty, number(value)) {
                ("int" | "define" | "MPI_Offset", Some(value)) => {
                    // A text of Fortran has no null byte.
                    let is_text = name.starts_with("MPI_MAX_");
                    integers.push((name.clone(), value - i64::from(is_text)));
                }
                (_, Some(value)) if HANDLES.contains(&ty) => handles.push((name.clone(), ty.into(), value)),
                ("define", None) => {
                    let known = handles.iter().find(|handle| handle.0 == value).cloned();
                    handles.extend(known.map(|(_, ty, value)| (name.clone(), ty, value)));
                }
                _ => {}
            }
        }
        Ok(Self { integers, handles })
    }

    /// Name, type and value of each handle, as Fortran writes them.
    fn handles(&self) -> impl Iterator<Item = (&str, &str, String)> {
        let value = |name: &str| self.handles.iter().find(|handle| handle.0 == name).map(|handle| handle.2);
        self.handles.iter().map(move |(name, ty, number)| {
            let longer = LONGER.iter().find(|longer| longer.0 == name);
            let written = longer
                .and_then(|longer| Some(format!("{number}{:+}*{}", value(longer.1)? - number, longer.2)));
            (name.as_str(), ty.as_str(), written.unwrap_or_else(|| number.to_string()))
        })
    }
}

/// Variables whose addresses mean something: two common blocks that library and program share. The types of statuses that are
/// ignored differ.
fn cells(statuses: &str) -> String {
    let text = "\
integer MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
target MPI_BUFFER_AUTOMATIC
integer MPI_ERRCODES_IGNORE(1)
integer MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1)
@
integer posthaste_rest(10)
common /posthastempi/ MPI_BOTTOM, MPI_IN_PLACE
common /posthastempi/ MPI_BUFFER_AUTOMATIC, MPI_ERRCODES_IGNORE
common /posthastempi/ MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY
common /posthastempi/ MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE
common /posthastempi/ posthaste_rest
save /posthastempi/
character*1 MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
character*1 posthaste_text(62)
common /posthastempitext/ MPI_ARGV_NULL, MPI_ARGVS_NULL
common /posthastempitext/ posthaste_text
save /posthastempitext/
";
    text.replace('@', statuses)
}

const PLAIN_STATUSES: &str = "integer MPI_STATUS_IGNORE(8), MPI_STATUSES_IGNORE(8,1)";

/// Callbacks that MPI has of its own.
const CALLBACKS: [&str; 14] = [
    "MPI_COMM_DUP_FN",
    "MPI_COMM_NULL_COPY_FN",
    "MPI_COMM_NULL_DELETE_FN",
    "MPI_TYPE_DUP_FN",
    "MPI_TYPE_NULL_COPY_FN",
    "MPI_TYPE_NULL_DELETE_FN",
    "MPI_WIN_DUP_FN",
    "MPI_WIN_NULL_COPY_FN",
    "MPI_WIN_NULL_DELETE_FN",
    "MPI_DUP_FN",
    "MPI_NULL_COPY_FN",
    "MPI_NULL_DELETE_FN",
    "MPI_CONVERSION_FN_NULL",
    "MPI_CONVERSION_FN_NULL_C",
];

/// `mpif.h`, for sources in both forms: every line begins in column 7 and ends before column 73.
pub(super) fn header(constants: &Constants) -> String {
    let mut lines = Vec::new();
    for (name, value) in &constants.integers {
        let is_offset = name == "MPI_DISPLACEMENT_CURRENT";
        lines.push(format!("integer{} {name}", if is_offset { "*8" } else { "" }));
        lines.push(format!("parameter ({name}={value})"));
    }
    for (name, _, value) in constants.handles() {
        lines.push(format!("integer {name}"));
        lines.push(format!("parameter ({name}={value})"));
    }
    // A compiler that has been told of longer INTEGERs divides by 0 here, and shows the line.
    lines.push("! An INTEGER must be as long as a C int: no -fdefault-integer-8.".into());
    lines.push("integer MPI_needs_INTEGERs_of_4_bytes".into());
    lines.push("parameter (MPI_needs_INTEGERs_of_4_bytes=1/(32/bit_size(1)))".into());
    for name in ["MPI_SUBARRAYS_SUPPORTED", "MPI_ASYNC_PROTECTS_NONBLOCKING"] {
        lines.push(format!("logical {name}"));
        lines.push(format!("parameter ({name}=.false.)"));
    }
    lines.extend(cells(PLAIN_STATUSES).lines().map(String::from));
    for name in ["MPI_WTIME", "MPI_WTICK", "PMPI_WTIME", "PMPI_WTICK"] {
        lines.push(format!("real*8 {name}\n      external {name}"));
    }
    for name in ["MPI_AINT_ADD", "MPI_AINT_DIFF", "PMPI_AINT_ADD", "PMPI_AINT_DIFF"] {
        lines.push(format!("integer*8 {name}\n      external {name}"));
    }
    lines.extend(CALLBACKS.map(|name| format!("external {name}")));
    let mut text = START.to_string();
    for line in lines {
        let _ = writeln!(text, "      {line}");
    }
    text
}

/// `mpi_f08_types`: the types of handles and statuses, which both modules have.
pub(super) fn types() -> String {
    let mut text = format!("{START}module mpi_f08_types\n  implicit none\n  public\n\n");
    text += "  type, bind(C) :: MPI_Status\n    integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR\n    integer :: MPI_internal(5)\n  end type\n\n";
    for handle in HANDLES {
        let _ = writeln!(text, "  type, bind(C) :: {handle}\n    integer :: MPI_VAL\n  end type");
    }
    text += "\n";
    for (operator, label) in [("==", "equal"), ("/=", "differ")] {
        let _ = writeln!(text, "  interface operator({operator})");
        for handle in HANDLES {
            let name = format!("posthaste_{}_{label}", &handle[4..].to_lowercase());
            let _ = writeln!(
                text,
                "    pure logical function {name}(a, b)\n      import\n      type({handle}), intent(in) :: a, b\n    \
                 end function"
            );
        }
        text += "  end interface\n";
    }
    text + "end module\n"
}

/// A module, and what an interface in it looks like.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Module {
    /// Handles are INTEGERs, choice buffers addresses.
    Mpi,
    /// The same, but addresses that C gives are TYPE(C_PTR).
    MpiPointers,
    F08,
}

/// The module `mpi`.
pub(super) fn mpi(table: &[Routine], constants: &Constants) -> String {
    let mut text = start("mpi", constants);
    for (name, _, value) in constants.handles() {
        let _ = writeln!(text, "  integer, parameter :: {name} = {value}");
    }
    text += "  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .false.\n";
    text += "  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .false.\n\n";
    text += &indented(&cells(PLAIN_STATUSES));
    for name in CALLBACKS {
        let _ = writeln!(text, "  external :: {name}");
    }
    for routine in table.iter().filter(|routine| !routine.is_absent && !routine.is_large()) {
        for prefix in ["", "P"] {
            let name = format!("{prefix}{}", routine.name);
            let mut bodies = vec![interface(routine, &name, None, Module::Mpi)];
            let long = |other: &&Routine| other.is_in_mpi && other.name == format!("{}_c", routine.name);
            if let Some(long) = table.iter().find(long) {
                let label = format!("{}_c_", name.to_lowercase());
                bodies.push(interface(long, &format!("{name}_c"), Some(&label), Module::Mpi));
            }
            if routine.has_pointer() {
                bodies.push(interface(routine, &format!("{name}_cptr"), None, Module::MpiPointers));
            }
            text += &block(&name, &bodies);
        }
    }
    text += &twice(BESIDES_MPI);
    text + "end module\n"
}

/// The module `mpi_f08`.
pub(super) fn mpi_f08(table: &[Routine], constants: &Constants) -> String {
    let mut text = start("mpi_f08", constants);
    for (name, ty, value) in constants.handles() {
        let _ = writeln!(text, "  type({ty}), parameter :: {name} = {ty}({value})");
    }
    text += "  logical, parameter :: MPI_SUBARRAYS_SUPPORTED = .true.\n";
    text += "  logical, parameter :: MPI_ASYNC_PROTECTS_NONBLOCKING = .true.\n\n";
    text += &indented(&cells("type(MPI_Status) MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE(1)"));
    text += PROTOTYPES;
    let shown = |routine: &&Routine| !routine.is_absent && !routine.is_old && !routine.is_large();
    for routine in table.iter().filter(shown) {
        let large =
            table.iter().find(|large| large.is_large() && large.name == format!("{}_c", routine.name));
        for prefix in ["", "P"] {
            let body = |routine: &Routine| {
                let name = format!("{prefix}{}", routine.name);
                interface(routine, &name, label(routine, &name).as_deref(), Module::F08)
            };
            let bodies: Vec<String> = [Some(routine), large].into_iter().flatten().map(body).collect();
            if large.is_some_and(|large| are_alike(routine, large)) {
                bodies.iter().for_each(|body| text += &block("", std::slice::from_ref(body)));
            } else {
                text += &block(&format!("{prefix}{}", routine.name), &bodies);
            }
        }
    }
    text += &twice(BESIDES_F08);
    text + "end module\n"
}

/// What `mpi_f08` binds a routine to: its own, when it has choice buffers; else the one of all interfaces, under another name than
/// the compiler would give it, as it minds one routine with two interfaces in one file. Texts and procedures cannot be bound.
fn label(routine: &Routine, name: &str) -> Option<String> {
    let cannot = |kind: &Kind| matches!(kind, Kind::Text(_) | Kind::Key(_) | Kind::Function(_));
    let name = name.to_lowercase();
    match () {
        () if routine.has_choice() => Some(format!("{name}_f08ts")),
        () if routine.shown().any(|parameter| cannot(&parameter.kind)) => None,
        () => Some(format!("{name}_")),
    }
}

/// Whether a compiler cannot tell their calls apart, so that they can't have one name: an address is as long as a count, and a
/// procedure is like any other.
fn are_alike(one: &Routine, other: &Routine) -> bool {
    let kind = |parameter: &Parameter| match &parameter.kind {
        Kind::Number(Width::Address | Width::Offset) => Kind::Number(Width::Count),
        Kind::Function(_) => Kind::Function(String::new()),
        kind => kind.clone(),
    };
    one.shown().map(kind).eq(other.shown().map(kind))
}

/// How a module begins.
fn start(name: &str, constants: &Constants) -> String {
    let mut text =
        format!("{START}module {name}\n  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr\n");
    text += "  use mpi_f08_types\n  implicit none\n  public\n  private :: c_ptr, c_funptr\n\n";
    for (name, value) in &constants.integers {
        let kind = if name == "MPI_DISPLACEMENT_CURRENT" { "(kind=MPI_OFFSET_KIND)" } else { "" };
        let _ = writeln!(text, "  integer{kind}, parameter :: {name} = {value}");
    }
    text
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// A text for the names of MPI and for those of PMPI.
fn twice(text: &str) -> String {
    let second = text.replace("MPI_F_sync", "PMPI_F_sync").replace("MPI_Sizeof", "PMPI_Sizeof");
    let second = second.replace("MPI_Status_f", "PMPI_Status_f").replace("\"mpi_", "\"pmpi_");
    format!("{text}{second}")
}

/// One interface, or a generic one.
fn block(name: &str, bodies: &[String]) -> String {
    let generic = if bodies.len() > 1 { format!(" {name}") } else { String::new() };
    format!("  interface{generic}\n{}  end interface\n", bodies.concat())
}

/// One procedure in an interface.
fn interface(routine: &Routine, name: &str, label: Option<&str>, module: Module) -> String {
    let mut arguments: Vec<&str> = routine.shown().map(Parameter::dummy).collect();
    let result = match routine.returns.as_str() {
        "double" => Some("real(kind=8)"),
        "MPI_Aint" => Some("integer(kind=MPI_ADDRESS_KIND)"),
        _ => None,
    };
    // The only procedure without `ierror` that is no function.
    let has_error = result.is_none() && !name.ends_with("MPI_Pcontrol");
    if has_error {
        arguments.push("ierror");
    }
    let what = result.map_or("subroutine".into(), |result| format!("{result} function"));
    let end = if result.is_some() { "function" } else { "subroutine" };
    let bound = label.map(|label| format!(" bind(C, name=\"{label}\")")).unwrap_or_default();
    let mut text = wrapped(&format!("{what} {name}("), &arguments, &format!("){bound}"));
    text += "      import\n";
    // A length first, as the shape of another argument may need it.
    for parameter in routine.shown() {
        text += &declaration(routine, parameter, module);
    }
    if has_error {
        let optional = if module == Module::F08 { "optional, " } else { "" };
        let _ = writeln!(text, "      integer, {optional}intent(out) :: ierror");
    }
    let _ = writeln!(text, "    end {end}");
    text
}

/// A statement in lines that no compiler finds too long.
fn wrapped(start: &str, words: &[&str], end: &str) -> String {
    let mut text = format!("    {start}");
    let mut width = text.len();
    for (at, word) in words.iter().enumerate() {
        if width + word.len() > 90 {
            text += "&\n        ";
            width = 8;
        }
        text += word;
        width += word.len() + 2;
        if at + 1 < words.len() {
            text += ", ";
        }
    }
    if width + end.len() > 120 {
        text += "&\n        ";
    }
    text + end + "\n"
}

fn declaration(routine: &Routine, parameter: &Parameter, module: Module) -> String {
    let Parameter { kind, access, shape, .. } = parameter;
    let name = parameter.dummy();
    let is_f08 = module == Module::F08;
    let ty = match kind {
        Kind::Number(Width::Default) | Kind::Index | Kind::Indices(_) => "integer".into(),
        Kind::Number(Width::Address) => "integer(kind=MPI_ADDRESS_KIND)".into(),
        Kind::Number(Width::Count) => "integer(kind=MPI_COUNT_KIND)".into(),
        Kind::Number(Width::Offset) => "integer(kind=MPI_OFFSET_KIND)".into(),
        Kind::Logical => "logical".into(),
        Kind::Handle(ty) | Kind::Handles(ty, _) if is_f08 => format!("type({ty})"),
        Kind::Handle(_) | Kind::Handles(..) => "integer".into(),
        Kind::Status if is_f08 => "type(MPI_Status)".into(),
        Kind::Status => "integer".into(),
        Kind::Choice | Kind::Address if is_f08 => "type(*), dimension(..)".into(),
        Kind::Choice | Kind::Address => "type(*)".into(),
        Kind::Text(_) | Kind::Key(_) => "character(len=*)".into(),
        Kind::Function(interface) if is_f08 => format!("procedure({interface})"),
        Kind::Function(_) => return format!("      external :: {name}\n"),
        Kind::Pointer | Kind::Detached if is_f08 => "type(c_ptr)".into(),
        Kind::Pointer if module == Module::MpiPointers => "type(c_ptr)".into(),
        Kind::Pointer => "integer(kind=MPI_ADDRESS_KIND)".into(),
        Kind::Detached => "type(*)".into(),
        Kind::Absent => return String::new(),
    };
    let is_choice = matches!(kind, Kind::Choice | Kind::Address) || *kind == Kind::Detached && !is_f08;
    let shape = match kind {
        Kind::Status if !is_f08 && shape.is_empty() => "(MPI_STATUS_SIZE)",
        Kind::Status if !is_f08 => "(MPI_STATUS_SIZE, *)",
        _ if is_choice && !is_f08 => "(*)",
        _ => shape,
    };
    // What may be a variable that stands for nothing has no intent to write; nor has a choice buffer, which may be read, too.
    let intent = match access {
        _ if matches!(kind, Kind::Function(_)) => "",
        Access::In if is_f08 => ", intent(in)",
        Access::Out if is_f08 && !is_choice && *kind != Kind::Status && !parameter.may_be_left_out() => {
            ", intent(out)"
        }
        Access::InOut if is_f08 => ", intent(inout)",
        _ => "",
    };
    let asynchronous = if is_f08 && is_choice && routine.ends_later { ", asynchronous" } else { "" };
    let mut text = format!("      {ty}{intent}{asynchronous} :: {name}{shape}\n");
    if is_choice && !is_f08 {
        let _ =
            writeln!(text, "      !GCC$ ATTRIBUTES NO_ARG_CHECK :: {name}\n      !DIR$ IGNORE_TKR {name}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;

    #[test]
    fn a_source_in_fixed_form_takes_the_header() {
        let text = header(&Constants::read(&Project::find().root).unwrap());
        for line in text.lines().skip(1) {
            assert!(line.starts_with("      ") && line.len() <= 72, "{line}");
        }
    }
}
