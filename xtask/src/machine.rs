//! The machine under a measurement: which processor it has, and how fast that was during the run.
//! For the heading of bench's tables. What must stay true: a table without its processor says nothing, since what is
//! best on one is far from it on another.

use std::{fs, path::Path};

use crate::measured::{Better, LIMIT, Measured, short};

/// What the system says of the first CPU.
#[derive(Debug, PartialEq, Eq)]
struct Processor {
    name: String,
    family: String,
    model: String,
    second_level_cache: String,
}

/// The lengths at which memcpy is named, by the names of its results.
const MEMCPYS: [(&str, &str); 3] =
    [("64 KiB", "memcpy_65536"), ("1 MiB", "memcpy_1048576"), ("16 MiB", "memcpy_16777216")];

/// Three lines: the processor; hand-off; memcpy. Each figure is the best, and in brackets the span of all kept rounds.
pub(crate) fn heading(measured: &Measured) -> String {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cache = second_level_cache(Path::new("/sys/devices/system/cpu/cpu0/cache"));
    let processor = Processor::from(&cpuinfo, cache).line();
    let handoff = span(measured, "handoff", Better::Lower);
    let memcpy = MEMCPYS.map(|(size, name)| format!("{size} {}", span(measured, name, Better::Higher)));
    format!("processor: {processor}\nhand-off: {handoff} us\nmemcpy: {} GB/s\n", memcpy.join(", "))
}

fn span(measured: &Measured, name: &str, better: Better) -> String {
    match (measured.best_and_median(LIMIT, name, better), measured.span(LIMIT, name)) {
        (Some((best, _)), Some((least, most))) => {
            format!("{} ({} to {})", short(best), short(least), short(most))
        }
        _ => "not measured".into(),
    }
}

impl Processor {
    /// From the text of `/proc/cpuinfo`.
    fn from(cpuinfo: &str, second_level_cache: Option<String>) -> Self {
        let entry = |wanted: &str| {
            let values = cpuinfo.lines().filter_map(|line| line.split_once(':'));
            let mut values = values.filter(|(name, _)| name.trim() == wanted);
            values.next().map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
        };
        Self {
            name: entry("model name"),
            family: entry("cpu family"),
            model: entry("model"),
            second_level_cache: second_level_cache.unwrap_or("unknown".to_owned()),
        }
    }

    fn line(&self) -> String {
        let Self { name, family, model, second_level_cache } = self;
        format!("{name} (family {family}, model {model}, L2 {second_level_cache})")
    }
}

/// The size of the second-level cache, in the words of the system (`1024K`), from a CPU's folder of caches.
fn second_level_cache(folder: &Path) -> Option<String> {
    let caches = fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path());
    let word = |path: &Path, name: &str| Some(fs::read_to_string(path.join(name)).ok()?.trim().to_owned());
    let mut second = caches.filter(|path| word(path, "level").as_deref() == Some("2"));
    word(&second.next()?, "size")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_named_by_the_entries_of_its_first_cpu() {
        let cpuinfo = "processor\t: 0\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: A: fast one\n\n\
                       processor\t: 1\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: B\n";
        let line = Processor::from(cpuinfo, Some("1024K".into())).line();
        assert_eq!(line, "A: fast one (family 25, model 17, L2 1024K)");
    }

    #[test]
    fn what_the_system_does_not_say_is_unknown() {
        let line = Processor::from("", second_level_cache(Path::new("/no/such/folder"))).line();
        assert_eq!(line, "unknown (family unknown, model unknown, L2 unknown)");
    }

    #[test]
    fn the_heading_has_the_best_and_the_span_of_what_was_measured() {
        let mut m = Measured::default();
        m.take(LIMIT, "result handoff 0.05 us\nresult handoff 0.08 us\n");
        m.take(LIMIT, "result memcpy_65536 50 GB/s\nresult memcpy_65536 40 GB/s\n");
        let text = heading(&m);
        assert!(text.contains("hand-off: 0.050 (0.050 to 0.080) us"), "{text}");
        assert!(
            text.contains("64 KiB 50.0 (40.0 to 50.0)") && text.contains("16 MiB not measured"),
            "{text}"
        );
    }
}
