//! Core files are called after the ranks whose they are.
//!
//! The kernel writes a core file into the working directory of a process and calls it as `/proc/sys/kernel/core_pattern` says;
//! it takes an older file of that name away first. So where that name has no process id, ranks of one directory that fail at
//! a time take each other's away, and nobody but root can prevent it. What must stay true: a core file gets the name of a rank
//! only if it says itself that it is of that process, whatever happens to the names meanwhile; nothing is removed that has no
//! other name. See core(5) and elf(5).

use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
use nix::unistd::linkat;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Files of a directory that are looked into, the newest first.
const MOST_CANDIDATES: usize = 64;
/// Notes of a core file that are read; the one about its process is among the first.
const MOST_NOTES: usize = 64 << 10;

/// Where the kernel puts core files.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// Into the working directory: with this in front, and whether each process has a file of its own.
    Here { front: String, own: bool },
    /// Somewhere else.
    Elsewhere(String),
    /// To this program.
    Program(String),
}

impl Place {
    /// The place by what `core_pattern` and `core_uses_pid` say.
    fn parse(pattern: &str, uses_pid: bool) -> Self {
        let pattern = pattern.trim_end();
        if let Some(program) = pattern.strip_prefix('|') {
            return Self::Program(program.split_whitespace().next().unwrap_or_default().into());
        }
        if pattern.contains('/') {
            return Self::Elsewhere(pattern.into());
        }
        let has_process = ["%p", "%P", "%i", "%I"].iter().any(|process| pattern.contains(process));
        let front = pattern.split('%').next().unwrap_or_default().into();
        Self::Here { front, own: has_process || uses_pid }
    }

    fn of_system() -> io::Result<Self> {
        let uses_pid = fs::read_to_string("/proc/sys/kernel/core_uses_pid").is_ok_and(|is| is.trim() != "0");
        Ok(Self::parse(&fs::read_to_string("/proc/sys/kernel/core_pattern")?, uses_pid))
    }
}

/// A file that has got a second name.
#[derive(Debug)]
struct Linked {
    path: PathBuf,
    /// Device and number of the file.
    file: (u64, u64),
}

/// The core files of the ranks of this host.
#[derive(Debug, Default)]
pub(super) struct Cores {
    linked: Vec<Linked>,
}

impl Cores {
    /// Calls the core file that the kernel has written of a process, whose working directory was this, by its new name. What a
    /// sentence about its end says of it.
    pub(super) fn keep(&mut self, process: i32, directory: &Path, name: &str) -> String {
        match Place::of_system() {
            Ok(place) => self.keep_at(&place, process, directory, name),
            Err(_) => "it left a core file".into(),
        }
    }

    fn keep_at(&mut self, place: &Place, process: i32, directory: &Path, name: &str) -> String {
        let (front, own) = match place {
            Place::Here { front, own } => (front, *own),
            Place::Elsewhere(pattern) => {
                return format!("its core file is where core_pattern says: {pattern}");
            }
            Place::Program(program) => return format!("its core went to {program}, as core_pattern says"),
        };
        let candidates = candidates(directory, front);
        let mut others = false;
        for path in candidates {
            let Ok(core) = open(&path) else { continue };
            match process_of(&core) {
                Some(of) if of == process => {
                    let kept = self.rename(&core, path, own, &directory.join(name));
                    return format!("its core file is {}", kept.display());
                }
                found => others |= found.is_some(),
            }
        }
        let shown = directory.display();
        if others && !own {
            return format!(
                "its core file in {shown} was overwritten by that of another process, as core_pattern has no %p"
            );
        }
        let taken =
            if own { "" } else { ": that of another process has taken its name, or the rank was elsewhere" };
        format!("it left a core file, which is not in {shown}{taken}")
    }

    /// Gives a core file, which is open, its new name. What it is called then.
    fn rename(&mut self, core: &File, old: PathBuf, own: bool, new: &Path) -> PathBuf {
        let _ = fs::remove_file(new);
        // Not by its old name: that may be another one's file by now.
        let opened = PathBuf::from(format!("/proc/self/fd/{}", core.as_raw_fd()));
        let linked = linkat(AT_FDCWD, &opened, AT_FDCWD, new, AtFlags::AT_SYMLINK_FOLLOW).is_ok();
        if own {
            // Nobody else writes a file of this name.
            let done = if linked { fs::remove_file(&old).is_ok() } else { fs::rename(&old, new).is_ok() };
            return if linked || done { new.into() } else { old };
        }
        let Ok(file) = core.metadata() else { return old };
        if !linked {
            return old;
        }
        self.linked.push(Linked { path: old, file: (file.dev(), file.ino()) });
        new.into()
    }

    /// All ranks have ended, and none writes a core file any more: those that have new names lose the old ones.
    pub(super) fn tidy(&mut self) {
        for linked in self.linked.drain(..) {
            let found = fs::symlink_metadata(&linked.path).map(|file| (file.dev(), file.ino()));
            if found.ok() == Some(linked.file) {
                let _ = fs::remove_file(linked.path);
            }
        }
    }
}

/// Files of a directory whose names begin so, the newest first, without those that have been renamed.
fn candidates(directory: &Path, front: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(front) && !name.contains(".rank-")
        })
        .filter_map(|entry| {
            let file = entry.metadata().ok().filter(fs::Metadata::is_file)?;
            Some((file.modified().ok()?, entry.path()))
        })
        .collect();
    found.sort_by(|a, b| b.cmp(a));
    found.truncate(MOST_CANDIDATES);
    found.into_iter().map(|(_, path)| path).collect()
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path)
}

/// The process that a core file is of, by its note `NT_PRPSINFO`; `None` when it is no core file.
fn process_of(core: &File) -> Option<i32> {
    const CORE: u16 = 4;
    const NOTES: u32 = 4;
    const ABOUT_PROCESS: u32 = 3;
    /// Where it has the process id.
    const PID: usize = 24;
    let mut header = [0; 64];
    core.read_exact_at(&mut header, 0).ok()?;
    // 64 bits, little-endian.
    if !header.starts_with(b"\x7fELF\x02\x01") || half(&header, 16)? != CORE {
        return None;
    }
    let (table, size, count) = (long(&header, 32)?, half(&header, 54)?, half(&header, 56)?);
    for segment in 0..u64::from(count.min(64)) {
        let mut entry = [0; 56];
        core.read_exact_at(&mut entry, table.checked_add(segment * u64::from(size))?).ok()?;
        if word(&entry, 0)? != NOTES {
            continue;
        }
        let mut notes = vec![0; usize::try_from(long(&entry, 32)?).ok()?.min(MOST_NOTES)];
        core.read_exact_at(&mut notes, long(&entry, 8)?).ok()?;
        let mut rest = &notes[..];
        while let (Some(name), Some(length), Some(kind)) = (word(rest, 0), word(rest, 4), word(rest, 8)) {
            let padded = |length: u32| (length as usize).next_multiple_of(4);
            let content = 12 + padded(name);
            if kind == ABOUT_PROCESS && rest.get(12..16) == Some(b"CORE") {
                return word(rest.get(content..)?, PID).map(u32::cast_signed);
            }
            rest = rest.get(content + padded(length)..).unwrap_or_default();
        }
    }
    None
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the kernel writes the beginning of a core file: a note about a thread, then that about the process.
    fn core_of(process: i32) -> Vec<u8> {
        let mut file = vec![0; 64 + 56];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[16] = 4;
        file[32] = 64;
        file[54] = 56;
        file[56] = 1;
        file[64] = 4;
        file[64 + 8] = 120;
        let mut notes = Vec::new();
        for (kind, content) in [(1u32, vec![7; 30]), (3, vec![9; 136])] {
            notes.extend([5u32, content.len() as u32, kind].iter().flat_map(|word| word.to_le_bytes()));
            notes.extend(b"CORE\0\0\0\0");
            let at = notes.len() + 24;
            notes.extend(content);
            if kind == 3 {
                notes[at..at + 4].copy_from_slice(&process.to_le_bytes());
            }
            notes.resize(notes.len().next_multiple_of(4), 0);
        }
        file[64 + 32..64 + 40].copy_from_slice(&(notes.len() as u64).to_le_bytes());
        file.extend(notes);
        file
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("posthaste-cores-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn patterns_are_places() {
        let here = |front: &str, own| Place::Here { front: front.into(), own };
        for (pattern, uses_pid, expected) in [
            ("core\n", false, here("core", false)),
            ("core\n", true, here("core", true)),
            ("core.%p\n", false, here("core.", true)),
            ("%e-%s.core\n", false, here("", false)),
            ("/var/crash/core.%e\n", false, Place::Elsewhere("/var/crash/core.%e".into())),
            ("cores/%p\n", false, Place::Elsewhere("cores/%p".into())),
            (
                "|/usr/lib/systemd/systemd-coredump %P %u\n",
                false,
                Place::Program("/usr/lib/systemd/systemd-coredump".into()),
            ),
        ] {
            assert_eq!(Place::parse(pattern, uses_pid), expected, "{pattern}");
        }
    }

    #[test]
    fn a_core_file_says_whose_it_is_and_others_are_left_alone() {
        let folder = folder("own");
        let place = Place::parse("core.%p", false);
        fs::write(folder.join("core.41"), core_of(41)).unwrap();
        fs::write(folder.join("core.42"), core_of(42)).unwrap();
        fs::write(folder.join("core.rank-1"), core_of(42)).unwrap();
        for (name, content) in
            [("core.c", &b"int main"[..]), ("core.short", b"\x7fELF\x02\x01"), ("core.0", b"")]
        {
            fs::write(folder.join(name), content).unwrap();
        }
        let mut cut = core_of(42);
        cut.truncate(130);
        fs::write(folder.join("core.cut"), cut).unwrap();
        let mut cores = Cores::default();
        let said = cores.keep_at(&place, 42, &folder, "core.rank-1");
        assert_eq!(said, format!("its core file is {}/core.rank-1", folder.display()));
        cores.tidy();
        assert_eq!(names(&folder), ["core.0", "core.41", "core.c", "core.cut", "core.rank-1", "core.short"]);
        assert_eq!(fs::read(folder.join("core.rank-1")).unwrap(), core_of(42));
        let said = cores.keep_at(&place, 43, &folder, "core.rank-2");
        assert_eq!(said, format!("it left a core file, which is not in {}", folder.display()));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn ranks_that_share_a_name_keep_what_is_theirs() {
        let folder = folder("shared");
        let place = Place::parse("core", false);
        let core = folder.join("core");
        let mut cores = Cores::default();
        // The kernel takes the old file away and makes a new one.
        let dump = |process| {
            let _ = fs::remove_file(&core);
            fs::write(&core, core_of(process)).unwrap();
        };
        dump(41);
        assert!(cores.keep_at(&place, 41, &folder, "core.rank-0").ends_with("/core.rank-0"));
        dump(42);
        // That of 43 takes it away before anybody looks.
        dump(43);
        let said = cores.keep_at(&place, 42, &folder, "core.rank-1");
        assert!(
            said.ends_with("was overwritten by that of another process, as core_pattern has no %p"),
            "{said}"
        );
        assert_eq!(names(&folder), ["core", "core.rank-0"]);
        assert!(cores.keep_at(&place, 43, &folder, "core.rank-2").ends_with("/core.rank-2"));
        // Between the kernel's two steps there is none.
        fs::rename(&core, folder.join("x")).unwrap();
        let said = cores.keep_at(&place, 44, &folder, "core.rank-3");
        assert!(
            said.contains("which is not in") && said.contains("another process has taken its name"),
            "{said}"
        );
        fs::rename(folder.join("x"), &core).unwrap();
        cores.tidy();
        assert_eq!(names(&folder), ["core.rank-0", "core.rank-2"]);
        assert_eq!(fs::read(folder.join("core.rank-0")).unwrap(), core_of(41));
        assert_eq!(fs::read(folder.join("core.rank-2")).unwrap(), core_of(43));
        // A file of somebody else that has the name at the end stays.
        dump(44);
        cores.keep_at(&place, 44, &folder, "core.rank-3");
        dump(45);
        cores.tidy();
        assert_eq!(names(&folder), ["core", "core.rank-0", "core.rank-2", "core.rank-3"]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_the_kernel_writes_elsewhere_is_said() {
        let mut cores = Cores::default();
        let mut said = |pattern| cores.keep_at(&Place::parse(pattern, false), 1, Path::new("/tmp"), "x");
        assert_eq!(said("/c/core.%p"), "its core file is where core_pattern says: /c/core.%p");
        assert_eq!(said("|/bin/apport %p"), "its core went to /bin/apport, as core_pattern says");
    }
}
