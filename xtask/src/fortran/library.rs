//! The routines of the library, in Rust: one line or two for each argument that is not the same in both languages.

use std::fmt::Write as _;

use super::table::{Access, Kind, Parameter, Routine, Width};

const START: &str = "//! Written by `cargo xtask fortran`; do not edit.\n";

/// The declarations of the C functions.
pub(super) fn declarations(table: &[Routine]) -> String {
    let mut text = format!("{START}//!\n//! The C functions that routines of Fortran call.\n\n");
    text += "use std::ffi::c_int;\n\nuse crate::argument::{Address, Handle};\n\n";
    text += "unsafe extern \"C\" {\n";
    for routine in table.iter().filter(|routine| !routine.is_absent) {
        let parameters: Vec<String> = routine.parameters.iter().map(declared).collect();
        for prefix in ["", "P"] {
            let (name, parameters) = (&routine.name, parameters.join(", "));
            let _ = writeln!(
                text,
                "    pub(crate) fn {prefix}{name}({parameters}) -> {};",
                match routine.returns.as_str() {
                    "double" => "f64",
                    "MPI_Aint" => "isize",
                    _ => "c_int",
                }
            );
        }
    }
    text + "}\n"
}

fn declared(parameter: &Parameter) -> String {
    if parameter.c == "..." {
        return "...".into();
    }
    format!("{}: {}", escaped(&parameter.name), by_value(parameter))
}

fn by_value(parameter: &Parameter) -> &'static str {
    let c = parameter.c.as_str();
    match c {
        _ if parameter.is_pointer() => "Address",
        "int" | "const int" => "c_int",
        "MPI_Aint" => "isize",
        "MPI_Count" | "MPI_Offset" => "i64",
        _ => "Handle",
    }
}

/// A word of Rust cannot be a name.
fn escaped(name: &str) -> String {
    if name == "type" { "r#type".into() } else { name.into() }
}

/// How choice buffers come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Buffers {
    Addresses,
    Descriptors,
    /// The same, but texts beside them come with their lengths, as in MPICH's `mpi_f08`.
    DescriptorsAndLengths,
}

/// The routines themselves.
pub(super) fn routines(table: &[Routine]) -> String {
    let mut text = format!("{START}//!\n//! The routines of Fortran, in the order of the table.\n\n");
    text += "use crate::argument::*;\nuse crate::peers::*;\nuse crate::routine::routine;\nuse crate::section::*;\n";
    text += "use crate::text::*;\n";
    for routine in table.iter().filter(|routine| !routine.is_absent && !routine.is_by_hand) {
        if !routine.has_choice() || !routine.is_large() || routine.is_in_mpi {
            text += &one(routine, Buffers::Addresses);
        }
        if routine.has_choice() {
            text += &one(routine, Buffers::Descriptors);
            if routine.has_text() {
                text += &one(routine, Buffers::DescriptorsAndLengths);
            }
        }
    }
    text
}

/// The parts of a routine that an argument makes.
#[derive(Default)]
struct Parts {
    signature: Vec<String>,
    lengths: Vec<String>,
    before: Vec<String>,
    passed: Vec<String>,
    after: Vec<String>,
}

fn one(routine: &Routine, buffers: Buffers) -> String {
    let mut parts = Parts::default();
    for (at, parameter) in routine.parameters.iter().enumerate() {
        argument(routine, at, parameter, buffers, &mut parts);
    }
    parts.signature.push("ierror: *mut Integer".into());
    parts.signature.append(&mut parts.lengths);
    let name = &routine.name;
    let (form, stem) = (form(routine, buffers), name["MPI_".len()..].to_lowercase());
    // That the counts are long has a word of its own in each ABI.
    let large = routine.is_large() && form != "address";
    let (large, stem) = if large { ("large_", stem.trim_end_matches("_c")) } else { ("", stem.as_str()) };
    let mut text = format!("\nroutine! {{\n    {large}{form} \"{stem}\" {name} P{name}, as call\n");
    let _ = writeln!(text, "    ({}) {{", parts.signature.join(", "));
    for line in &parts.before {
        let _ = writeln!(text, "        {line}");
    }
    let _ = writeln!(text, "        let code = call({});", parts.passed.join(", "));
    for line in &parts.after {
        let _ = writeln!(text, "        {line}");
    }
    text + "        report(ierror, code);\n    }\n}\n"
}

/// Which names it has, as `names.rs` knows them.
fn form(routine: &Routine, buffers: Buffers) -> &'static str {
    let is_choice = |parameter: &Parameter| matches!(parameter.kind, Kind::Choice | Kind::Address);
    match buffers {
        Buffers::Addresses if routine.has_choice() => "address",
        Buffers::Addresses if routine.has_pointer() && !routine.is_large() => "c_pointer",
        Buffers::Addresses => "plain",
        Buffers::DescriptorsAndLengths => "lengths",
        Buffers::Descriptors if routine.has_text() => "text",
        Buffers::Descriptors if routine.parameters.iter().any(is_choice) => "descriptor",
        Buffers::Descriptors => "pointer",
    }
}

/// Adds an argument.
fn argument(routine: &Routine, at: usize, parameter: &Parameter, buffers: Buffers, parts: &mut Parts) {
    let name = &parameter.name;
    let local = format!("c_{name}");
    let address = format!("(&raw mut {local}).cast()");
    let described = described_by(routine, at, buffers);
    let (ty, passed) = match &parameter.kind {
        _ if !parameter.is_pointer() => by_reference(parameter, described),
        Kind::Index => {
            parts.before.push(format!("let mut {local} = UNDEFINED;"));
            parts.after.push(format!("count_from_one(&raw mut {local}, 1);"));
            parts.after.push(format!("*{name} = {local};"));
            ("*mut Integer", address)
        }
        Kind::Indices(len) => {
            parts.before.push(format!("*{len} = 0;"));
            parts.after.push(format!("count_from_one({name}, *{len});"));
            ("*mut Integer", format!("{name}.cast()"))
        }
        Kind::Handle(_) => {
            parts.before.push(format!("let mut {local} = handle({name});"));
            if parameter.access == Access::In {
                ("*const Integer", address)
            } else {
                parts.after.push(format!("*{name} = number({local});"));
                ("*mut Integer", address)
            }
        }
        Kind::Handles(_, len) => {
            let len = length(routine, name, len, buffers);
            let make = if parameter.access == Access::In { "handles" } else { "handles_and_back" };
            parts.before.push(format!("let mut few_{name} = Few::new();"));
            parts.before.push(format!("let mut {local} = {make}(&mut few_{name}, {name}, {len});"));
            let ty = if parameter.access == Access::In { "*const Integer" } else { "*mut Integer" };
            (ty, format!("{local}.address()"))
        }
        // A text of a routine that is bound to its name comes as a descriptor, too.
        Kind::Text(_) if buffers == Buffers::Descriptors => {
            parts.before.push(format!("let {local} = text(first_of({name}).cast(), element({name}));"));
            ("Choice", format!("{local}.as_ptr() as Address"))
        }
        Kind::Text(_) | Kind::Key(_) => {
            parts.lengths.push(format!("{name}_len: usize"));
            text(parameter, parts)
        }
        Kind::Detached if buffers == Buffers::Addresses => {
            parts.before.push(format!("let _ = {name};"));
            parts.before.push(format!("let mut {local} = 0_usize;"));
            ("Address", address)
        }
        Kind::Detached => {
            parts.after.push(format!("detached({name});"));
            ("Address", name.clone())
        }
        Kind::Address if buffers != Buffers::Addresses => ("Choice", format!("first_of({name})")),
        Kind::Choice if buffers != Buffers::Addresses => ("Choice", choice(routine, at, parts)),
        Kind::Choice | Kind::Address => ("Address", format!("place({name})")),
        Kind::Status if parameter.access != Access::In => ("Address", format!("place({name})")),
        // These two may be left out, by a variable that stands for nothing.
        Kind::Number(_) if parameter.may_be_left_out() => ("Address", format!("place({name})")),
        Kind::Number(_) if is_length(routine, name) => ("*mut Integer", format!("{name}.cast()")),
        _ => ("Address", name.clone()),
    };
    parts.signature.push(format!("{name}: {ty}"));
    parts.passed.push(passed);
}

/// What C takes by value comes by address.
fn by_reference(parameter: &Parameter, described: Option<(String, bool)>) -> (&'static str, String) {
    let name = &parameter.name;
    match (&parameter.kind, described) {
        (Kind::Handle(_), Some((buffer, _))) => ("*const Integer", format!("c_{buffer}.datatype")),
        (Kind::Number(Width::Count), Some((buffer, _))) => ("*const i64", format!("c_{buffer}.count")),
        (_, Some((buffer, _))) => ("*const Integer", format!("c_{buffer}.count as Integer")),
        (Kind::Handle(_), None) => ("*const Integer", format!("handle({name})")),
        (Kind::Logical, None) => ("*const Integer", format!("logical({name})")),
        (Kind::Number(Width::Address), None) => ("*const isize", format!("*{name}")),
        (Kind::Number(Width::Count | Width::Offset), None) => ("*const i64", format!("*{name}")),
        _ => ("*const Integer", format!("*{name}")),
    }
}

fn text(parameter: &Parameter, parts: &mut Parts) -> (&'static str, String) {
    let name = &parameter.name;
    let (Kind::Text(most) | Kind::Key(most)) = &parameter.kind else { return ("Address", name.clone()) };
    if parameter.access == Access::In {
        let make = if matches!(parameter.kind, Kind::Key(_)) { "stripped" } else { "text" };
        parts.before.push(format!("let c_{name} = {make}({name}, {name}_len);"));
        return ("*const u8", format!("c_{name}.as_ptr() as Address"));
    }
    let most = match most.parse::<usize>() {
        Ok(most) => most.to_string(),
        // A parameter, which does not count the null byte.
        Err(_) => format!("(*{most}).max(0) as usize + 1"),
    };
    parts.before.push(format!("let mut c_{name} = room({most}, {name}, {name}_len);"));
    ("*mut u8", format!("c_{name}.address()"))
}

/// A choice buffer that comes as a descriptor.
fn choice(routine: &Routine, at: usize, parts: &mut Parts) -> String {
    let parameter = &routine.parameters[at];
    let name = &parameter.name;
    if !routine.ends_later {
        let back = parameter.access != Access::In;
        parts.before.push(format!("let c_{name} = copied({name}, {back});"));
        return format!("c_{name}.address()");
    }
    let is_described = is_described(routine, at);
    let made = if is_described {
        let (count, datatype) = (&routine.parameters[at + 1].name, &routine.parameters[at + 2].name);
        format!("described({name}, *{count}, handle({datatype}))")
    } else {
        format!("whole({name})")
    };
    let refused = format!("refuse({}, \"{}\", \"{name}\")", owner(routine), routine.name);
    parts.before.push(format!("let Some(c_{name}) = {made} else {{ return report(ierror, {refused}) }};"));
    if is_described { format!("c_{name}.address") } else { format!("c_{name}") }
}

/// Whether a buffer, its count and its datatype describe one message of this process, so that another datatype may do so.
fn is_described(routine: &Routine, at: usize) -> bool {
    let [buffer, count, datatype, ..] = &routine.parameters[at..] else { return false };
    let is_message = !buffer.name.starts_with("sendbuf") && !buffer.name.starts_with("recvbuf")
        || routine.name.starts_with("MPI_Isendrecv");
    let is_number =
        matches!(count.kind, Kind::Number(_)) && !count.is_pointer() && count.name.ends_with("count");
    let is_datatype = datatype.kind == Kind::Handle("MPI_Datatype") && !datatype.is_pointer();
    buffer.kind == Kind::Choice && is_message && is_number && is_datatype
}

/// The buffer that this count or datatype belongs to, when it is described anew.
fn described_by(routine: &Routine, at: usize, buffers: Buffers) -> Option<(String, bool)> {
    if buffers == Buffers::Addresses || !routine.ends_later {
        return None;
    }
    let before = |distance: usize| at.checked_sub(distance).filter(|at| is_described(routine, *at));
    let name = |at: usize| routine.parameters[at].name.clone();
    before(1).map(|at| (name(at), false)).or_else(|| before(2).map(|at| (name(at), true)))
}

/// Whose error handler hears of a buffer that is refused.
fn owner(routine: &Routine) -> String {
    for (ty, owner) in
        [("MPI_Comm", "Comm"), ("MPI_Win", "Win"), ("MPI_File", "File"), ("MPI_Session", "Session")]
    {
        let is_it = |parameter: &&Parameter| parameter.kind == Kind::Handle(ty) && !parameter.is_pointer();
        if let Some(parameter) = routine.parameters.iter().find(is_it) {
            return format!("Owner::{owner}(handle({}))", parameter.name);
        }
    }
    "Owner::Process".into()
}

/// How many handles there are.
fn length(routine: &Routine, name: &str, len: &str, buffers: Buffers) -> String {
    let buffer = |buffer: &str| match buffers {
        Buffers::Addresses => format!("place({buffer})"),
        _ => format!("first_of({buffer})"),
    };
    match len {
        "peers" | "sources" | "destinations" => {
            let comm = format!("{len}(handle(comm))");
            // What is in place is described by the other array.
            if name == "sendtypes" {
                format!("unless_in_place({}, || {comm})", buffer("sendbuf"))
            } else {
                comm
            }
        }
        _ if routine.parameters.iter().any(|it| it.name == len && it.c == "MPI_Count") => {
            format!("*{len} as Integer")
        }
        _ => format!("*{len}"),
    }
}

/// Whether an array has its length in this parameter, which C writes.
fn is_length(routine: &Routine, name: &str) -> bool {
    routine.parameters.iter().any(|parameter| parameter.kind == Kind::Indices(name.to_string()))
}
