//! Command lines and what is read from them.

use super::*;
use posthaste_pmi::spawn::{Bind, Input, Part};

pub(super) fn around() -> Surroundings {
    let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
    Surroundings {
        environment: vec![pair("PATH", "/bin"), pair("HOME", "/root"), pair("LANG", "C")],
        host: "node7.cluster".into(),
        addresses: || vec![IpAddr::from([10, 0, 0, 7])],
        // Two sockets of eight CPUs in four NUMA nodes.
        parts: |part, cpus| match part {
            Part::Package if !cpus.is_empty() && cpus.iter().all(|cpu| *cpu < 8) => Some(1),
            Part::Package => Some(2),
            Part::NumaNode => Some(4),
            Part::Core => Some(16),
            Part::L3Cache | Part::L2Cache => None,
        },
    }
}

pub(super) fn read(line: &str) -> Result<Request, String> {
    match parse(line.split_whitespace().map(OsString::from), &around())? {
        Wish::Run(request) => Ok(*request),
        other => Err(format!("{other:?}")),
    }
}

pub(super) fn variables(pairs: &[(OsString, OsString)]) -> String {
    pairs.iter().map(|(name, value)| format!("{}={};", name.display(), value.display())).collect()
}

#[test]
fn options_have_one_dash_or_two_and_end_at_the_program() {
    for line in ["-n 4 prog -n 9 --x", "--np 4 prog -n 9 --x", "-np=4 prog -n 9 --x"] {
        let request = read(line).unwrap();
        let program = &request.job.programs[0];
        assert_eq!((program.count, program.name.to_str()), (4, Some("prog")));
        assert_eq!(program.arguments, ["-n", "9", "--x"]);
    }
    assert_eq!(read("prog").unwrap().job.programs[0].count, 1);
}

#[test]
fn several_programs_are_parted_by_colons() {
    let request = read("-n 2 -wdir /tmp -env A 1 a b : -n 3 -genv C 3 c").unwrap();
    let [first, second] = &request.job.programs[..] else { panic!() };
    assert_eq!((first.count, second.count), (2, 3));
    assert_eq!(variables(&first.environment), "A=1;");
    assert_eq!(first.directory.as_deref(), Some(std::path::Path::new("/tmp")));
    assert_eq!(variables(&request.job.environment), "C=3;HOME=/root;LANG=C;PATH=/bin;");
}

#[test]
fn the_environment_is_chosen() {
    assert_eq!(variables(&read("-genvnone -x LANG a").unwrap().job.environment), "LANG=C;");
    let listed = read("-genvlist PATH,NONE -x B=x=y a").unwrap();
    assert_eq!(variables(&listed.job.environment), "B=x=y;PATH=/bin;");
    let own = read("-genv G 1 -envlist LANG -env E=2 a").unwrap();
    assert!(own.job.programs[0].replaces_environment);
    assert_eq!(variables(&own.job.programs[0].environment), "G=1;LANG=C;E=2;");
    assert_eq!(read("-x NONE a").unwrap().warnings, ["-x NONE: there is no such variable"]);
}

#[test]
fn each_program_has_its_initial_error_handler() {
    let request =
        read("-initial-errhandler mpi_errors_return a : --initial-errhandler=mpi_errors_abort b : c");
    let request = request.unwrap();
    let said: Vec<_> = request.job.programs.iter().map(|program| variables(&program.environment)).collect();
    let variable = "POSTHASTE_INITIAL_ERRHANDLER";
    assert_eq!(
        said,
        [format!("{variable}=mpi_errors_return;"), format!("{variable}=mpi_errors_abort;"), String::new()]
    );
}

#[test]
fn mistakes_are_sentences() {
    for (line, part) in [
        ("", "no program"),
        ("-n 2", "no program to run after the options"),
        ("-n 0 a", "-n 0"),
        ("-n two a", "not a number"),
        ("-n -1 a", "not a number"),
        ("-n", "-n needs N"),
        ("-env A", "-env needs VALUE"),
        ("-np 70000 a", "more than"),
        ("-frobnicate a", "\"-frobnicate\""),
        ("-l=3 a", "takes no value"),
        ("--", "no program"),
        ("-- :", "no program"),
        ("-s moon a", "-s moon"),
        ("--stdin 1- a", "-stdin 1-"),
        ("-cpu-set x a", "-cpu-set x"),
        ("-outfile-pattern %q a", "-outfile-pattern \"%q\": % is followed by 'q'"),
        ("-bind-to moon a", "moon"),
        ("-bind-to socket:2 a", "a number goes with core alone"),
        ("-bind-to user:0,1 a", "write -cpu-set"),
        ("-map-by ppr:2:board a", "-map-by \"ppr:2:board\""),
        ("-map-by ppr:0:socket a", "-map-by ppr 0"),
        ("-map-by ppr:2:socket:PE=x a", "-map-by PE x"),
        (
            "-map-by ppr:1:l3cache a",
            "this host does not say which CPUs share a part of this kind (L3 cache): write ppr:N:node",
        ),
        ("-map-by ppr:2:socket -n 5 a", "5 ranks, but 2 on each socket of 1 host are 4"),
        ("-npersocket 1 -hosts b,c -n 5 a", "5 ranks, but 1 on each socket of 2 hosts are 4"),
        ("-map-by slot:moon a", "\"moon\" is not known"),
        ("-cpu-bind list:0,8,16 a", "write -cpu-set LIST"),
        ("-umask 8 a", "-umask 8: expected octal digits"),
        ("-umask 1000 a", "-umask 1000: expected octal digits"),
        ("-rank-by node a", "write -map-by node"),
        ("-output xml a", "\"xml\" is not known"),
        ("-output tag,merge a", "write 2>&1"),
        ("-prepend-pattern %q a", "% is followed by 'q'"),
        ("-nolocal a", "-nolocal leaves no host"),
        ("-nolocal -hosts localhost a", "-nolocal leaves no host"),
        ("-nooversubscribe -hosts b:2,c:1 -n 4 a", "3 slots for 4 ranks"),
        ("-hosts-group n[3-1] a", "no list as n[01-04,7]"),
        ("-attach me", "-attach me: not a process id"),
        ("-timeout 0 a", "-timeout 0"),
        ("-timeout x a", "-timeout x"),
        ("-initial-errhandler moon a", "\"moon\" is not known, expected one of mpi_errors_are_fatal, mpi_"),
        ("-explain me", "-explain me: not a process id"),
        ("-explain 0", "-explain 0"),
        ("-hosts a,b:x a", "\"b:x\""),
        ("-hosts -oProxyCommand=x a", "-oProxyCommand"),
        ("-map-by moon a", "-map-by \"moon\""),
        ("-launcher pigeon a", "-launcher \"pigeon\""),
        ("-configfile /no/such", "/no/such"),
        ("-hostfile /no/such a", "/no/such"),
        ("-n 1 a :", "no program"),
        ("-usize 3 -n 4 a", "-usize 3 leaves no room for 4 ranks"),
        ("-usize x a", "not a number"),
    ] {
        let said = read(line).unwrap_err();
        assert!(said.contains(part), "{line:?}: {said}");
    }
}

#[test]
fn what_others_offer_is_accepted() {
    let request = read(
        "--oversubscribe --allow-run-as-root -ppn 2 -hosts localhost:4,node7,127.0.0.1,10.0.0.7 --bind-to none --mca btl self a",
    );
    let request = request.unwrap();
    assert_eq!((request.job.bind, request.placement), (Bind::None, None));
    assert_eq!(request.warnings, ["-mca btl self has no effect here"]);
    assert_eq!(read("--bind-to core:overload-allowed a").unwrap().job.bind, Bind::Core);
    assert!(read("-l -counters -timeout 2.5 a").unwrap().show.label);
    let quiet = read("-q --quiet -v --verbose --prefix /opt/x -soft 1 --map-by :OVERSUBSCRIBE a").unwrap();
    assert_eq!((&quiet.warnings[..], quiet.job.programs[0].name.to_str()), (&[][..], Some("a")));
    let request = read("-n 2 -- -n 3").unwrap();
    let program = &request.job.programs[0];
    assert_eq!((program.count, program.name.to_str()), (2, Some("-n")));
    assert_eq!(program.arguments, ["3"]);
}

#[test]
fn what_is_shown_is_chosen() {
    let show = |line: &str| read(line).unwrap().show;
    for line in ["-print-rank-map a", "--display-map a", "--display map a"] {
        assert!(show(line).rank_map, "{line}");
    }
    let request = read("--display allocation,map a").unwrap();
    assert!(request.show.rank_map);
    assert_eq!(request.warnings, ["-display allocation has no effect here"]);
    assert!(show("--timestamp-output a").timestamps);
    let both = show("--output-filename out a");
    assert!(both.copied && both.files[0] == both.files[1] && both.files[0].is_some());
    assert!(!show("--output-filename=out:nocopy a").copied);
    let one = show("-outfile-pattern o.%r a");
    assert!(!one.copied && one.files[0].is_some() && one.files[1].is_none());
}

#[test]
fn input_and_cpus_are_lists() {
    let job = |line: &str| read(line).unwrap().job;
    assert_eq!(job("a").input, Input::Ranks(vec![0]));
    assert_eq!(job("-s all a").input, Input::All);
    assert_eq!(job("--stdin none a").input, Input::Ranks(vec![]));
    assert_eq!(job("-s 3,0-1,1 a").input, Input::Ranks(vec![0, 1, 3]));
    assert_eq!(job("--cpu-set 4,0-2 a").cpu_set, [0, 1, 2, 4]);
}

#[test]
fn a_universe_has_a_size_only_if_somebody_says_so() {
    let limit = |line: &str| read(line).unwrap().job.limit;
    assert_eq!((limit("a"), limit("-usize 8 -n 4 a"), limit("-usize INFINITE a")), (None, Some(8), None));
}

fn placed(line: &str) -> (String, usize) {
    let request = read(line).unwrap();
    let hosts = request.placement.map_or(Vec::new(), |placement| placement.hosts);
    let hosts: Vec<String> = hosts
        .iter()
        .map(|host| format!("{}:{}", host.name, host.slots.map_or("?".into(), |slots| slots.to_string())))
        .collect();
    (hosts.join(" "), request.job.programs[0].count)
}

#[test]
fn hosts_are_named_in_many_ways() {
    let own = "node7.cluster";
    assert_eq!(placed("-hosts a,b:3 -n 4 x"), ("a:? b:3".into(), 4));
    assert_eq!(placed("-host a -ppn 2 x"), ("a:2".into(), 2));
    assert_eq!(placed("-H localhost,a -npernode 2 x"), (format!("{own}:2 a:2"), 4));
    assert_eq!(placed("-hosts a,b,a -n 4 x"), ("a:2 b:?".into(), 4));
    assert_eq!(placed("-hosts a,b -map-by ppr:3:node x"), ("a:3 b:3".into(), 6));
    assert_eq!(placed("-hosts node7 -launcher fork -n 2 x"), (format!("{own}:?"), 2));
    assert_eq!(read("-hosts a,b -map-by node x").unwrap().placement.unwrap().by, By::Node);
    assert_eq!(read("-hosts a -launcher srun x").unwrap().launcher.means, Means::Srun);
}

#[test]
fn a_configuration_file_has_a_program_in_each_line() {
    let path = std::env::temp_dir().join(format!("mpiexec-config-{}", std::process::id()));
    std::fs::write(&path, "# two of them\n-n 2 a 'b c' \"\"\n\n  -n 3 d\n").unwrap();
    let request = read(&format!("-genv A 1 -configfile {}", path.display())).unwrap();
    std::fs::remove_file(&path).unwrap();
    let [first, second] = &request.job.programs[..] else { panic!() };
    assert_eq!((first.count, second.count, second.name.to_str()), (2, 3, Some("d")));
    assert_eq!(first.arguments, ["b c", ""]);
}

#[test]
fn the_help_names_every_option_once() {
    assert!(help("mpiexec").contains("-n, -np, -c N"));
    let mut names: Vec<_> = KNOWN.iter().flat_map(|known| known.names).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
