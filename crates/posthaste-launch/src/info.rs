//! `posthaste-info`: what this installation can do on this host, and what the settings are.
//!
//! What must stay true: it says of each method whether it is usable here, and if not, why not; it starts no job. What it
//! says of a setting is what docs/settings.md says, whose table is made here too (`--markdown`).

use posthaste_core::config::{BounceBuffer, Config, TUNABLES, Tunable, Way};
use posthaste_core::meeting::setting_shown;
use posthaste_os::fabric::{FILE, Library, Wanted};
use posthaste_os::node::Node;
use posthaste_os::plugin::Plugin;
use posthaste_os::{copying, machine, peer_copy, pmix, socket};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use crate::environment;

/// The libraries of an installation: what programs call them (`--json`), what they are for, and where they lie.
const LIBRARIES: [(&str, &str, &str); 4] = [
    ("standard", "C, the standard ABI", "lib/libmpi_abi.so.1"),
    ("fortran", "Fortran, the standard ABI", "lib/libmpifort_abi.so.1"),
    ("mpich", "C, MPICH's ABI", "mpich/lib/libmpi.so.12"),
    ("mpich_fortran", "Fortran, MPICH's ABI", "mpich/lib/libmpifort.so.12"),
];

/// Runs the command and returns its exit code.
pub fn main() -> i32 {
    let mut arguments = std::env::args_os().skip(1);
    if let Some(argument) = arguments.next() {
        let argument = argument.to_string_lossy();
        let lookup = |name: &str| std::env::var(name).ok();
        let text = match &*argument {
            "--markdown" => Some(settings_table()),
            "--json" => Some(format!("{:#}\n", as_json(lookup))),
            _ => None,
        };
        if let Some(text) = text {
            return i32::from(io::stdout().write_all(text.as_bytes()).is_err());
        }
        let wanted = ["-h", "-help", "--help", "-V", "--version"].contains(&&*argument);
        let usage = format!(
            "posthaste-info of posthaste {}: says which methods are usable on this host, which launchers are \
             understood, and what the settings are; with --json the same for programs, with --markdown only the settings, as a \
             table\n",
            env!("CARGO_PKG_VERSION")
        );
        let said = if wanted {
            io::stdout().write_all(usage.as_bytes())
        } else {
            io::stderr().write_all(usage.as_bytes())
        };
        return i32::from(!wanted || said.is_err());
    }
    let lookup = |name: &str| std::env::var(name).ok();
    i32::from(io::stdout().write_all(report(lookup).as_bytes()).is_err())
}

/// All that there is to say; `lookup` reads the environment.
fn report(lookup: impl Fn(&str) -> Option<String>) -> String {
    let mut text = format!("posthaste {}, MPI 5.0, standard ABI 1.0\n", env!("CARGO_PKG_VERSION"));
    let (architecture, system) = (std::env::consts::ARCH, std::env::consts::OS);
    let optimised = if cfg!(debug_assertions) { "not optimised" } else { "optimised" };
    let _ = writeln!(text, "built for {architecture} {system}, {optimised}");
    let read = Config::read(&lookup);
    if let Err(why) = &read {
        let _ = writeln!(text, "the settings cannot be used: {why}");
    }
    let config = read.unwrap_or_default();
    let _ = writeln!(text, "\nhost {}, {} CPUs usable", machine::host_name(), machine::usable_cpus());
    let _ = writeln!(text, "\nmethods");
    let _ = writeln!(text, "  self    usable: messages to the own rank");
    for way in Way::ALL {
        let _ = writeln!(text, "  {:<7} {}", way.name(), method(way, &config));
    }
    let _ = writeln!(text, "  links   {}", links(&config));
    let _ = writeln!(text, "\nlaunchers");
    let _ = writeln!(text, "  PMI-1   usable: our mpiexec, Hydra, srun --mpi=pmi2, Flux");
    let _ = writeln!(text, "  PMIx    {}", launcher_library());
    text += &libraries(&prefix());
    text += &installation();
    let _ = writeln!(text, "\nsettings (environment variables; those in force are marked by *)");
    for tunable in TUNABLES {
        let (mark, value) = match in_force(&lookup, tunable) {
            Some(value) => ('*', value),
            None => (' ', tunable.default.to_owned()),
        };
        let _ = writeln!(text, "{mark} {} = {value}", tunable.name);
        text += &indented(tunable.meaning);
    }
    text
}

/// What a setting is, if it is set. Whoever reads it here does not learn the secret of a names server.
fn in_force(lookup: impl Fn(&str) -> Option<String>, tunable: &Tunable) -> Option<String> {
    let value = lookup(tunable.name)?;
    Some(if tunable.name == "POSTHASTE_NAMES" { setting_shown(&value) } else { value })
}

/// Whether ranks can use a method here, and if not, why not.
fn method(way: Way, config: &Config) -> String {
    let is_named = config.methods.admit(way);
    match way {
        _ if !way.is_built() => "not in this build".to_owned(),
        Way::Fabric => fabric(config, is_named),
        Way::Plugin => plugin(config, is_named),
        _ if !is_named => format!("left out by POSTHASTE_METHODS, which admits {}", config.methods),
        Way::Shm => shared_memory(config),
        Way::Tcp => tcp(config),
    }
}

/// The same for programs. A key once there stays, with its meaning.
fn as_json(lookup: impl Fn(&str) -> Option<String>) -> Value {
    let read = Config::read(&lookup);
    let mistake = read.as_ref().err().map(ToString::to_string);
    let config = read.unwrap_or_default();
    let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let methods = Way::ALL.map(|way| {
        let said = line(&method(way, &config));
        json!({
            "name": way.name(),
            "built": way.is_built(),
            "usable": said.starts_with("usable") && !said.starts_with("usable if"),
            "said": said,
        })
    });
    let settings = TUNABLES.iter().map(
        |tunable| json!({ "name": tunable.name, "default": tunable.default, "value": in_force(&lookup, tunable) }),
    );
    json!({
        "name": "posthaste",
        "version": env!("CARGO_PKG_VERSION"),
        "mpi": { "version": 5, "subversion": 0 },
        "abi": { "version": 1, "subversion": 0 },
        "build": {
            "architecture": std::env::consts::ARCH,
            "system": std::env::consts::OS,
            "optimised": !cfg!(debug_assertions),
        },
        "prefix": prefix(),
        "libraries": library_paths(&prefix()),
        "host": { "name": machine::host_name(), "cpus": machine::usable_cpus() },
        "methods": methods.to_vec(),
        "launchers": { "pmi1": true, "pmix": pmix::found() },
        "settings": settings.collect::<Vec<_>>(),
        "mistake": mistake,
    })
}

/// The folder that has the `bin` of this program.
fn prefix() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    program.parent().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default()
}

/// The libraries that are installed with this program.
fn libraries(prefix: &Path) -> String {
    let mut text = format!("\nlibraries in {}\n", prefix.display());
    for (_, what, file) in LIBRARIES {
        let state = if prefix.join(file).exists() { file } else { "not there" };
        let _ = writeln!(text, "  {what:<26} {state}");
    }
    text
}

/// The same for programs: the path of each, or null.
fn library_paths(prefix: &Path) -> Value {
    let path = |file: &str| Some(prefix.join(file)).filter(|path| path.exists());
    LIBRARIES.iter().map(|(name, _, file)| ((*name).to_owned(), json!(path(file)))).collect()
}

/// Where this program lies, if another MPI lies there, too.
fn installation() -> String {
    let prefix = prefix();
    let others = environment::described(&environment::shared(&prefix));
    if others.is_empty() { others } else { format!("\ninstallation {}\n{others}", prefix.display()) }
}

/// Sentences in lines that a terminal has room for.
fn indented(sentences: &str) -> String {
    const INDENT: &str = "     ";
    let (mut text, mut line) = (String::new(), INDENT.to_owned());
    for word in sentences.split(' ') {
        if line.chars().count() + word.chars().count() >= 100 {
            text = text + &line + "\n";
            INDENT.clone_into(&mut line);
        }
        line = line + " " + word;
    }
    text + &line + "\n"
}

/// The settings as the table of docs/settings.md, where `cargo xtask settings` puts it.
fn settings_table() -> String {
    let mut text = "| variable | default | meaning |\n|---|---|---|\n".to_owned();
    for Tunable { name, default, meaning } in TUNABLES {
        let meaning: Vec<String> = meaning.split(' ').map(linked).collect();
        let _ = writeln!(text, "| `{name}` | {default} | {} |", meaning.join(" "));
    }
    text
}

/// `docs/PAGE` as a link from another page of that folder.
fn linked(word: &str) -> String {
    let Some((before, rest)) = word.split_once("docs/") else { return word.to_owned() };
    let page = rest.trim_end_matches([')', '.', ',', ';']);
    format!("{before}[{page}]({page}){}", &rest[page.len()..])
}

fn shared_memory(config: &Config) -> String {
    if let Err(why) = Node::create(2) {
        return format!("not usable: {why}");
    }
    let direct = if peer_copy::probe(std::process::id(), peer_copy::probe_address()) {
        "long messages by direct copy as well"
    } else {
        "without direct copies (process_vm_readv is not allowed here)"
    };
    let (copying, origin) = copying::find_out(&machine::affinity());
    let own = match config.bounce_buffer {
        BounceBuffer::Auto => String::new(),
        BounceBuffer::Small => "\n          POSTHASTE_BOUNCE_BUFFER asks for small bounce buffers".to_owned(),
        BounceBuffer::Own(bytes) => {
            format!(
                "\n          POSTHASTE_BOUNCE_BUFFER asks for a bounce buffer of {} KiB for each pair",
                bytes >> 10
            )
        }
    };
    let processor = copying::processor();
    format!(
        "usable between ranks of one node, {direct}\n          right for the processor {processor}: {copying}\n          \
         ({origin}){own}"
    )
}

/// The addresses that are published to other ranks, or why there are none.
fn tcp(config: &Config) -> String {
    let known = match socket::interfaces() {
        Ok(known) => known,
        Err(why) => return format!("not usable: the network interfaces cannot be listed: {why}"),
    };
    let mut lines = String::new();
    let mut usable = 0;
    for interface in &known {
        let state = if !interface.running {
            "is down"
        } else if !config.admits_interface(&interface.name) {
            "is left out by POSTHASTE_TCP_INTERFACES"
        } else if is_link_local(interface.address) {
            "is good only on its own link, and not used"
        } else {
            usable += 1;
            "is offered to ranks of other nodes"
        };
        let _ = write!(lines, "\n          {} {} {state}", interface.name, interface.address);
    }
    let state =
        if usable > 0 { "usable between any ranks" } else { "not usable: no network interface is left" };
    format!("{state}{lines}")
}

/// The links to ranks of other nodes, where there are several.
fn links(config: &Config) -> String {
    if config.links.is_empty() {
        return "one to each rank of another node (POSTHASTE_LINKS names several)".into();
    }
    let known = socket::interfaces().unwrap_or_default();
    let mut text = "several to each rank of another node, in the place of tcp and fabric".to_owned();
    for link in &config.links {
        let is_up = |name: &String| known.iter().any(|one| one.name == *name && one.running);
        let state = match &link.interface {
            Some(name) if !is_up(name) => ", which is not usable: this host has no such interface that is up",
            _ => "",
        };
        let _ = write!(text, "\n          {link}{state}");
    }
    text
}

/// What libfabric offers, or why there is nothing. It is used only if it is asked for, so it is shown in any case.
fn fabric(config: &Config, is_named: bool) -> String {
    let file = config.fabric_library.as_deref().unwrap_or(FILE);
    let library = match Library::open(file) {
        Ok(library) => library,
        Err(why) => return format!("not usable: {why}"),
    };
    let (provider, domain) = config.fabric_wanted();
    let found = match library.providers(Wanted { provider, domain, ..Wanted::default() }) {
        Ok(found) => found,
        Err(why) => return format!("not usable with libfabric {}: {why}", library.version()),
    };
    let use_it = if is_named { "usable" } else { "usable if POSTHASTE_METHODS names it" };
    let mut lines: Vec<String> = Vec::new();
    for found in &found {
        let state = match found.flaw() {
            Some(flaw) => format!(": not used, {flaw}"),
            None if found.is_second_choice() => ": only if POSTHASTE_FABRIC_PROVIDER names it".to_owned(),
            None => String::new(),
        };
        let line = format!("\n          {found}{state}");
        if !lines.contains(&line) {
            lines.push(line); // one network may be offered in several ways
        }
    }
    format!("{use_it}, by libfabric {}, the best provider first{}", library.version(), lines.concat())
}

/// The method from a shared object, if the settings say which one.
fn plugin(config: &Config, is_named: bool) -> String {
    let Some(setting) = &config.plugin else { return "none: POSTHASTE_PLUGIN names no shared object".into() };
    match Plugin::load(setting) {
        Ok(plugin) if is_named => format!("usable: {}", plugin.name()),
        Ok(plugin) => format!("usable if POSTHASTE_METHODS names it: {}", plugin.name()),
        Err(why) => format!("not usable: {why}"),
    }
}

/// Such an address needs an interface besides, whose number is another on each host.
fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

fn launcher_library() -> String {
    match pmix::found() {
        Some(place) => {
            format!("usable: mpirun of Open MPI, prterun, srun --mpi=pmix, by {}", place.display())
        }
        None => {
            "not usable from here: no libpmix.so.2 is found (launchers that bring their own say where it is)"
                .into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_and_setting_is_there_with_its_state() {
        let text = report(|name| (name == "POSTHASTE_METHODS").then(|| "^tcp".to_owned()));
        assert!(text.contains("  shm     usable between ranks of one node"), "{text}");
        assert!(text.contains("  tcp     left out by POSTHASTE_METHODS, which admits shm"), "{text}");
        assert!(text.contains("* POSTHASTE_METHODS = ^tcp"), "{text}");
        let fabric = text.lines().find(|line| line.starts_with("  fabric ")).unwrap();
        assert!(
            fabric.contains("usable if POSTHASTE_METHODS names it") || fabric.contains("not usable"),
            "{fabric}"
        );
        let missing = report(|name| (name == "POSTHASTE_FABRIC_LIBRARY").then(|| "libnothing.so".to_owned()));
        assert!(missing.contains("  fabric  not usable: libnothing.so"), "{missing}");
        let on_lo = report(|name| (name == "POSTHASTE_FABRIC_PROVIDER").then(|| "tcp@lo".to_owned()));
        let mut providers = on_lo.lines().filter(|line| line.starts_with("          tcp"));
        assert!(providers.all(|line| line.contains(" on lo ")), "{on_lo}");
        assert!(text.contains("  plugin  none: POSTHASTE_PLUGIN names no shared object"), "{text}");
        let missing = report(|name| (name == "POSTHASTE_PLUGIN").then(|| "nothing".to_owned()));
        assert!(missing.contains("  plugin  not usable: libposthaste_nothing.so"), "{missing}");
        for tunable in TUNABLES {
            assert!(text.contains(tunable.name), "{}", tunable.name);
            for word in tunable.meaning.split(' ') {
                assert!(text.contains(word), "{}: {word}", tunable.name);
            }
        }
        let (_, settings) = text
            .split_once(
                "
settings ",
            )
            .unwrap();
        assert!(settings.lines().all(|line| line.chars().count() <= 100), "{settings}");
        let links = report(|name| (name == "POSTHASTE_LINKS").then(|| "tcp@lo,tcp@none0".to_owned()));
        let expected =
            "of tcp and fabric\n          tcp@lo\n          tcp@none0, which is not usable: this host";
        assert!(links.contains(expected), "{links}");
        assert!(text.contains("  links   one to each rank of another node"), "{text}");
        assert!(report(|_| None).contains("  tcp     usable between any ranks\n          "));
    }

    #[test]
    fn programs_are_told_the_same() {
        let value = as_json(|name| (name == "POSTHASTE_METHODS").then(|| "^tcp".to_owned()));
        let method = |name: &str| {
            let methods = value["methods"].as_array().unwrap();
            methods.iter().find(|method| method["name"] == name).unwrap().clone()
        };
        assert_eq!(
            (method("shm")["usable"].as_bool(), method("tcp")["usable"].as_bool()),
            (Some(true), Some(false))
        );
        assert_eq!(value["version"], env!("CARGO_PKG_VERSION"));
        assert!(value["mistake"].is_null() && value["host"]["cpus"].as_u64() > Some(0));
        let settings = value["settings"].as_array().unwrap();
        assert_eq!(settings.len(), TUNABLES.len());
        assert!(settings.iter().any(|one| one["name"] == "POSTHASTE_METHODS" && one["value"] == "^tcp"));
        let wrong = as_json(|name| (name == "POSTHASTE_SPIN_US").then(|| "soon".to_owned()));
        assert!(wrong["mistake"].as_str().unwrap().contains("POSTHASTE_SPIN_US"));
    }

    #[test]
    fn the_secret_of_a_names_server_is_not_shown() {
        let secret = "5f".repeat(16);
        let lookup = |name: &str| (name == "POSTHASTE_NAMES").then(|| format!("ph1/7/{secret}/10.0.0.1"));
        let (text, json) = (report(lookup), as_json(lookup).to_string());
        assert!(text.contains("* POSTHASTE_NAMES = a names server, port 10.0.0.1:7\n"), "{text}");
        assert!(!text.contains(&secret) && !json.contains(&secret) && json.contains("port 10.0.0.1:7"));
    }

    #[test]
    fn libraries_are_there_or_not() {
        let prefix = std::env::temp_dir().join(format!("posthaste-info-{}", std::process::id()));
        std::fs::create_dir_all(prefix.join("mpich/lib")).unwrap();
        std::fs::write(prefix.join("mpich/lib/libmpi.so.12"), "").unwrap();
        let (text, paths) = (libraries(&prefix), library_paths(&prefix));
        std::fs::remove_dir_all(&prefix).unwrap();
        assert!(text.starts_with(&format!("\nlibraries in {}\n", prefix.display())), "{text}");
        assert!(text.contains("  C, MPICH's ABI             mpich/lib/libmpi.so.12\n"), "{text}");
        assert!(text.contains("  Fortran, the standard ABI  not there\n"), "{text}");
        assert_eq!(paths["mpich"], json!(prefix.join("mpich/lib/libmpi.so.12")));
        assert!(paths["standard"].is_null() && paths["mpich_fortran"].is_null(), "{paths}");
        assert!(as_json(|_| None)["libraries"].is_object() && report(|_| None).contains("\nlibraries in /"));
    }

    #[test]
    fn a_setting_that_cannot_be_read_is_named() {
        let text = report(|name| (name == "POSTHASTE_SPIN_US").then(|| "soon".to_owned()));
        assert!(text.contains("the settings cannot be used: POSTHASTE_SPIN_US is \"soon\""), "{text}");
    }

    #[test]
    fn the_page_has_the_table_of_settings() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");
        let page = std::fs::read_to_string(page).unwrap();
        let table: Vec<&str> = page.lines().filter(|line| line.starts_with("| `POSTHASTE_")).collect();
        let wanted = settings_table();
        assert_eq!(
            table,
            wanted.lines().skip(2).collect::<Vec<&str>>(),
            "write it by `cargo xtask settings`"
        );
        for link in ["[tcp.md](tcp.md)).", "[hosts.md](hosts.md) |", "[protocols.md](protocols.md) |"] {
            assert!(wanted.contains(link), "{link}");
        }
    }
}
