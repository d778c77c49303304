//! `mpiexec`, also installed as `mpirun`: see `posthaste_launch::mpiexec`.

posthaste_os::process_table!(PROCESS_TABLE);

fn main() {
    std::process::exit(posthaste_launch::mpiexec::main(&PROCESS_TABLE));
}
