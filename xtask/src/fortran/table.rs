//! The table of the interface as Fortran sees it: `functions.csv` has the names and C types, `fortran.csv` what they do not
//! say. A row of the latter is `function,parameter,is`; a function may end in `*`, one with `_c` goes by the row without it, and
//! the most special row counts.
//!
//! `is` of a parameter: `logical`; `index` and `indices LEN` count from 1; `handles LEN`; `text MOST` and `key MOST` (MOST bytes
//! in C; a key loses the blanks in front, too); `address`, of which nothing is read or written; `pointer` and `detached`, which
//! are addresses that C gives; `state`, an integer as long as an address; `changed`, both in and out; `absent`. Of a function:
//! `later`, it uses its buffers after it has returned; `in mpi`, its counts are as long in `mpi`; `by hand`; `absent`.

use std::path::Path;

use crate::{abi_check, project::Fallible};

/// What a parameter is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Number(Width),
    Logical,
    Index,
    /// With the parameter that has their number.
    Indices(String),
    /// With the type's name.
    Handle(&'static str),
    Handles(&'static str, String),
    Status,
    Choice,
    Address,
    /// With the bytes that C needs for it.
    Text(String),
    Key(String),
    /// With the name of its interface.
    Function(String),
    Pointer,
    Detached,
    Absent,
}

/// How long a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Default,
    Address,
    Count,
    Offset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    In,
    Out,
    InOut,
}

#[derive(Clone, Debug)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// Its C type without the name.
    pub(super) c: String,
    pub(super) kind: Kind,
    pub(super) access: Access,
    /// How Fortran declares its shape: `(*)`, or nothing.
    pub(super) shape: &'static str,
}

impl Parameter {
    /// Whether C takes its address.
    pub(super) fn is_pointer(&self) -> bool {
        self.c.contains(['*', '['])
    }

    /// Its name in Fortran. In C `index` would hide a function of the C library; `err` is the standard's.
    pub(super) fn dummy(&self) -> &str {
        match self.name.as_str() {
            "indx" => "index",
            "error" => "err",
            name => name,
        }
    }

    /// Whether programs may pass a variable that stands for nothing: MPI_UNWEIGHTED and its like, or MPI_ERRCODES_IGNORE.
    pub(super) fn may_be_left_out(&self) -> bool {
        self.name.ends_with("weights") || self.name == "array_of_errcodes"
    }
}

#[derive(Clone, Debug)]
pub(super) struct Routine {
    /// `MPI_Send`.
    pub(super) name: String,
    /// What C returns.
    pub(super) returns: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) is_by_hand: bool,
    pub(super) is_absent: bool,
    /// It uses its buffers after it has returned.
    pub(super) ends_later: bool,
    /// In `mpi`, too, its counts are longer than an INTEGER.
    pub(super) is_in_mpi: bool,
    /// Removed from what new programs should use before `mpi_f08` was there.
    pub(super) is_old: bool,
}

impl Routine {
    /// Whether it has counts longer than an INTEGER.
    pub(super) fn is_large(&self) -> bool {
        self.name.ends_with("_c")
    }

    /// Whether `mpi_f08` has a routine of its own: others pass choice buffers by address.
    pub(super) fn has_choice(&self) -> bool {
        let differs = |kind: &Kind| matches!(kind, Kind::Choice | Kind::Address | Kind::Detached);
        self.parameters.iter().any(|parameter| differs(&parameter.kind))
    }

    /// Whether C gives it an address.
    pub(super) fn has_pointer(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.kind == Kind::Pointer)
    }

    /// Whether it has a text.
    pub(super) fn has_text(&self) -> bool {
        self.parameters.iter().any(|parameter| matches!(parameter.kind, Kind::Text(_)))
    }

    /// Its parameters in Fortran, without `ierror`.
    pub(super) fn shown(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.kind != Kind::Absent)
    }
}

/// The C types of handles, and what Fortran calls them.
pub(super) const HANDLES: [&str; 11] = [
    "MPI_Comm",
    "MPI_Datatype",
    "MPI_Errhandler",
    "MPI_File",
    "MPI_Group",
    "MPI_Info",
    "MPI_Message",
    "MPI_Op",
    "MPI_Request",
    "MPI_Session",
    "MPI_Win",
];

/// Reads both tables.
pub(super) fn read(root: &Path) -> Fallible<Vec<Routine>> {
    let functions = abi_check::table(&root.join("crates/posthaste-abi/abi/functions.csv"))?;
    let rows = abi_check::table(&root.join("crates/posthaste-fortran/abi/fortran.csv"))?;
    let rows: Vec<[&str; 3]> = rows.iter().map(|row| [&*row[0], &*row[1], &*row[2]]).collect();
    for [function, parameter, _] in &rows {
        let known = |name: &str| fits(name, function) > 0;
        let has = |row: &[String]| parameter.is_empty() || row[2].contains(parameter);
        if !functions.iter().any(|row| known(&row[0]) && has(row)) {
            return Err(format!("fortran.csv: no function {function} has a parameter {parameter}"));
        }
    }
    functions.iter().map(|row| routine(row, &rows)).collect()
}

/// How well a row's name fits: 0 for not at all.
fn fits(name: &str, row: &str) -> usize {
    let base = name.strip_suffix("_c").unwrap_or(name);
    match row.split_once('*') {
        _ if row == name => 4,
        _ if row == base => 3,
        Some((start, end)) if row != "*" && name.starts_with(start) && name.ends_with(end) => 2,
        _ if row == "*" => 1,
        _ => 0,
    }
}

/// What the rows say of a function (with an empty parameter) or of a parameter.
fn said<'a>(rows: &[[&'a str; 3]], function: &str, parameter: &str) -> &'a str {
    let of_it = rows.iter().filter(|row| row[1] == parameter && fits(function, row[0]) > 0);
    of_it.max_by_key(|row| fits(function, row[0])).map_or("", |row| row[2])
}

fn routine(row: &[String], rows: &[[&str; 3]]) -> Fallible<Routine> {
    let name = row[0].clone();
    let parameters = row[2].split(',').map(str::trim).filter(|part| !part.is_empty() && *part != "void");
    let parameters = parameters.map(|part| parameter(&name, part, rows)).collect::<Fallible<Vec<_>>>()?;
    let is = said(rows, &name, "");
    Ok(Routine {
        returns: row[1].clone(),
        is_by_hand: is == "by hand",
        is_absent: is == "absent",
        ends_later: is == "later" || parameters.iter().any(|parameter| parameter.c == "MPI_Request *"),
        is_in_mpi: is == "in mpi",
        is_old: row[3] == "MPI-2.0",
        name,
        parameters,
    })
}

fn parameter(function: &str, part: &str, rows: &[[&str; 3]]) -> Fallible<Parameter> {
    let (before, brackets) = match part.split_once('[') {
        Some((before, _)) => (before, part.matches('[').count()),
        None => (part, 0),
    };
    let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    let name = before[start..].to_string();
    let c = format!("{}{}", before[..start].trim(), "[]".repeat(brackets));
    if part == "..." {
        let (kind, access) = (Kind::Absent, Access::In);
        return Ok(Parameter { name: String::new(), c: "...".into(), kind, access, shape: "" });
    }
    let is = said(rows, function, &name);
    let (word, rest) = is.split_once(' ').unwrap_or((is, ""));
    let plain = c.replace("const ", "");
    let base = plain.trim_end_matches(['*', '[', ']', ' ']);
    let is_read = !c.contains(['*', '[']) || c.starts_with("const ") || base == "char" && !rest_is_out(&c);
    let access = match word {
        "changed" => Access::InOut,
        "in" => Access::In,
        // Which of them stay as they are depends on what is over.
        "handles" if !is_read && base == "MPI_Request" => Access::InOut,
        "state" | "integer" => {
            if rest == "out" {
                Access::Out
            } else {
                Access::In
            }
        }
        _ if is_read => Access::In,
        _ => Access::Out,
    };
    let handle = HANDLES.iter().find(|handle| **handle == base).copied();
    let kind = match (word, base) {
        ("logical", "int") => Kind::Logical,
        ("index", "int") => Kind::Index,
        ("indices", _) => Kind::Indices(rest.into()),
        ("text", "char") => Kind::Text(rest.into()),
        ("key", "char") => Kind::Key(rest.into()),
        ("handles", _) => {
            Kind::Handles(handle.ok_or(format!("{function}: {name} is no handle"))?, rest.into())
        }
        ("address", _) => Kind::Address,
        ("pointer", _) => Kind::Pointer,
        ("detached", _) => Kind::Detached,
        ("state", _) => Kind::Number(Width::Address),
        ("integer", _) => Kind::Number(Width::Default),
        ("absent", _) => Kind::Absent,
        (_, "int") => Kind::Number(Width::Default),
        (_, "MPI_Aint") => Kind::Number(Width::Address),
        (_, "MPI_Count") => Kind::Number(Width::Count),
        (_, "MPI_Offset") => Kind::Number(Width::Offset),
        (_, "MPI_Status") => Kind::Status,
        (_, "char") => Kind::Text("0".into()),
        (_, "void") => Kind::Choice,
        _ if base.contains("_function") => Kind::Function(base.into()),
        _ => match handle {
            Some(handle) => Kind::Handle(handle),
            // Only functions that Fortran does not have.
            None => Kind::Absent,
        },
    };
    let shape = match (&kind, brackets) {
        (_, 2) => "(3, *)",
        (Kind::Text(_), 1) if c == "char **[]" => "(count, *)",
        (Kind::Text(_), 1) if c.starts_with("const char") => "",
        (_, 1) => "(*)",
        (Kind::Status, _) if name == "array_of_statuses" => "(*)",
        _ => "",
    };
    Ok(Parameter { name, c, kind, access, shape })
}

/// Whether a text is one that C writes; arrays of texts are all read.
fn rest_is_out(c: &str) -> bool {
    c == "char *"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;

    fn find(name: &str) -> Routine {
        read(&Project::find().root).unwrap().into_iter().find(|routine| routine.name == name).unwrap()
    }

    #[test]
    fn the_most_special_row_counts() {
        let kind = |function: &str, name: &str| {
            find(function).parameters.into_iter().find(|parameter| parameter.name == name).unwrap()
        };
        assert_eq!(kind("MPI_Waitany", "indx").kind, Kind::Index);
        assert_eq!(kind("MPI_Graph_create", "indx").kind, Kind::Number(Width::Default));
        assert_eq!(kind("MPI_Comm_split", "key").kind, Kind::Number(Width::Default));
        assert_eq!(kind("MPI_Info_set", "key").kind, Kind::Key("256".into()));
        assert_eq!(kind("MPI_Info_set", "key").access, Access::In);
        assert_eq!(kind("MPI_Info_get_nthkey", "key").access, Access::Out);
        assert_eq!(kind("MPI_Mrecv_c", "message").access, Access::InOut);
        assert_eq!(kind("MPI_Mprobe", "message").access, Access::Out);
        assert_eq!(kind("MPI_Waitall", "array_of_requests").access, Access::InOut);
        assert_eq!(kind("MPI_Type_get_contents", "array_of_datatypes").access, Access::Out);
        assert_eq!(kind("MPI_Group_range_incl", "ranges").access, Access::In);
        assert_eq!(kind("MPI_Waitany", "indx").dummy(), "index");
        assert_eq!(kind("MPI_Group_range_incl", "ranges").shape, "(3, *)");
        assert_eq!(kind("MPI_Comm_spawn_multiple", "array_of_argv").shape, "(count, *)");
    }

    #[test]
    fn what_uses_buffers_later_is_known() {
        for (name, later) in
            [("MPI_Send", false), ("MPI_Isend_c", true), ("MPI_Put", true), ("MPI_Bcast_init", true)]
        {
            assert_eq!(find(name).ends_later, later, "{name}");
        }
        assert!(find("MPI_T_init_thread").is_absent && find("MPI_Comm_toint").is_absent);
    }
}
