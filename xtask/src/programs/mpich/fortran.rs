//! MPICH's tests in Fortran: with `mpif.h`, with the module `mpi` and with `mpi_f08`, built by our mpifort.
//!
//! What must stay true: a test that can't be built, or fails, stands in `tests/programs/mpich-fortran-without.txt`. Those are tried, too,
//! so a line that is not needed any more is an error.

use super::{
    super::{Program, Tier},
    Suite,
};
pub(in super::super) const PROGRAM: Program = Program {
    name: "mpich-fortran",
    tier: Tier::Gate,
    source: "mpich",
    parts: super::PARTS,
    needs: &["make", "xz-utils", "perl", "gfortran"],
    build: BUILD,
    tests: SUITE.folders.len(),
    check: |site, tally| SUITE.check(site, tally),
};

/// Links without libtool, which would take most of the time. MPICH's configure takes the tests of `mpi_f08` for MPICH itself alone, so
/// what they share is built here.
const BUILD: &str = "
    cd test/mpi
    ./configure -q --with-mpi=\"$(dirname \"$(dirname \"$(command -v mpicc)\")\")\" --with-pm=no \\
        --disable-cxx --disable-romio CFLAGS='-O0 -w' FFLAGS='-O0 -w -fallow-argument-mismatch' \\
        FCFLAGS='-O0 -w -fallow-argument-mismatch'
    make -s -j$JOBS -C util libmtest_f77.la libmtest_f90.la libmtest_single.la
    make -s -C dtpools
    mpifort -w -c util/mtest_f08.f90 -o util/mtest_f08.o
    touch util/libmtest_f08.la
    for folder in f77/*/ f90/*/ f08/*/; do
        shared=util/.libs/libmtest_${folder%%/*}.a
        more=
        case $folder in
            */io/) continue ;;
            f90/f90types/) make -s -C $folder; continue ;;
            f77/ext/) more=allocmemf ;;
            f90/ext/) more=allocmemf90 ;;
            f08/ext/) more=allocmemf90; shared=util/mtest_f08.o ;;
            f08/*) shared=util/mtest_f08.o ;;
        esac
        # Some programs can't be built; the list of tests left out has them.
        make -s -k -j$JOBS -C $folder F77LINK='$(F77) $(FFLAGS) -o $@' FCLINK='$(FC) $(FCFLAGS) -o $@' \\
            LDADD=../../$shared all $more || echo \"not all of $folder\"
    done";

/// What children spawn needs more processes than this machine may have processors.
const SUITE: Suite = Suite {
    name: "MPICH's tests in Fortran",
    folders: &[
        "f77/attr",
        "f77/coll",
        "f77/comm",
        "f77/datatype",
        "f77/ext",
        "f77/info",
        "f77/init",
        "f77/io",
        "f77/profile",
        "f77/pt2pt",
        "f77/rma",
        "f77/spawn",
        "f77/topo",
        "f90/attr",
        "f90/coll",
        "f90/comm",
        "f90/datatype",
        "f90/ext",
        "f90/f90types",
        "f90/info",
        "f90/init",
        "f90/io",
        "f90/misc",
        "f90/profile",
        "f90/pt2pt",
        "f90/rma",
        "f90/spawn",
        "f90/timer",
        "f90/topo",
        "f08/attr",
        "f08/coll",
        "f08/comm",
        "f08/datatype",
        "f08/ext",
        "f08/info",
        "f08/init",
        "f08/io",
        "f08/misc",
        "f08/profile",
        "f08/pt2pt",
        "f08/rma",
        "f08/spawn",
        "f08/subarray",
        "f08/timer",
        "f08/topo",
    ],
    wanted: |_| true,
    first_arguments: false,
    list: "tests/programs/mpich-fortran-without.txt",
    options: &["-usize", "16"],
    at_once: 4,
    try_all: true,
};
