//! Names in a folder of this user, with a file for each.
//!
//! The folder is the same whatever the environment says, so jobs of one user on one host find each other under any launcher; a
//! setting names one that several hosts share. A file appears whole or not at all, only its user can read it, and it says who has
//! published it: a name of a process that has ended on this host counts as not published.
//!
//! What must stay true: a name is published once, and only who holds the folder's lock changes anything; nobody else's folder is
//! used; what stands in a file is checked.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use posthaste_os::machine;

use super::{not_published, other_port, shown, taken};
use crate::error::{Error, ErrorClass, Result};

/// What stands first in each file.
const FORM: &str = "posthaste-name-1";

/// The folder.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

/// What is published under a name.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    service: String,
    port: String,
    /// Whose it is: the host, the process there and when that began.
    host: String,
    process: u32,
    began: u64,
}

impl Folder {
    /// The one that is named, or the user's own on this host.
    ///
    /// # Errors
    /// When it does not belong to the user alone.
    pub(super) fn open(named: Option<&str>) -> Result<Self> {
        let own = fs::metadata("/proc/self").map(|own| own.uid());
        let own = own.map_err(|e| Error::system("finding out who runs this process", e))?;
        let folder = match named {
            Some(folder) => PathBuf::from(folder),
            // Not XDG_RUNTIME_DIR or TMPDIR: a login and a job of a batch system have others.
            None => PathBuf::from(format!("/tmp/posthaste-{own}")),
        };
        Self::at(folder, own)
    }

    fn at(folder: PathBuf, own: u32) -> Result<Self> {
        let refuse = |why: String| {
            let text = format!("names cannot be published in {} (POSTHASTE_NAMES): {why}", folder.display());
            Err(Error::other(ErrorClass::Service, text))
        };
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(why) if why.kind() != io::ErrorKind::AlreadyExists => return refuse(why.to_string()),
            _ => {}
        }
        match fs::symlink_metadata(&folder) {
            Err(why) => refuse(why.to_string()),
            Ok(found) if !found.is_dir() => refuse("it is no folder".into()),
            Ok(found) if found.uid() != own => refuse("it belongs to somebody else".into()),
            Ok(found) if found.mode() & 0o022 != 0 => refuse("others may write into it".into()),
            Ok(_) => Ok(Self(folder)),
        }
    }

    /// Publishes a port under the name of a service.
    ///
    /// # Errors
    /// A name that is published already.
    pub(super) fn publish(&self, service: &str, port: &str) -> Result<()> {
        let entry = Entry {
            service: service.to_owned(),
            port: port.to_owned(),
            host: machine::identity(),
            process: std::process::id(),
            began: began(std::process::id()).unwrap_or(0),
        };
        let random = machine::random().map_err(|e| Error::system("making up the name of a file", e))?;
        let mark: String = random.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let draft = self.0.join(format!("draft-{mark}"));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)
            .and_then(|mut file| file.write_all(entry.text().as_bytes()));
        let place = self.place(service);
        let linked = written.and_then(|()| {
            let _alone = self.lock()?;
            // A name of a process that has ended makes room.
            if place.exists() && self.find(service)?.is_none() {
                fs::remove_file(&place)?;
            }
            fs::hard_link(&draft, &place)
        });
        let _ = fs::remove_file(&draft);
        match linked {
            Ok(()) => Ok(()),
            Err(why) if why.kind() == io::ErrorKind::AlreadyExists => Err(taken(service)),
            Err(why) => Err(Error::system(format!("publishing {}", shown(service)), why)),
        }
    }

    /// The port that is published under a name.
    ///
    /// # Errors
    /// None is.
    pub(super) fn look_up(&self, service: &str) -> Result<String> {
        let found =
            self.find(service).map_err(|e| Error::system(format!("looking up {}", shown(service)), e))?;
        found.map(|entry| entry.port).ok_or_else(|| not_published(ErrorClass::Name, service))
    }

    /// Takes a name back.
    ///
    /// # Errors
    /// The name is not published, or another port is.
    pub(super) fn unpublish(&self, service: &str, port: &str) -> Result<()> {
        let locked = self.lock().and_then(|lock| Ok((lock, self.find(service)?)));
        let (_alone, found) = locked.map_err(|e| Error::system(format!("finding {}", shown(service)), e))?;
        match found {
            Some(entry) if entry.port == port => fs::remove_file(self.place(service))
                .map_err(|e| Error::system(format!("taking {} back", shown(service)), e)),
            Some(_) => Err(other_port()),
            None => Err(not_published(ErrorClass::Service, service)),
        }
    }

    /// The services whose ports are published, in alphabetical order.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub(super) fn services(&self) -> Result<Vec<String>> {
        let listed = || -> io::Result<Vec<String>> {
            let mut services = Vec::new();
            for file in fs::read_dir(&self.0)? {
                let file = file?;
                if !file.file_name().to_string_lossy().starts_with("name-") {
                    continue;
                }
                // One that has been taken back meanwhile, or has something else in it, is none.
                let entry = fs::read_to_string(file.path()).ok().and_then(|text| Entry::read(&text));
                services.extend(entry.filter(|entry| !entry.has_ended()).map(|entry| entry.service));
            }
            services.sort_unstable();
            Ok(services)
        };
        listed().map_err(|e| Error::system(format!("listing the names in {}", self.0.display()), e))
    }

    /// Whoever changes something holds this: the system gives it back when a process ends.
    fn lock(&self) -> io::Result<File> {
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.0.join("lock"))?;
        file.lock()?;
        Ok(file)
    }

    fn place(&self, service: &str) -> PathBuf {
        self.0.join(format!("name-{}", blake3::hash(service.as_bytes()).to_hex()))
    }

    /// What is published under a name, unless its process has ended.
    fn find(&self, service: &str) -> io::Result<Option<Entry>> {
        let place = self.place(service);
        let text = match fs::read_to_string(&place) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let entry = Entry::read(&text).filter(|entry| entry.service == service);
        let entry = entry.ok_or_else(|| io::Error::other(format!("{} is no such file", place.display())))?;
        Ok(Some(entry).filter(|entry| !entry.has_ended()))
    }
}

impl Entry {
    fn text(&self) -> String {
        let Self { service, port, host, process, began } = self;
        format!("{FORM}\n{host}\n{process} {began}\n{port}\n{service}")
    }

    fn read(text: &str) -> Option<Self> {
        let mut lines = text.splitn(5, '\n');
        if lines.next()? != FORM {
            return None;
        }
        let host = lines.next()?.to_owned();
        let (process, began) = lines.next()?.split_once(' ')?;
        let (process, began) = (process.parse().ok()?, began.parse().ok()?);
        let port = lines.next()?.to_owned();
        Some(Self { service: lines.next()?.to_owned(), port, host, process, began })
    }

    /// Whether who has published it ran on this host and does not any more.
    fn has_ended(&self) -> bool {
        self.host == machine::identity() && began(self.process) != Some(self.began)
    }
}

/// When a process of this host began, as the system counts; `None` if there is none.
fn began(process: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it is in parentheses and may have any letters.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X");
    let began = fields.nth(18)?.parse().ok();
    began.filter(|_| !has_ended)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(test: &str) -> Folder {
        let own = fs::metadata("/proc/self").unwrap().uid();
        let folder = std::env::temp_dir().join(format!("posthaste-names-{}-{test}", std::process::id()));
        Folder::at(folder, own).unwrap()
    }

    #[test]
    fn a_name_is_found_until_it_is_taken_back() {
        let names = names("found");
        let odd = "a name/with\nlines and ".to_owned() + &"length".repeat(200);
        for service in ["ocean", &odd] {
            assert_eq!(names.look_up(service).unwrap_err().class(), ErrorClass::Name);
            names.publish(service, "ph1/1/x/y").unwrap();
            assert_eq!(names.publish(service, "ph1/2/x/y").unwrap_err().class(), ErrorClass::Service);
            assert_eq!(names.look_up(service).unwrap(), "ph1/1/x/y");
            assert_eq!(names.services().unwrap(), [service]);
            assert_eq!(names.unpublish(service, "ph1/2/x/y").unwrap_err().class(), ErrorClass::Service);
            names.unpublish(service, "ph1/1/x/y").unwrap();
            assert_eq!(names.unpublish(service, "ph1/1/x/y").unwrap_err().class(), ErrorClass::Service);
        }
        let left: Vec<_> = fs::read_dir(&names.0).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(left, ["lock"], "something was left");
        fs::remove_dir_all(&names.0).unwrap();
    }

    #[test]
    fn a_name_of_a_process_that_has_ended_makes_room() {
        let names = names("ended");
        let own = began(std::process::id()).unwrap();
        let entry = Entry {
            service: "ocean".into(),
            port: "old".into(),
            host: machine::identity(),
            process: std::process::id(),
            began: own + 1,
        };
        let write = |entry: &Entry| fs::write(names.place("ocean"), entry.text()).unwrap();
        write(&entry);
        assert_eq!(names.look_up("ocean").unwrap_err().class(), ErrorClass::Name);
        assert!(names.services().unwrap().is_empty());
        write(&entry);
        names.publish("ocean", "new").unwrap();
        assert_eq!(names.look_up("ocean").unwrap(), "new");
        // Of another host nobody knows.
        write(&Entry { host: "elsewhere".into(), ..entry });
        assert_eq!(names.look_up("ocean").unwrap(), "old");
        fs::write(names.place("ocean"), "something else").unwrap();
        assert!(names.look_up("ocean").is_err() && names.services().unwrap().is_empty());
        fs::remove_dir_all(&names.0).unwrap();
    }

    #[test]
    fn one_of_many_gets_the_name_of_a_process_that_has_ended() {
        let names = names("race");
        let began = began(std::process::id()).unwrap() + 1;
        let (host, process) = (machine::identity(), std::process::id());
        for round in 0..50 {
            let old =
                Entry { service: "ocean".into(), port: "old".into(), host: host.clone(), process, began };
            fs::write(names.place("ocean"), old.text()).unwrap();
            let start = std::sync::Barrier::new(4);
            let publish = |port: u32| {
                start.wait();
                names.publish("ocean", &port.to_string()).is_ok()
            };
            let won: Vec<u32> = std::thread::scope(|scope| {
                let all: Vec<_> = (0..4).map(|port| (port, scope.spawn(move || publish(port)))).collect();
                all.into_iter().filter_map(|(port, thread)| thread.join().unwrap().then_some(port)).collect()
            });
            assert_eq!(won.len(), 1, "round {round}: {won:?}");
            assert_eq!(names.look_up("ocean").unwrap(), won[0].to_string());
            names.unpublish("ocean", &won[0].to_string()).unwrap();
        }
        fs::remove_dir_all(&names.0).unwrap();
    }

    #[test]
    fn a_folder_that_others_may_write_into_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let names = names("refused");
        fs::set_permissions(&names.0, fs::Permissions::from_mode(0o777)).unwrap();
        let own = fs::metadata("/proc/self").unwrap().uid();
        assert!(Folder::at(names.0.clone(), own).is_err());
        fs::set_permissions(&names.0, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(Folder::at(names.0.clone(), own + 1).is_err());
        fs::remove_dir(&names.0).unwrap();
    }
}
