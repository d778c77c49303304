//! What may enter the build: licences, sources and names of all crates of others, direct or not, on both processors.
//!
//! Why each direct dependency is here stands in `docs/dependencies.md`. What must stay true: a crate whose licence is not understood
//! may not enter.

use serde_json::Value;
use spdx::Expression;

use crate::project::{Fallible, Project};

/// Licences that fit MIT OR Apache-2.0.
const LICENCES: [&str; 5] = ["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "Zlib"];
/// The same of data that crates carry, and of additions to the above.
const OF_DATA: &str = "Unicode-3.0";
const ADDITION: &str = "LLVM-exception";
/// What a source begins with that is a registry. Which one, a crate says that wants another one than cargo's own.
const REGISTRY: &str = "registry+";
/// One way to talk to the kernel and one C compiler: ours.
const BANNED: [&str; 2] = ["openssl-sys", "bindgen"];
const PROCESSORS: [&str; 2] = ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"];

/// Says what is wrong with each crate that may not enter.
pub(super) fn check(project: &Project) -> Fallible {
    let only = PROCESSORS.iter().flat_map(|processor| ["--filter-platform", processor]);
    let known = project.metadata(only.chain(["--locked"]))?;
    let packages = known["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let used = known["resolve"]["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    let is_used = |package: &Value| used.iter().any(|node| node["id"] == package["id"]);
    let used: Vec<&Value> = packages.iter().filter(|package| is_used(package)).collect();
    if used.len() < 20 {
        return Err(format!("only {} crates are in the build, says cargo", used.len()));
    }
    let wrong: Vec<String> = used.into_iter().flat_map(complaints).collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("    {}", wrong.join("\n    "))) }
}

/// What is wrong with a crate, as `cargo metadata` describes it.
fn complaints(package: &Value) -> Vec<String> {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let (name, source) = (text("name"), text("source"));
    let mut wrong = Vec::new();
    // Ours may name each other by their paths alone.
    let requirements = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
    let elsewhere = requirements.iter().filter(|needed| !needed["registry"].is_null());
    wrong.extend(
        elsewhere.map(|needed| format!("{name} takes {} from {}", needed["name"], needed["registry"])),
    );
    let any = requirements.iter().filter(|needed| needed["req"] == "*" && needed["path"].is_null());
    wrong.extend(
        any.filter(|_| source.is_empty())
            .map(|needed| format!("{name} takes any version of {}", needed["name"])),
    );
    if source.is_empty() {
        return wrong;
    }
    if !source.starts_with(REGISTRY) {
        wrong.push(format!("{name} comes from {source}, not from a registry"));
    }
    if BANNED.contains(&name) {
        wrong.push(format!("{name} is banned"));
    }
    if !may_enter(text("license")) {
        wrong.push(format!("{name} has the licence {:?}, which is not among those allowed", text("license")));
    }
    wrong
}

/// Whether a licence, as a crate writes it, can be kept to.
fn may_enter(licence: &str) -> bool {
    let Ok(expression) = Expression::parse_mode(licence, spdx::ParseMode::LAX) else { return false };
    expression.evaluate(|wanted| {
        let id = wanted.license.id().map(|id| id.name);
        let addition = wanted.addition.as_ref().map(ToString::to_string);
        let is_known = id.is_some_and(|id| LICENCES.contains(&id) || id == OF_DATA);
        is_known && addition.is_none_or(|addition| addition == ADDITION)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn licences_that_do_not_fit_are_seen() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0-only",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "MIT/Apache-2.0",
            "Apache-2.0 WITH LLVM-exception",
        ] {
            assert!(may_enter(good), "{good}");
        }
        for bad in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-2.0-only",
            "MIT WITH GCC-exception-3.1",
            "as in LICENSE",
            "MPL-2.0",
        ] {
            assert!(!may_enter(bad), "{bad}");
        }
    }

    #[test]
    fn a_crate_that_may_not_enter_is_named_with_each_reason() {
        let package = |name: &str, source: &str, licence: &str| {
            complaints(&json!({ "name": name, "source": source, "license": licence, "dependencies": [] }))
        };
        assert!(package("clap", REGISTRY, "MIT").is_empty());
        assert_eq!(package("bindgen", "git+file:///a", "GPL-3.0-only").len(), 3);
        let elsewhere = json!([{ "name": "clap", "req": "4", "registry": "sparse+a" }]);
        let wrong = complaints(&json!({ "name": "xtask", "source": null, "dependencies": elsewhere }));
        assert_eq!(wrong, ["xtask takes \"clap\" from \"sparse+a\""]);
        let any = json!([{ "name": "clap", "req": "*" }, { "name": "ours", "req": "*", "path": "/a" }]);
        let wrong = complaints(&json!({ "name": "xtask", "source": null, "dependencies": any }));
        assert_eq!(wrong, ["xtask takes any version of \"clap\""]);
    }
}
