//! C tests with all message buffers in memory of a simulated device: the header that `tests/c/device.h` includes.

use std::{fs, path::Path};

use crate::{
    abi_check,
    project::{Fallible, Project},
};

/// What MPI's functions call the buffers of messages.
const BUFFERS: [&str; 6] = ["buf", "sendbuf", "recvbuf", "inbuf", "outbuf", "inoutbuf"];

/// Writes `device_calls.h`: each function with message buffers calls its `PMPI_` twin with buffers on the device.
pub(crate) fn header(project: &Project, folder: &Path) -> Fallible {
    let mut text = String::new();
    for (name, parameters) in abi_check::signatures(&project.root)? {
        let is_message = !name.starts_with("MPI_File_")
            && !name.starts_with("MPI_T_")
            && parameters.iter().all(|p| !p.contains(['(', '.']));
        if is_message && let Some(call) = call(&name, &parameters) {
            text += &call;
        }
    }
    let file = folder.join("device_calls.h");
    // Programs are newer than what they are made of.
    if fs::read_to_string(&file).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(&file, text).map_err(|e| format!("can't write {}: {e}", file.display()))
}

/// The definition of one function, if it has message buffers.
fn call(name: &str, parameters: &[String]) -> Option<String> {
    let is_bcast = name.to_lowercase().contains("bcast");
    let mut has_buffers = false;
    let mut argument = |parameter: &String| {
        let bare = parameter.trim_end_matches(['[', ']', '3']);
        let (_, argument) = bare.rsplit_once([' ', '*'])?;
        let is_buffer = BUFFERS.contains(&argument) || (is_bcast && argument == "buffer");
        has_buffers |= is_buffer;
        Some(if is_buffer { format!("on_device({argument})") } else { argument.to_owned() })
    };
    let arguments: Vec<String> = parameters.iter().map(&mut argument).collect::<Option<_>>()?;
    let (parameters, arguments) = (parameters.join(", "), arguments.join(", "));
    has_buffers.then(|| format!("int {name}({parameters}) {{ return P{name}({arguments}); }}\n"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn buffers_go_to_the_device() {
        let parameters =
            ["const void *buf", "int count", "const int counts[]", "MPI_Comm comm"].map(String::from);
        assert_eq!(
            super::call("MPI_X", &parameters).unwrap(),
            "int MPI_X(const void *buf, int count, const int counts[], MPI_Comm comm) { \
             return PMPI_X(on_device(buf), count, counts, comm); }\n"
        );
        assert_eq!(super::call("MPI_Y", &parameters[1..]), None);
    }
}
