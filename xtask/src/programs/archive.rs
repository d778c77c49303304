//! Sources from the archive that this Debian system itself comes from, by `apt-get source`.
//!
//! Systems seldom list their archive's sources, so apt gets a configuration of its own under `target/programs/apt`: the
//! lines of the archive that holds `base-files`, as sources. What cannot be had there, as mirrors may lack old archives, is asked for in
//! the suite that becomes the next release. No root is needed. What must stay true: /etc and the state of the system's apt
//! are left alone; what was fetched once is not asked for again, so a second run needs no network; patches of Debian are not
//! applied.

use std::{
    cell::OnceCell,
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    packages::present,
    process::Job,
    project::{Fallible, Project, files},
};

/// The archive, and the folder in which what it gives is kept.
#[derive(Debug)]
pub(super) struct Archive {
    home: PathBuf,
    /// What became of making apt's configurations, once they were needed.
    configured: [OnceCell<Fallible>; SUITES.len()],
}

/// Where sources are looked for, by the folder of apt's configuration, and what stands there for the suites of this system.
const SUITES: [(&str, Option<&str>); 2] = [("apt", None), ("apt-next", Some("testing"))];

impl Archive {
    /// Nothing is fetched yet.
    pub(super) fn open(project: &Project) -> Fallible<Self> {
        Ok(Self { home: project.folder("programs")?, configured: Default::default() })
    }

    /// The folder of a source package.
    pub(super) fn folder(&self, package: &str) -> PathBuf {
        self.home.join(package)
    }

    /// Why a source package can't be had on such a system, if so.
    pub(super) fn unusable(&self, package: &str) -> Option<String> {
        if self.found(package).is_some() || present("apt-get") {
            return None;
        }
        let folder = self.folder(package);
        Some(format!(
            "there is no apt-get here to fetch its source; {package}_VERSION.orig.tar.gz put into {} serves as well",
            folder.display()
        ))
    }

    /// The source archive of a package and its version; fetched if it is not there.
    pub(super) fn fetch(&self, package: &str) -> Fallible<(PathBuf, String)> {
        if let Some(found) = self.found(package) {
            return Ok(found);
        }
        let folder = self.folder(package);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let arguments = ["source", "--quiet", "--download-only", "--only-source", "--tar-only", package];
        let mut complaint = String::new();
        for suites in 0..SUITES.len() {
            let tried = self.configured[suites]
                .get_or_init(|| self.configure(suites))
                .clone()
                .and_then(|()| self.apt(suites, &arguments).dir(&folder).limit(600).succeed().map(drop));
            match tried {
                Ok(()) => {
                    complaint.clear();
                    break;
                }
                // That of the system's own suites says most.
                Err(first) if complaint.is_empty() => complaint = first,
                Err(_) => {}
            }
        }
        if !complaint.is_empty() {
            return Err(format!(
                "can't fetch the source of {package}: is the network there? \
                 {package}_VERSION.orig.tar.gz put into {} serves as well\n{complaint}",
                folder.display()
            ));
        }
        self.found(package).ok_or_else(|| {
            format!("apt-get fetched no {package}_VERSION.orig.tar.* into {}", folder.display())
        })
    }

    /// What is there already.
    fn found(&self, package: &str) -> Option<(PathBuf, String)> {
        let folder = self.folder(package);
        let archives = ["gz", "xz", "bz2"].into_iter().flat_map(|kind| files(&folder, kind));
        archives.filter_map(|path| Some((path.clone(), version(&path, package)?))).next_back()
    }

    /// `apt-get` with a configuration of our own.
    fn apt(&self, suites: usize, arguments: &[&str]) -> Job {
        Job::new("apt-get")
            .args(["-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=2"])
            .args(arguments)
            .env("APT_CONFIG", self.home.join(SUITES[suites].0).join("apt.conf"))
    }

    fn configure(&self, suites: usize) -> Fallible {
        let (folder, instead) = SUITES[suites];
        let home = self.home.join(folder);
        let explain = |e: std::io::Error| format!("{}: {e}", home.display());
        for folder in ["sources", "lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(home.join(folder)).map_err(explain)?;
        }
        let policy = Job::new("apt-cache").args(["policy", "base-files"]).succeed()?.stdout;
        let lines = sources(&policy, instead);
        if lines.is_empty() {
            return Err("apt does not know where this system's packages come from: run apt-get update".into());
        }
        fs::write(home.join("sources.list"), lines).map_err(explain)?;
        let here = home.display();
        let configuration = format!(
            "Dir::Etc::SourceList \"{here}/sources.list\";\nDir::Etc::SourceParts \"{here}/sources\";\n\
             Dir::State::Lists \"{here}/lists\";\nDir::Cache \"{here}/cache\";\n"
        );
        fs::write(home.join("apt.conf"), configuration).map_err(explain)?;
        let update = self.apt(suites, &["--quiet", "update"]).limit(300);
        update.succeed().map(drop).map_err(|e| format!("can't fetch the list of Debian's sources\n{e}"))
    }
}

/// `name_VERSION.orig.tar.gz` gives the version.
fn version(path: &Path, package: &str) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let (version, _) = name.strip_prefix(package)?.strip_prefix('_')?.split_once(".orig.tar.")?;
    Some(version.to_owned())
}

/// The archives in what `apt-cache policy` says, as lines of a sources.list, with these suites or another one.
fn sources(policy: &str, instead: Option<&str>) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, address, place, _, "Packages"] = words[..] else { return None };
        let (suite, component) = place.rsplit_once('/')?;
        let suite = instead.unwrap_or(suite);
        Some(format!("deb-src {address} {suite} {component}\n"))
    };
    policy.lines().filter_map(line).collect::<BTreeSet<String>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_archive_of_the_system_becomes_a_line_of_sources() {
        let policy = "base-files:\n  Installed: 12\n  Version table:\n     12.15 500\n        500 \
                      http://archive.example/debian stable/main amd64 Packages\n *** 12.11 100\n        100 \
                      /var/lib/dpkg/status\n";
        assert_eq!(sources(policy, None), "deb-src http://archive.example/debian stable main\n");
        assert_eq!(sources(policy, Some("testing")), "deb-src http://archive.example/debian testing main\n");
        assert_eq!(sources("base-files:\n  Version table:\n        100 /var/lib/dpkg/status\n", None), "");
    }

    #[test]
    fn the_version_is_in_the_name() {
        let version = |name: &str| version(Path::new(name), "some-thing");
        assert_eq!(version("/a/some-thing_1.2+ds1.orig.tar.xz").as_deref(), Some("1.2+ds1"));
        assert_eq!(version("/a/some-thing_1.2-3.debian.tar.xz"), None);
        assert_eq!(version("/a/other_1.2.orig.tar.xz"), None);
    }
}
