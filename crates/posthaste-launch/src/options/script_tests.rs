//! Options as run scripts have them: each has its meaning or its sentence, and docs/mpiexec.md says which.

use super::table::{HYDRA, INTEL, KNOWN, Known, MPI, OPEN, PALS};
use super::tests::{around, read, variables};
use super::*;
use posthaste_pmi::spawn::{Bind, Input, Part};
use std::fs;

type Row = (&'static str, fn(&Request) -> bool);

fn first(request: &Request) -> &Program {
    &request.job.programs[0]
}

fn hosts(request: &Request) -> String {
    let hosts = request.placement.iter().flat_map(|placement| &placement.hosts);
    let host = |host: &Host| format!("{}{} ", host.name, host.slots.map_or("".into(), |n| format!(":{n}")));
    hosts.map(host).collect()
}

fn environment(request: &Request) -> String {
    variables(&request.job.environment)
}

fn file(request: &Request, stream: usize) -> String {
    format!("{:?}", request.show.files[stream])
}

/// Command lines, and what they mean.
const ROWS: &[Row] = &[
    ("-n 3 a", |r| first(r).count == 3),
    ("-np 3 a", |r| first(r).count == 3),
    ("-c 3 a", |r| first(r).count == 3),
    ("-env A 1 a", |r| variables(&first(r).environment) == "A=1;"),
    ("-env A=1 a", |r| variables(&first(r).environment) == "A=1;"),
    ("-envlist LANG a", |r| first(r).replaces_environment && variables(&first(r).environment) == "LANG=C;"),
    ("-envexcl LANG,PATH a", |r| {
        first(r).replaces_environment && variables(&first(r).environment) == "HOME=/root;"
    }),
    ("-envnone a", |r| first(r).replaces_environment && first(r).environment.is_empty()),
    ("-envall a", |r| first(r).replaces_environment && first(r).environment.len() == 3),
    ("-wdir /tmp a", |r| first(r).directory.as_deref() == Some("/tmp".as_ref())),
    ("--wd /tmp a", |r| first(r).directory.as_deref() == Some("/tmp".as_ref())),
    ("--path /opt/bin a", |r| first(r).path.as_deref() == Some("/opt/bin".as_ref())),
    ("--pset ocean a", |r| first(r).sets == ["ocean"]),
    ("-genv A 1 a", |r| environment(r).starts_with("A=1;HOME")),
    ("-genv A=1 a", |r| environment(r).starts_with("A=1;HOME")),
    ("-genvlist HOME,LANG a", |r| environment(r) == "HOME=/root;LANG=C;"),
    ("-genvexcl LANG,PATH a", |r| environment(r) == "HOME=/root;"),
    ("-umask 027 a", |r| r.job.umask == Some(0o27)),
    ("-genvnone a", |r| environment(r).is_empty()),
    ("-genvnone -genvall a", |r| environment(r).contains("LANG=C;")),
    ("-genvnone -x LANG a", |r| environment(r) == "LANG=C;"),
    ("-genvnone -x A=1 a", |r| environment(r) == "A=1;"),
    ("-genvnone -x L* a", |r| environment(r) == "LANG=C;"),
    ("-genvnone --set-env A=1 a", |r| environment(r) == "A=1;"),
    ("--unset-env LANG a", |r| environment(r) == "HOME=/root;PATH=/bin;"),
    ("--unset-env H* a", |r| environment(r) == "LANG=C;PATH=/bin;"),
    ("-l a", |r| r.show.label),
    ("-prepend-rank a", |r| r.show.label),
    ("--tag-output a", |r| r.show.label),
    ("--label a", |r| r.show.label),
    ("--output tag a", |r| r.show.label && !r.show.timestamps),
    ("--output TAG,timestamp a", |r| r.show.label && r.show.timestamps),
    ("-prepend-pattern [%h:%r] a", |r| format!("{:?}", r.show.mark).contains("Host")),
    ("--timestamp-output a", |r| r.show.timestamps),
    ("-prepend-timestamp a", |r| r.show.timestamps),
    ("--output-filename out a", |r| r.show.copied && file(r, 0) == file(r, 1) && file(r, 0).contains("out.")),
    ("--output file=out:nocopy a", |r| !r.show.copied && file(r, 0).contains("out.")),
    ("--output-directory out a", |r| r.show.copied && file(r, 1).contains("stderr")),
    ("--output dir=out:NOCOPY a", |r| !r.show.copied && file(r, 0).contains("stdout")),
    ("-outfile-pattern o.%r a", |r| file(r, 0).contains("Rank") && file(r, 1) == "None"),
    ("-outfile o.%r a", |r| file(r, 0).contains("Rank") && file(r, 1) == "None"),
    ("-errfile-pattern e.%h a", |r| file(r, 1).contains("Host") && file(r, 0) == "None"),
    ("-errfile e.%h a", |r| file(r, 1).contains("Host") && file(r, 0) == "None"),
    ("-print-rank-map a", |r| r.show.rank_map),
    ("--display-map a", |r| r.show.rank_map),
    ("--display-devel-map a", |r| r.show.rank_map),
    ("--display MAP a", |r| r.show.rank_map),
    ("--do-not-launch --display-map a", |r| r.only_shown && r.show.rank_map),
    ("-print-all-exitcodes a", |r| r.show.exit_codes),
    ("-counters a", |r| r.show.counters),
    ("-s all a", |r| r.job.input == Input::All),
    ("--stdin 1-2 a", |r| r.job.input == Input::Ranks(vec![1, 2])),
    ("--timeout 2 a", |r| r.job.timeout == Some(Duration::from_secs(2))),
    ("-usize 8 a", |r| r.job.limit == Some(8)),
    ("-continue-on-loss a", |r| r.job.goes_on),
    ("--enable-recovery a", |r| r.job.goes_on),
    ("-disable-auto-cleanup a", |r| r.job.goes_on),
    ("--continuous a", |r| r.job.goes_on),
    ("--with-ft ulfm a", |r| r.job.goes_on),
    ("-initial-errhandler mpi_errors_return a", |r| {
        variables(&first(r).environment) == "POSTHASTE_INITIAL_ERRHANDLER=mpi_errors_return;"
    }),
    ("--bind-to core a", |r| r.job.bind == Bind::Core && r.job.width.is_none()),
    ("-bind-to hwthread a", |r| r.job.bind == Bind::Core),
    ("-bind-to rr a", |r| r.job.bind == Bind::Core),
    ("-bind-to core:2 a", |r| r.job.bind == Bind::Core && r.job.width == Some(2)),
    ("--bind-to core:overload-allowed a", |r| r.job.bind == Bind::Core && r.job.width.is_none()),
    ("--bind-to SOCKET a", |r| r.job.bind == Bind::Within(Part::Package)),
    ("--bind-to package:REPORT a", |r| r.job.bind == Bind::Within(Part::Package)),
    ("--bind-to numa a", |r| r.job.bind == Bind::Within(Part::NumaNode)),
    ("--bind-to l3cache a", |r| r.job.bind == Bind::Within(Part::L3Cache)),
    ("-bind-to l2cache a", |r| r.job.bind == Bind::Within(Part::L2Cache)),
    ("--bind-to none a", |r| r.job.bind == Bind::None),
    ("--bind-to-core a", |r| r.job.bind == Bind::Core),
    ("--bind-to-socket a", |r| r.job.bind == Bind::Within(Part::Package)),
    ("--bind-to-none a", |r| r.job.bind == Bind::None),
    ("--cpus-per-proc 4 a", |r| r.job.width == Some(4)),
    ("--cpus-per-rank 4 a", |r| r.job.width == Some(4)),
    ("--depth 4 --cpu-bind depth a", |r| r.job.width == Some(4) && r.job.bind == Bind::Core),
    ("-d 16 --cpu-bind verbose,numa a", |r| {
        r.job.width == Some(16) && r.job.bind == Bind::Within(Part::NumaNode)
    }),
    ("--cpu-bind none a", |r| r.job.bind == Bind::None),
    ("--slot-list 0,2-3 a", |r| r.job.cpu_set == [0, 2, 3]),
    ("--cpu-set 0,2-3 a", |r| r.job.cpu_set == [0, 2, 3]),
    ("--cpu-list 0,2-3 a", |r| r.job.cpu_set == [0, 2, 3]),
    ("-map-by pe-list=0,2 a", |r| r.job.cpu_set == [0, 2]),
    ("-gdb ./a b", |r| {
        first(r).name == "./a" && first(r).arguments == ["b"] && first(r).debugger[0] == "gdb"
    }),
    ("-hosts b,c a", |r| hosts(r) == "b c "),
    ("--host b:2,c:2 a", |r| hosts(r) == "b:2 c:2 "),
    ("-H b:2,c:2 a", |r| hosts(r) == "b:2 c:2 "),
    ("-hosts-group b[1-2],c a", |r| hosts(r) == "b1 b2 c "),
    ("-f FILE a", |r| hosts(r) == "b:2 c:3 d "),
    ("-hostfile FILE a", |r| hosts(r) == "b:2 c:3 d "),
    ("-machinefile FILE a", |r| hosts(r) == "b:2 c:3 d "),
    ("-machine FILE a", |r| hosts(r) == "b:2 c:3 d "),
    ("--default-hostfile FILE a", |r| hosts(r) == "b:2 c:3 d "),
    ("--mca orte_default_hostfile FILE a", |r| hosts(r) == "b:2 c:3 d "),
    ("-ppn 2 -hosts b,c a", |r| hosts(r) == "b:2 c:2 " && first(r).count == 4),
    ("-ppn 2 a", |r| first(r).count == 2),
    ("-perhost 2 -hosts b,c -n 3 a", |r| hosts(r) == "b:2 c:2 " && first(r).count == 3),
    ("-grr 2 -hosts b,c -n 3 a", |r| hosts(r) == "b:2 c:2 " && first(r).count == 3),
    ("--npernode 2 -hosts b,c a", |r| hosts(r) == "b:2 c:2 " && first(r).count == 4),
    ("-N 2 -hosts b,c a", |r| hosts(r) == "b:2 c:2 " && first(r).count == 4),
    ("--pernode -hosts b,c a", |r| hosts(r) == "b:1 c:1 " && first(r).count == 2),
    ("--ppr 2:node -hosts b,c a", |r| hosts(r) == "b:2 c:2 " && first(r).count == 4),
    ("--map-by ppr:2:node:PE=3 -hosts b,c a", |r| hosts(r) == "b:2 c:2 " && r.job.width == Some(3)),
    ("--map-by ppr:2:socket:PE=3 a", |r| {
        first(r).count == 4 && r.job.per_part == Some((Part::Package, 2)) && r.job.width == Some(3)
    }),
    ("--map-by ppr:1:package -hosts b,c a", |r| {
        hosts(r) == "b:2 c:2 " && first(r).count == 4 && r.job.bind == Bind::Within(Part::Package)
    }),
    ("--map-by PPR:1:NUMA:PE=2 --bind-to core -np 3 a", |r| {
        first(r).count == 3 && r.job.per_part == Some((Part::NumaNode, 1)) && r.job.bind == Bind::Core
    }),
    ("--map-by ppr:2:core --bind-to none a", |r| first(r).count == 32 && r.job.bind == Bind::None),
    ("--map-by ppr:3:socket --cpu-set 0-7 a", |r| first(r).count == 3),
    ("--ppr 2:socket a", |r| first(r).count == 4),
    ("-npersocket 2 a", |r| first(r).count == 4 && r.job.per_part == Some((Part::Package, 2))),
    ("--map-by node -hosts b,c a", |r| {
        r.placement.as_ref().is_some_and(|placement| placement.by == By::Node)
    }),
    ("--map-by slot:PE=2 a", |r| r.job.width == Some(2)),
    ("--map-by socket a", |r| r.job.spread == Some(Part::Package)),
    ("--map-by NUMA:PE=2 a", |r| r.job.spread == Some(Part::NumaNode) && r.job.width == Some(2)),
    ("--map-by :NOLOCAL -hosts localhost,b a", |r| hosts(r) == "b "),
    ("-rr -hosts b,c a", |r| r.placement.as_ref().is_some_and(|placement| placement.by == By::Node)),
    ("--bynode -hosts b,c a", |r| r.placement.as_ref().is_some_and(|placement| placement.by == By::Node)),
    ("--byslot -hosts b,c a", |r| r.placement.as_ref().is_some_and(|placement| placement.by == By::Slot)),
    ("--bycore -hosts b,c a", |r| r.placement.as_ref().is_some_and(|placement| placement.by == By::Slot)),
    ("--bysocket a", |r| r.job.spread == Some(Part::Package)),
    ("--oversubscribe -hosts b:1 -n 4 a", |r| first(r).count == 4),
    ("--nooversubscribe -hosts b:4 -n 4 a", |r| first(r).count == 4),
    ("--nolocal -hosts localhost,b a", |r| hosts(r) == "b "),
    ("-skip-launch-node -hosts localhost,b a", |r| hosts(r) == "b "),
    ("-localonly -hosts b,c -n 4 a", |r| r.placement.is_none() && first(r).count == 4),
    ("--use-hwthread-cpus -n 2 a", |r| first(r).count == 2),
    ("--rank-by slot -n 2 a", |r| first(r).count == 2),
    ("-launcher srun a", |r| r.launcher.means == Means::Srun),
    ("-bootstrap fork a", |r| r.launcher.means == Means::Fork),
    ("-launcher-exec /opt/ssh a", |r| r.launcher.program.as_deref() == Some("/opt/ssh".as_ref())),
    ("-bootstrap-exec /opt/ssh a", |r| r.launcher.program.as_deref() == Some("/opt/ssh".as_ref())),
    ("--mca plm_rsh_agent /opt/ssh a", |r| r.launcher.program.as_deref() == Some("/opt/ssh".as_ref())),
    ("-bootstrap-exec-args -X a", |r| r.launcher.arguments == ["-X"]),
    ("--mca plm_rsh_args -X a", |r| r.launcher.arguments == ["-X"]),
    ("-iface eth0 a", |r| environment(r).contains("POSTHASTE_TCP_INTERFACES=eth0;")),
    ("--mca btl_tcp_if_include eth0 a", |r| environment(r).contains("POSTHASTE_TCP_INTERFACES=eth0;")),
    ("--omca pml ob1 a", |r| r.warnings == ["-omca pml ob1 has no effect here"]),
    ("-gmca pml ob1 a", |r| r.warnings == ["-gmca pml ob1 has no effect here"]),
    ("--prtemca x y a", |r| r.warnings == ["-prtemca x y has no effect here"]),
    ("--pmixmca x y a", |r| r.warnings == ["-pmixmca x y has no effect here"]),
    ("--gpmixmca x y a", |r| r.warnings == ["-gpmixmca x y has no effect here"]),
    ("-configfile CONFIG", |r| first(r).count == 3 && first(r).name == "d"),
    ("--app CONFIG", |r| first(r).count == 3 && first(r).name == "d"),
];

/// Whole lines as run scripts of these programs have them, and how many ranks they start on hosts with four parts of each kind.
const LINES: &[(&str, &str, usize)] = &[
    ("HPL", "--map-by socket:PE=2 -np 64 -x OMP_NUM_THREADS=2 -x OMP_PROC_BIND=spread ./xhpl -p", 64),
    (
        "HPL",
        "--allow-run-as-root --map-by ppr:1:l3cache:pe=4 --bind-to core -np 2 -x OMP_PLACES=cores ./xhpl",
        2,
    ),
    (
        "HPL",
        "-genv I_MPI_PIN_DOMAIN=numa -genv OMP_NUM_THREADS 14 -perhost 2 -n 4 -hosts b,c ./xhpl_intel64",
        4,
    ),
    ("HPCG", "-np 8 -ppn 4 -hostfile FILE ./xhpcg", 8),
    ("HPCG", "--map-by ppr:4:numa:PE=4 --report-bindings --rank-by core ./xhpcg --nx=104", 16),
    (
        "OSU micro-benchmarks",
        "-np 2 --map-by ppr:1:node -H b:1,c:1 --mca pml ucx --mca btl ^openib ./osu_bw D D",
        2,
    ),
    ("OSU micro-benchmarks", "-ppn 1 -n 2 -hosts b,c -env I_MPI_FABRICS=shm:dapl ./osu_latency", 2),
    ("IMB", "-np 2 --report-bindings --map-by node ./IMB-MPI1 PingPong", 2),
    (
        "WRF",
        "--map-by L3cache -x MALLOC_MMAP_MAX_=0 --mca mpi_paffinity_alone 1 --mca btl ^vader,tcp -n 8 ./wrf.exe",
        8,
    ),
    ("WRF", "-machinefile FILE -np 36 --map-by core ./wrf.exe", 36),
    ("LAMMPS", "-npersocket 2 --bind-to socket ./lmp -in in.lj -sf omp -pk omp 8", 8),
    ("LAMMPS", "-bootstrap slurm -np 20 ./lmp -in lammps.input", 20),
    ("GROMACS", "-np 4 --bind-to none -x OMP_NUM_THREADS ./gmx_mpi mdrun -v -deffnm em -ntomp 4", 4),
    ("GROMACS", "-genv I_MPI_FABRICS shm:tcp ./gmx_mpi mdrun", 1),
    ("Quantum ESPRESSO", "-np 2 --bind-to core --map-by socket:PE=8 ./pw.x -npool 2 -in si.scf.in", 2),
    ("CP2K on PALS", "-n 8 --ppn 4 --cpu-bind depth --depth 8 -env OMP_NUM_THREADS=8 ./cp2k.psmp", 8),
    (
        "a weather model on PALS",
        "--line-buffer --label -n 2560 -ppn 64 --cpu-bind depth --depth 2 ./nam",
        2560,
    ),
    (
        "PyTorch on PALS",
        "--verbose --envall -n 12 -ppn 12 --cpu-bind depth -d 8 --no-vni python3 -m train",
        12,
    ),
    ("NWChem", "-PSM2 -n 16 ./nwchem in.nw", 16),
    ("VASP", "-genv I_MPI_DEBUG 5 -np 20 ./vasp_std", 20),
    (
        "NCCL tests",
        "--oversubscribe -np 16 --bind-to numa -H b:8,c:8 -mca coll_hcoll_enable 0 -x NCCL_DEBUG=INFO ./perf",
        16,
    ),
    (
        "TensorFlow",
        "-genv OMP_NUM_THREADS=4 -map-by socket -n 4 -ppn 2 -hosts b,c -print-rank-map python a.py",
        4,
    ),
    ("SeisSol", "--report-bindings --map-by ppr:2:node:pe=8 -x UCX_MAX_EAGER_RAILS=2 ./launch ./SeisSol", 2),
    ("coupled models", "--tag-output -np 4 ./ocean : -np 2 -x A=1 ./ice : -np 1 ./coupler", 7),
    (
        "Horovod",
        "-np 8 -H b:4,c:4 -bind-to none -map-by slot -x PATH -mca pml ob1 -mca btl ^openib python a.py",
        8,
    ),
];

#[test]
fn whole_lines_of_run_scripts_start_their_ranks() {
    let file = std::env::temp_dir().join(format!("mpiexec-lines-{}", std::process::id()));
    fs::write(&file, "b:2\nc slots=3\n").unwrap();
    let mut around = around();
    around.parts = |_, _| Some(4);
    around.environment.push(("OMP_NUM_THREADS".into(), "4".into()));
    for (program, line, ranks) in LINES {
        let line = line.replace("FILE", &file.display().to_string());
        let wish = parse(line.split_whitespace().map(OsString::from), &around);
        let Ok(Wish::Run(request)) = wish else { panic!("{program}: {line}: {wish:?}") };
        let found: usize = request.job.programs.iter().map(|program| program.count).sum();
        assert_eq!(found, *ranks, "{program}: {line}");
        let warned = |warning: &String| {
            ["-mca", "-report-bindings", "-PSM2"].iter().any(|begin| warning.starts_with(begin))
        };
        assert!(request.warnings.iter().all(warned), "{program}: {line}: {:?}", request.warnings);
    }
    fs::remove_file(file).unwrap();
}

/// Variables of other launchers that say how many ranks a host has.
#[test]
fn variables_give_hosts_their_slots() {
    for name in ["I_MPI_PERHOST", "OMPI_MCA_orte_set_default_slots", "PRTE_MCA_prte_set_default_slots"] {
        let placed = |value: &str, line: &str| {
            let mut around = around();
            around.environment.push((name.into(), value.into()));
            match parse(line.split_whitespace().map(OsString::from), &around) {
                Ok(Wish::Run(request)) => (hosts(&request), first(&request).count),
                other => panic!("{name}={value} {line}: {other:?}"),
            }
        };
        assert_eq!(placed("2", "-hosts b,c -n 3 a"), ("b:2 c:2 ".into(), 3), "{name}");
        assert_eq!(placed("2", "-hosts b:3,c a"), ("b:3 c:2 ".into(), 1), "{name}");
        assert_eq!(placed("2", "-ppn 1 -hosts b,c a"), ("b:1 c:1 ".into(), 2), "{name}");
        for word in ["all", "allcores", "0"] {
            assert_eq!(placed(word, "-hosts b,c -n 4 a"), ("b c ".into(), 4), "{name}={word}");
        }
    }
}

/// Ours of which the command line is not a job.
const WISHES: &[(&str, &str)] = &[
    ("-explain 7", "Explain(7)"),
    ("-attach 7", "Attach(7)"),
    ("-gdba 7", "Attach(7)"),
    ("-help", "Help"),
    ("-h", "Help"),
    ("-?", "Help"),
    ("--version", "Version"),
    ("-V", "Version"),
    ("-info", "Version"),
];

#[test]
fn each_option_of_a_script_has_its_meaning() {
    let folder = std::env::temp_dir().join(format!("mpiexec-scripts-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("hosts"), "b:2\nc slots=3\nd\n").unwrap();
    fs::write(folder.join("config"), "-n 3 d\n").unwrap();
    let place = |name: &str| folder.join(name).display().to_string();
    for (line, means) in ROWS {
        let line = line.replace("FILE", &place("hosts")).replace("CONFIG", &place("config"));
        let request = read(&line).unwrap_or_else(|why| panic!("{line}: {why}"));
        assert!(means(&request), "{line}: {request:?}");
    }
    fs::remove_dir_all(folder).unwrap();
    for (line, wish) in WISHES {
        assert_eq!(read(line).unwrap_err(), *wish, "{line}");
    }
}

/// A command line with this name of an option, whose values are numbers.
fn line(known: &Known, name: &str) -> String {
    let values: String = (1..).zip(known.values).map(|(number, _)| format!(" {number}")).collect();
    format!("--{name}{values} a")
}

#[test]
fn each_name_of_an_option_is_tried() {
    let usual = format!("{:?}", read("a").unwrap());
    let tried = |name: &str| {
        let lines = ROWS.iter().map(|row| row.0).chain(WISHES.iter().map(|wish| wish.0));
        lines
            .flat_map(str::split_whitespace)
            .any(|word| word.starts_with('-') && word.trim_start_matches('-') == name)
    };
    for (known, name) in KNOWN.iter().flat_map(|known| known.names.iter().map(move |name| (known, name))) {
        let line = line(known, name);
        match known.option {
            Kind::Accepted => assert_eq!(format!("{:?}", read(&line).unwrap()), usual, "{line}"),
            Kind::Ignored => {
                let mut request = read(&line).unwrap();
                let warnings = std::mem::take(&mut request.warnings);
                assert!(warnings[0].starts_with(&format!("-{name}")), "{line}: {warnings:?}");
                assert_eq!(format!("{request:?}"), usual, "{line}");
            }
            Kind::Refused => {
                let sentence = format!("-{name} is not an option here: {}", known.text);
                assert_eq!(read(&line).unwrap_err(), sentence);
            }
            _ => assert!(tried(name), "-{name} has no row"),
        }
    }
}

/// A row of the table.
fn row(known: &Known) -> String {
    let values: String = known.values.iter().map(|value| format!(" {value}")).collect();
    let values = values.replace('|', "\\|");
    let names: Vec<String> = known.names.iter().map(|name| format!("`-{name}{values}`")).collect();
    let bits = [(MPI, "MPI"), (HYDRA, "Hydra"), (INTEL, "Intel"), (OPEN, "Open MPI"), (PALS, "PALS")];
    let whose: Vec<&str> =
        bits.into_iter().filter(|(bit, _)| known.whose & bit != 0).map(|(_, name)| name).collect();
    let whose = if whose.is_empty() { "ours".into() } else { whose.join(", ") };
    let before = match known.option {
        Kind::Accepted => "accepted: ",
        Kind::Ignored => "without effect, with a warning: ",
        Kind::Refused => "refused: ",
        _ => "",
    };
    format!("| {} | {whose} | {before}{} |\n", names.join(", "), known.text)
}

/// `POSTHASTE_WRITE=1` writes the table instead.
#[test]
fn the_page_has_every_option() {
    const START: &str = "<!-- written by POSTHASTE_WRITE=1 cargo test -p posthaste-launch --lib the_page_has_every_option -->\n";
    const END: &str = "<!-- end of the table -->\n";
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/mpiexec.md");
    let text = fs::read_to_string(page).unwrap();
    let (before, rest) = text.split_once(START).expect("the page has a place for the table");
    let (written, after) = rest.split_once(END).expect("the table has an end");
    let rows: String = KNOWN.iter().map(row).collect();
    let table = format!("| option | whose | what ours does |\n|---|---|---|\n{rows}");
    if std::env::var_os("POSTHASTE_WRITE").is_some() {
        return fs::write(page, format!("{before}{START}{table}{END}{after}")).unwrap();
    }
    assert!(written == table, "docs/mpiexec.md is not up to date: see the line above its table");
}
