//! Options that say what becomes of the ranks' output and what is told of the job.
//!
//! Pure. What must stay true: what would change the output in a way that is not built is refused, never passed over.

use super::{Kind, Reader};
use crate::show::Pattern;
use std::ffi::OsStr;

impl Reader<'_> {
    /// Takes an option of this kind; false for all others.
    pub(super) fn show(&mut self, option: Kind, name: &str, value: &OsStr) -> Result<bool, String> {
        let text = value.to_string_lossy();
        let show = &mut self.request.show;
        match option {
            Kind::Label => show.label = true,
            Kind::LinePattern => show.mark = Some(pattern(name, value)?),
            Kind::Timestamps => show.timestamps = true,
            Kind::Output => self.output(&text)?,
            Kind::OutputFiles => self.output_files(&text),
            Kind::OutputFolder => self.output_folder(name, &text)?,
            Kind::OutPattern => self.file_pattern(0, name, value)?,
            Kind::ErrPattern => self.file_pattern(1, name, value)?,
            Kind::RankMap => show.rank_map = true,
            Kind::Display => self.display(&text),
            Kind::ExitCodes => show.exit_codes = true,
            Kind::Counters => show.counters = true,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Words as those of PRRTE, which may be shortened; `:nocopy` and `:raw` stand behind the last.
    fn output(&mut self, given: &str) -> Result<(), String> {
        for word in given.split(',') {
            let (word, value) = word.split_once('=').unwrap_or((word, ""));
            let lower = word.to_ascii_lowercase();
            match lower.split(':').next().unwrap_or_default() {
                "file" => self.output_files(value),
                "dir" => self.output_folder("output dir", value)?,
                "tag" | "tag-detailed" | "tag-fullname" => self.request.show.label = true,
                "timestamp" => self.request.show.timestamps = true,
                "merge" | "merge-stderr-to-stdout" => {
                    return Err("-output merge is not an option here: write 2>&1 behind the command".into());
                }
                _ => {
                    return Err(format!(
                        "-output {word:?} is not known, expected tag, timestamp, file=FILE or dir=DIR"
                    ));
                }
            }
        }
        Ok(())
    }

    /// `FILE` or `FILE:nocopy`.
    fn output_files(&mut self, given: &str) {
        let (file, copied) = copied(given);
        let pattern = Pattern::numbered(file);
        self.request.show.files = [Some(pattern.clone()), Some(pattern)];
        self.request.show.copied = copied;
    }

    /// `DIR` or `DIR:nocopy`: a file for each stream in a folder for each rank.
    fn output_folder(&mut self, name: &str, given: &str) -> Result<(), String> {
        let (folder, copied) = copied(given);
        let folder = folder.replace('%', "%%");
        for (stream, file) in ["stdout", "stderr"].into_iter().enumerate() {
            let pattern = format!("{folder}/%g/rank.%r/{file}");
            self.file_pattern(stream, name, OsStr::new(&pattern))?;
        }
        self.request.show.copied = copied;
        Ok(())
    }

    fn file_pattern(&mut self, stream: usize, name: &str, given: &OsStr) -> Result<(), String> {
        if given.is_empty() {
            return Err(format!("-{name} needs the name of a file after it"));
        }
        self.request.show.files[stream] = Some(pattern(name, given)?);
        self.request.show.copied = false;
        Ok(())
    }

    /// `map`, and other words for what we do not print.
    fn display(&mut self, given: &str) {
        for word in given.split(',') {
            match word.to_ascii_lowercase().as_str() {
                "map" | "map-devel" => self.request.show.rank_map = true,
                _ => self.request.warnings.push(format!("-display {word} has no effect here")),
            }
        }
    }
}

/// A file, and whether what goes there goes to our own streams, too.
fn copied(given: &str) -> (&str, bool) {
    match given.rsplit_once(':') {
        Some((file, word)) if word.eq_ignore_ascii_case("nocopy") => (file, false),
        Some((file, word)) if ["copy", "raw"].iter().any(|one| word.eq_ignore_ascii_case(one)) => {
            (file, true)
        }
        _ => (given, true),
    }
}

fn pattern(name: &str, given: &OsStr) -> Result<Pattern, String> {
    Pattern::parse(&given.to_string_lossy()).map_err(|why| format!("-{name} {why}"))
}
