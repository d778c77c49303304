//! Every option of mpiexec, with its names, its values and its line in the help text.
//!
//! What must stay true: no name stands for two options.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Count,
    Env,
    EnvList,
    EnvNone,
    EnvAll,
    Directory,
    GlobalEnv,
    GlobalEnvList,
    GlobalEnvNone,
    GlobalEnvAll,
    Export,
    Label,
    Timestamps,
    OutputFiles,
    OutPattern,
    ErrPattern,
    RankMap,
    Display,
    Stdin,
    CpuSet,
    Timeout,
    Universe,
    GoesOn,
    InitialHandler,
    BindTo,
    Hosts,
    HostFile,
    PerHost,
    MapBy,
    Launcher,
    LauncherProgram,
    ConfigFile,
    Counters,
    Explain,
    Help,
    Version,
    /// Nothing to do: it asks for what is so anyway.
    Accepted,
    /// It has no effect here, which is worth a warning.
    Ignored,
}

pub(super) struct Known {
    pub(super) names: &'static [&'static str],
    /// Names of its values.
    pub(super) values: &'static [&'static str],
    pub(super) option: Kind,
    pub(super) help: &'static str,
}

const fn known(
    names: &'static [&'static str],
    values: &'static [&'static str],
    option: Kind,
    help: &'static str,
) -> Known {
    Known { names, values, option, help }
}

/// Every option; those without a help text are not shown.
pub(super) const KNOWN: &[Known] = &[
    known(&["n", "np", "c"], &["N"], Kind::Count, "start N ranks of the program (default 1)"),
    known(&["env"], &["NAME", "VALUE"], Kind::Env, "set a variable for this program"),
    known(&["envlist"], &["A,B,..."], Kind::EnvList, "this program gets only these of our variables"),
    known(&["envnone"], &[], Kind::EnvNone, "this program gets none of our variables"),
    known(&["envall"], &[], Kind::EnvAll, "this program gets all our variables (default)"),
    known(&["wdir", "wd"], &["DIR"], Kind::Directory, "working directory of this program"),
    known(&["genv"], &["NAME", "VALUE"], Kind::GlobalEnv, "set a variable for all programs"),
    known(&["genvlist"], &["A,B,..."], Kind::GlobalEnvList, "all programs get only these of our variables"),
    known(&["genvnone"], &[], Kind::GlobalEnvNone, "no program gets our variables"),
    known(&["genvall"], &[], Kind::GlobalEnvAll, "all programs get all our variables (default)"),
    known(&["x"], &["NAME[=VALUE]"], Kind::Export, "export a variable to all programs"),
    known(
        &["l", "prepend-rank", "tag-output"],
        &[],
        Kind::Label,
        "put [rank] in front of each line of output",
    ),
    known(&["timestamp-output"], &[], Kind::Timestamps, "put the time in front of each line of output"),
    known(
        &["output-filename"],
        &["FILE[:nocopy]"],
        Kind::OutputFiles,
        "write output to FILE.RANK, too, or with :nocopy only there",
    ),
    known(
        &["outfile-pattern", "outfile"],
        &["PATTERN"],
        Kind::OutPattern,
        "write standard output to files; %r is the rank, %h its host, %p the host's number",
    ),
    known(&["errfile-pattern", "errfile"], &["PATTERN"], Kind::ErrPattern, "the same for standard error"),
    known(
        &["s", "stdin"],
        &["RANKS|all|none"],
        Kind::Stdin,
        "which ranks get standard input (default 0), as 0,2-5",
    ),
    known(&["timeout"], &["SECONDS"], Kind::Timeout, "end the job after so long, with exit code 124"),
    known(
        &["usize"],
        &["N"],
        Kind::Universe,
        "at most N processes at a time, with those that are spawned; MPI_UNIVERSE_SIZE",
    ),
    known(
        &["enable-recovery", "disable-auto-cleanup"],
        &[],
        Kind::GoesOn,
        "a rank that is killed does not end the others: what they do with it fails, and the job at the end",
    ),
    known(
        &["initial-errhandler"],
        &["HANDLER"],
        Kind::InitialHandler,
        "errors of this program until it sets a handler: mpi_errors_are_fatal, _abort or _return",
    ),
    known(
        &["bind-to"],
        &["none|core"],
        Kind::BindTo,
        "core (default): rank i stays on the i-th usable CPU when there is one for each",
    ),
    known(
        &["cpu-set", "cpu-list"],
        &["LIST"],
        Kind::CpuSet,
        "the ranks of each host use these of its CPUs only, as 0,2-5",
    ),
    known(
        &["print-rank-map", "display-map"],
        &[],
        Kind::RankMap,
        "print which ranks run where, as (HOST:RANK,...)",
    ),
    known(&["display"], &["map"], Kind::Display, ""),
    known(&["counters"], &[], Kind::Counters, "print what the engine counted, summed over the ranks"),
    known(
        &["explain"],
        &["PID"],
        Kind::Explain,
        "say what the ranks of a running job wait for; PID is that of its mpiexec or of a rank",
    ),
    known(&["hosts", "host", "H"], &["HOST[:N],..."], Kind::Hosts, "run on these hosts, N ranks on each"),
    known(
        &["hostfile", "machinefile", "f"],
        &["FILE"],
        Kind::HostFile,
        "the same from a file with lines HOST, HOST:N or HOST slots=N",
    ),
    known(&["ppn", "perhost", "npernode", "N"], &["N"], Kind::PerHost, "N ranks on each host"),
    known(
        &["map-by"],
        &["slot|node|ppr:N:node"],
        Kind::MapBy,
        "fill one host after the other (default), or all in turn",
    ),
    known(
        &["launcher", "bootstrap"],
        &["ssh|srun|fork"],
        Kind::Launcher,
        "how other hosts are reached; srun is the default inside a Slurm allocation",
    ),
    known(
        &["launcher-exec", "bootstrap-exec"],
        &["PROGRAM"],
        Kind::LauncherProgram,
        "the program to call instead of ssh or srun",
    ),
    known(
        &["configfile", "app"],
        &["FILE"],
        Kind::ConfigFile,
        "read further arguments from a file, a line for each program",
    ),
    known(&["version", "V"], &[], Kind::Version, "print the version"),
    known(&["help", "h", "?"], &[], Kind::Help, "print this text"),
    known(
        &[
            "oversubscribe",
            "allow-run-as-root",
            "use-hwthread-cpus",
            "nooversubscribe",
            "verbose",
            "v",
            "quiet",
            "q",
        ],
        &[],
        Kind::Accepted,
        "",
    ),
    known(&["soft"], &["N"], Kind::Accepted, ""),
    // Where another library is installed; ours is found from the place of mpiexec.
    known(&["prefix"], &["DIR"], Kind::Accepted, ""),
    known(&["mca", "gmca", "prtemca", "pmixmca"], &["NAME", "VALUE"], Kind::Ignored, ""),
    known(&["rank-by", "rmk", "iface", "arch", "path", "file"], &["VALUE"], Kind::Ignored, ""),
    known(&["report-bindings"], &[], Kind::Ignored, ""),
];
