//! Names this build, so that copies of it in one process know whether they can share an engine (`src/instance.rs`): by a hash
//! over the sources of this crate and of those below it, and over whatever else decides how values are laid out.

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::process::Command;

/// What cargo says of the build, in so far as it can change the layout or the meaning of values.
const SETTINGS: &[&str] = &["TARGET", "CARGO_CFG_DEBUG_ASSERTIONS"];

fn main() {
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let mut hash = DefaultHasher::new();
    for package in ["../posthaste-os", "../posthaste-pmi", "."] {
        // Beside a published package there are no others; there the version says which ones belong to it.
        add(&Path::new(package).join("src"), &mut hash);
    }
    version.hash(&mut hash);
    let features = env::vars().filter(|(name, _)| name.starts_with("CARGO_FEATURE_"));
    let mut features: Vec<String> = features.map(|(name, _)| name).collect();
    features.sort_unstable();
    features.hash(&mut hash);
    for setting in SETTINGS {
        (setting, env::var_os(setting)).hash(&mut hash);
    }
    // What folders are called in messages changes nothing of that.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags =
        flags.split('\u{1f}').filter(|flag| !flag.is_empty() && !flag.starts_with("--remap-path-prefix="));
    flags.collect::<Vec<_>>().hash(&mut hash);
    // The compiler decides the order of fields.
    let compiler = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV").output();
    compiler.map(|output| output.stdout).unwrap_or_default().hash(&mut hash);
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=POSTHASTE_BUILD={version}-{:016x}", hash.finish());
}

/// Adds the files of a folder and of those in it, in the order of their names.
fn add(folder: &Path, hash: &mut DefaultHasher) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort_unstable();
    for path in paths {
        if path.is_dir() {
            add(&path, hash);
        } else {
            (path.file_name(), fs::read(&path).ok()).hash(hash);
        }
    }
}
