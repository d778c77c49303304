//! The info key `file` of a command that is to be started (MPI-5.0 §11.8.4): further hints, of which the format is ours.
//!
//! A line is `key = value`; one that begins with `#` and an empty one say nothing. What must stay true: a key that the program
//! gives goes before one of the file; a file that cannot be read, or a line that is none, is an error that names it, and so is a
//! file without an end.

use std::fs::File;
use std::io::{self, Read};

use posthaste_pmi::spawning::{Pair, Spec};

use crate::error::{Error, ErrorClass, Result};

const KEY: &str = "file";
/// Most bytes of a file: beyond it is a mistake.
const MOST_BYTES: u64 = 1 << 20;

/// Puts the hints of the file that a command names in the place of its name.
///
/// # Errors
/// What is wrong with the file.
pub fn further_hints(spec: &mut Spec) -> Result<()> {
    let Some(at) = spec.info.iter().position(|pair| pair.0 == KEY) else { return Ok(()) };
    let (_, path) = spec.info.remove(at);
    let text = read(&path).map_err(|why| {
        Error::invalid(ErrorClass::InfoValue, "info", format!("file={path}"), format!("a file ({why})"))
    })?;
    let further = pairs(&text).map_err(|(number, line)| {
        let got = format!("line {number} of file={path}, {line:?}");
        Error::invalid(ErrorClass::InfoValue, "info", got, "key = value")
    })?;
    let further: Vec<Pair> =
        further.into_iter().filter(|(key, _)| spec.hint(&[key.as_str()]).is_none()).collect();
    spec.info.extend(further);
    Ok(())
}

fn read(path: &str) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!("longer than {MOST_BYTES} bytes")));
    }
    Ok(text)
}

/// The pairs, or the first line that is none, with its number.
fn pairs(text: &str) -> std::result::Result<Vec<Pair>, (usize, String)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    let said = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    said.map(|(number, line)| {
        let pair = line.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        match pair {
            // One file is enough.
            Some((key, value)) if !key.is_empty() && key != KEY => Ok((key.into(), value.into())),
            _ => Err((number, line.chars().take(60).collect())),
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_pairs() {
        let text = "# where\n\n wdir = /tmp/x y \r\nenv=A=1\nenv = B = 2\nsoft=\n";
        let all = [("wdir", "/tmp/x y"), ("env", "A=1"), ("env", "B = 2"), ("soft", "")];
        assert_eq!(pairs(text).unwrap(), all.map(|(key, value)| (key.to_string(), value.to_string())));
        for (text, number) in [("a=1\nb", 2), ("=1", 1), ("\nfile=other", 2)] {
            assert_eq!(pairs(text).unwrap_err().0, number, "{text:?}");
        }
    }

    #[test]
    fn keys_of_the_program_go_first_and_wrong_files_are_named() {
        let path = std::env::temp_dir().join(format!("posthaste-further-{}", std::process::id()));
        std::fs::write(&path, "wdir = /\nhost = a\n").unwrap();
        let pair = |key: &str, value: &str| (key.to_string(), value.to_string());
        let of =
            |path: &str| Spec { info: vec![pair("file", path), pair("wdir", "/tmp")], ..Spec::default() };
        let mut spec = of(path.to_str().unwrap());
        further_hints(&mut spec).unwrap();
        assert_eq!(spec.info, [pair("wdir", "/tmp"), pair("host", "a")]);
        std::fs::write(&path, "wdir\n").unwrap();
        let wrong = [path.to_str().unwrap(), "/no/such/file", "/dev/zero", "/"];
        for path in wrong {
            let why = further_hints(&mut of(path)).unwrap_err();
            assert_eq!(why.class(), ErrorClass::InfoValue);
            assert!(why.to_string().contains(path), "{why}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}
