//! The table of settings in `docs/settings.md`, as `posthaste-info --markdown` prints it. Written by `cargo xtask settings`;
//! a test of `posthaste-launch` fails when the page has another one.
//! What must stay true: what stands before and after the table is left as it is.

use std::fs;

use crate::project::{Fallible, Project};

const PAGE: &str = "docs/settings.md";

/// Writes the table into the page.
pub(crate) fn write(project: &Project) -> Fallible {
    let arguments =
        ["run", "--quiet", "-p", "posthaste-launch", "--bin", "posthaste-info", "--", "--markdown"];
    let table = project.cargo(&arguments).succeed()?.stdout;
    let path = project.root.join(PAGE);
    let page = fs::read_to_string(&path).map_err(|e| format!("can't read {}: {e}", path.display()))?;
    fs::write(&path, replaced(&page, &table)?).map_err(|e| format!("can't write {}: {e}", path.display()))
}

/// The page with `table` in the place of its first one.
fn replaced(page: &str, table: &str) -> Fallible<String> {
    let first = page.find("\n| ").ok_or_else(|| format!("{PAGE} has no table"))? + 1;
    let length: usize =
        page[first..].split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    Ok([&page[..first], table, &page[first + length..]].concat())
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_the_first_table_is_replaced() {
        let page = "# Title\n\n| a |\n|---|\n| old |\n\nText\n\n| second |\n";
        let wanted = "# Title\n\n| b |\n|---|\n\nText\n\n| second |\n";
        assert_eq!(super::replaced(page, "| b |\n|---|\n").unwrap(), wanted);
        assert!(super::replaced("# Title\n", "| b |\n").is_err());
    }
}
