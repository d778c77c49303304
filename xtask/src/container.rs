//! `cargo xtask container`: the steps of `examples/container/Containerfile`, where there is neither podman nor docker: in a root of their
//! own under `target/container`, which Debian's debootstrap makes, and namespaces for mounts and processes. Then programs are
//! built and run there. It needs root and takes minutes, so no part of `cargo xtask test` has it.
//!
//! What must stay true: the steps are those of the file, in its order; one that this cannot do is an error.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    dist,
    process::Job,
    project::{Fallible, Project},
    tally::Tally,
    unpacked::{Needs, Unpacked},
};

const FILE: &str = "examples/container/Containerfile";

/// The image that the file begins with, as debootstrap calls its release.
const BASE: (&str, &str) = ("debian:12-slim", "bookworm");

pub(crate) fn command(project: &Project) -> Fallible<bool> {
    if !rustix::process::geteuid().is_root() {
        return Err("a root of its own takes root, or podman: docs/containers.md".into());
    }
    let archive = dist::run(project)?.archive;
    let mut tally = Tally::default();
    let mut image = None;
    tally.test("container: the steps of the Containerfile", || {
        image = Some(build(project, &archive)?);
        Ok(())
    });
    if let Some(image) = image {
        tally.test("container: a program is built and run", || image.program(project));
        tally.test("container: ranks on a worker, by ssh", || image.worker());
    }
    Ok(tally.finish())
}

/// One step of the file.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    From(String),
    Run(String),
    Add(String, String),
    Env(String, String),
    Command,
}

/// Comments and ends of lines left out.
fn steps(text: &str) -> Fallible<Vec<Step>> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with('#')).collect();
    let joined = lines.join("\n").replace("\\\n", " ");
    let step = |line: &str| {
        let unknown = || format!("{FILE}: `{line}` is no step that this command knows");
        let (word, rest) = line.split_once(' ').ok_or_else(unknown)?;
        let pair = |at: char| {
            let (one, other) = rest.split_once(at).ok_or_else(unknown)?;
            Ok::<_, String>((one.trim().to_owned(), other.trim().to_owned()))
        };
        match word {
            "FROM" => Ok(Step::From(rest.trim().into())),
            "RUN" => Ok(Step::Run(rest.trim().into())),
            "ADD" => pair(' ').map(|(from, to)| Step::Add(from, to)),
            "ENV" => pair('=').map(|(name, value)| Step::Env(name, value)),
            "CMD" => Ok(Step::Command),
            _ => Err(unknown()),
        }
    };
    joined.lines().filter(|line| !line.trim().is_empty()).map(step).collect()
}

/// A root with all that the file has put there.
struct Image {
    root: PathBuf,
    environment: Vec<(String, String)>,
}

fn build(project: &Project, archive: &Path) -> Fallible<Image> {
    let text = fs::read_to_string(project.root.join(FILE)).map_err(|e| format!("can't read {FILE}: {e}"))?;
    let folder = project.folder("container")?;
    let mut image = Image { root: folder.join("image"), environment: Vec::new() };
    for step in steps(&text)? {
        match step {
            Step::From(name) if name == BASE.0 => begin(project, &folder, &image.root)?,
            Step::From(name) => {
                return Err(format!("{FILE} begins with {name}; this command knows {}", BASE.0));
            }
            Step::Run(script) => drop(image.run(&script).limit(900).succeed()?),
            Step::Add(from, to) => {
                // With a pattern of the shell.
                let name = archive.file_name().unwrap_or_default().to_string_lossy();
                let (start, end) = from.split_once('*').unwrap_or((&from, ""));
                if !(name.starts_with(start) && name.ends_with(end)) {
                    return Err(format!("{FILE} adds {from}, and `cargo xtask dist` has made {name}"));
                }
                let to = image.root.join(to.trim_start_matches('/'));
                Job::new("tar").arg("-C").arg(to).arg("-xzf").arg(archive).limit(120).succeed()?;
            }
            Step::Env(name, value) => {
                let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
                image.environment.push((name, value.replace("$PATH", path)));
            }
            Step::Command => drop(image.run("mpiexec -help").succeed()?),
        }
    }
    Ok(image)
}

/// The base, which is fetched once, copied.
fn begin(project: &Project, folder: &Path, root: &Path) -> Fallible {
    let base = folder.join("base");
    if !folder.join("base-is-done").exists() {
        crate::tally::show(&format!("fetching {} by debootstrap (once; some minutes)", BASE.1));
        let _ = fs::remove_dir_all(&base);
        let tool = Unpacked::fetch(project, "debootstrap", &["debootstrap"], Needs::No)?.root;
        let job = Job::new("sh").arg(tool.join("usr/sbin/debootstrap")).args(["--variant=minbase", BASE.1]);
        let job = job
            .arg(&base)
            .arg(archive_of(BASE.1)?)
            .env("DEBOOTSTRAP_DIR", tool.join("usr/share/debootstrap"));
        job.limit(1800).succeed()?;
        fs::write(folder.join("base-is-done"), "").map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    let _ = fs::remove_dir_all(root);
    Job::new("cp").arg("-a").arg(&base).arg(root).limit(300).succeed()?;
    for file in ["etc/resolv.conf", "etc/hosts"] {
        fs::copy(Path::new("/").join(file), root.join(file)).map_err(|e| format!("{file}: {e}"))?;
    }
    Ok(())
}

/// Where this machine's apt gets a release from.
fn archive_of(release: &str) -> Fallible<String> {
    let said =
        Job::new("apt-get").args(["indextargets", "--format", "$(RELEASE) $(REPO_URI)"]).succeed()?.stdout;
    let known = said.lines().filter_map(|line| line.split_once(' '));
    let archive = known.into_iter().find_map(|(name, archive)| (name == release).then(|| archive.to_owned()));
    archive.ok_or_else(|| format!("apt has no source for {release}, which debootstrap could take it from"))
}

impl Image {
    /// A script in the image, with mounts and processes of its own, as a container has them.
    fn run(&self, script: &str) -> Job {
        let enter = "mount -t proc proc \"$ROOT/proc\"
            mount --rbind /dev \"$ROOT/dev\"
            exec chroot \"$ROOT\" /usr/bin/env -i DEBIAN_FRONTEND=noninteractive \"$@\"";
        let job = Job::new("unshare").args(["--mount", "--pid", "--fork", "--kill-child"]);
        let job = job.args(["sh", "-e", "-c", enter, "enter"]).env("ROOT", &self.root);
        let job = job.arg("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        let job = job.args(self.environment.iter().map(|(name, value)| format!("{name}={value}")));
        job.args(["sh", "-e", "-c", script])
    }

    fn program(&self, project: &Project) -> Fallible {
        let source = project.root.join("tests/c/build/program.c");
        fs::copy(&source, self.root.join("tmp/program.c"))
            .map_err(|e| format!("{}: {e}", source.display()))?;
        let script = "mpicc /tmp/program.c -o /tmp/program\nmpiexec -n 3 /tmp/program\n\
                      mpicc -abi=mpich /tmp/program.c -o /tmp/of-mpich\nmpiexec -n 2 /tmp/of-mpich";
        let said = self.run(script).limit(120).succeed()?.stdout;
        match ["3 ranks, sum 3", "2 ranks, sum 1"].iter().find(|wanted| !said.contains(**wanted)) {
            Some(missing) => Err(format!("`{missing}` is missing in:\n{said}")),
            None => Ok(()),
        }
    }

    /// As the mpi-operator has it, with this image as launcher and worker at once: its lists of hosts in a file and a variable.
    fn worker(&self) -> Fallible {
        let script = "mkdir -p /root/.ssh && rm -f /root/.ssh/id_ed25519*\n\
            ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519\n\
            cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys\n\
            /usr/sbin/sshd -p 2299 -o ListenAddress=127.0.0.1\n\
            echo 127.0.0.1:2 >/tmp/hosts\n\
            export HYDRA_HOST_FILE=/tmp/hosts HYDRA_LAUNCH_EXTRA_ARGS='-p 2299' HYDRA_LAUNCHER=ssh\n\
            mpiexec -n 2 /tmp/program";
        let said = self.run(script).limit(120).succeed()?.stdout;
        if said.contains("2 ranks, sum 1") { Ok(()) } else { Err(said) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;

    #[test]
    fn the_steps_of_the_file_are_known() {
        let text = fs::read_to_string(Project::find().root.join(FILE)).unwrap();
        let steps = steps(&text).unwrap();
        assert_eq!(steps[0], Step::From(BASE.0.into()));
        assert!(steps.iter().filter(|step| matches!(step, Step::Run(_))).count() == 3, "{steps:?}");
        assert!(steps.iter().any(|step| matches!(step, Step::Add(_, to) if to == "/opt/")));
        assert_eq!(steps.last(), Some(&Step::Command));
        assert!(super::steps("COPY a b").is_err());
    }
}
