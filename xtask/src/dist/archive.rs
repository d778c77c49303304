//! The archive: unpack it anywhere, and put its `bin` into PATH.

use std::path::{Path, PathBuf};

use super::{VERSION, copy_all, fresh};
use crate::{process::Job, project::Fallible};

pub(super) fn pack(tree: &Path, folder: &Path) -> Fallible<PathBuf> {
    let name = format!("posthaste-{VERSION}-linux-{}", std::env::consts::ARCH);
    let root = fresh(&folder.join("archive"))?;
    copy_all(tree, &fresh(&root.join(&name))?)?;
    let archive = folder.join(format!("{name}.tar.gz"));
    let job = Job::new("tar").args(["--owner=0", "--group=0", "--numeric-owner", "--sort=name", "-C"]);
    job.arg(&root).arg("-czf").arg(&archive).arg(&name).succeed()?;
    Ok(archive)
}
