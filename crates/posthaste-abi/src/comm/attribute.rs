//! C functions for attributes of communicators, windows and datatypes (MPI-5.0 §7.7).
//!
//! Callbacks of the program enter the engine as closures over their addresses; the predefined ones are numbers (see
//! `constants`) and are never called.
//!
//! What must stay true: no lock is held while a callback runs.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

use posthaste_core::attribute::{Copy, Delete, KEYVAL_MARK, Keyval, Kind, Value};
use posthaste_core::error::{Error, ErrorClass, Result};

use crate::abi::constants::{
    MPI_APPNUM, MPI_COMM_DUP_FN, MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, MPI_HOST, MPI_IO,
    MPI_KEYVAL_INVALID, MPI_LASTUSEDCODE, MPI_SUCCESS, MPI_TAG_UB, MPI_TYPE_DUP_FN, MPI_TYPE_NULL_COPY_FN,
    MPI_TYPE_NULL_DELETE_FN, MPI_UNIVERSE_SIZE, MPI_WIN_DUP_FN, MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN,
    MPI_WTIME_IS_GLOBAL,
};
use crate::abi::pointer::Out;
use crate::abi::types::{
    MPI_Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function, MPI_Copy_function, MPI_Datatype,
    MPI_Delete_function, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function, MPI_Win,
    MPI_Win_copy_attr_function, MPI_Win_delete_attr_function,
};
use crate::call::mpi_fn;
use crate::layer::attribute::{KEYVALS, Predefined, free, key, of_type, of_type_to_set};
use crate::mapping::ranks::rank_out;
use crate::object::attribute::refused;
use crate::object::communicator;
use crate::object::datatype;
use crate::object::error_code::last_used;
use crate::object::site::Site;
use crate::object::window::{self, Win};

// Communicators.
mpi_fn! {
    /// MPI-5.0 §7.7.2
    fn MPI_Comm_create_keyval / PMPI_Comm_create_keyval(comm_copy_attr_fn: MPI_Comm_copy_attr_function,
        comm_delete_attr_fn: MPI_Comm_delete_attr_function, comm_keyval: Out<c_int>,
        extra_state: *mut c_void) raises Site::Process => {
        create_for_comm(comm_copy_attr_fn, comm_delete_attr_fn, comm_keyval, extra_state)
    }
    /// MPI-5.0 §7.7.2
    fn MPI_Comm_free_keyval / PMPI_Comm_free_keyval(comm_keyval: Out<c_int>) raises Site::Process => {
        free_key(Kind::Comm, comm_keyval)
    }
    /// MPI-5.0 §7.7.2
    fn MPI_Comm_set_attr / PMPI_Comm_set_attr(comm: MPI_Comm, comm_keyval: c_int, attribute_val: *mut c_void)
        raises comm => {
        set_on_comm(comm, comm_keyval, attribute_val)
    }
    /// MPI-5.0 §7.7.2
    fn MPI_Comm_get_attr / PMPI_Comm_get_attr(comm: MPI_Comm, comm_keyval: c_int, attribute_val: *mut c_void,
        flag: Out<c_int>) raises comm => {
        get_on_comm(comm, comm_keyval, attribute_val, flag)
    }
    /// MPI-5.0 §7.7.2
    fn MPI_Comm_delete_attr / PMPI_Comm_delete_attr(comm: MPI_Comm, comm_keyval: c_int) raises comm => {
        delete_on_comm(comm, comm_keyval)
    }
}

// Deprecated names.
mpi_fn! {
    /// MPI-5.0 §16.1
    fn MPI_Keyval_create / PMPI_Keyval_create(copy_fn: MPI_Copy_function, delete_fn: MPI_Delete_function,
        keyval: Out<c_int>, extra_state: *mut c_void) raises Site::Process => {
        create_for_comm(copy_fn, delete_fn, keyval, extra_state)
    }
    /// MPI-5.0 §16.1
    fn MPI_Keyval_free / PMPI_Keyval_free(keyval: Out<c_int>) raises Site::Process => {
        free_key(Kind::Comm, keyval)
    }
    /// MPI-5.0 §16.1
    fn MPI_Attr_put / PMPI_Attr_put(comm: MPI_Comm, keyval: c_int, attribute_val: *mut c_void)
        raises comm => {
        set_on_comm(comm, keyval, attribute_val)
    }
    /// MPI-5.0 §16.1
    fn MPI_Attr_get / PMPI_Attr_get(comm: MPI_Comm, keyval: c_int, attribute_val: *mut c_void,
        flag: Out<c_int>) raises comm => {
        get_on_comm(comm, keyval, attribute_val, flag)
    }
    /// MPI-5.0 §16.1
    fn MPI_Attr_delete / PMPI_Attr_delete(comm: MPI_Comm, keyval: c_int) raises comm => {
        delete_on_comm(comm, keyval)
    }
}

// Datatypes.
mpi_fn! {
    /// MPI-5.0 §7.7.4
    fn MPI_Type_create_keyval / PMPI_Type_create_keyval(type_copy_attr_fn: MPI_Type_copy_attr_function,
        type_delete_attr_fn: MPI_Type_delete_attr_function, type_keyval: Out<c_int>,
        extra_state: *mut c_void) raises Site::Process => {
        let copy = type_copy_attr_fn.map(|function| {
            Callback::new(function as usize, extra_state, move |me, object, value| {
                let object = MPI_Datatype::numbered(object);
                // SAFETY: the program gave the function for this use.
                asked(|out, flag| unsafe { function(object, me.key(), me.extra(), value, out, flag) })
            })
        });
        let delete = type_delete_attr_fn.map(|function| {
            Callback::new(function as usize, extra_state, move |me, object, value| {
                // SAFETY: the program gave the function for this use.
                outcome(unsafe { function(MPI_Datatype::numbered(object), me.key(), value, me.extra()) })
            })
        });
        create(Kind::Type, copy, delete, type_keyval)
    }
    /// MPI-5.0 §7.7.4
    fn MPI_Type_free_keyval / PMPI_Type_free_keyval(type_keyval: Out<c_int>) raises Site::Process => {
        free_key(Kind::Type, type_keyval)
    }
    /// MPI-5.0 §7.7.4
    fn MPI_Type_set_attr / PMPI_Type_set_attr(datatype: MPI_Datatype, type_keyval: c_int,
        attribute_val: *mut c_void) raises Site::Process => {
        datatype::find("datatype", datatype)?;
        let keyval = key(Kind::Type, type_keyval)?;
        let attributes = of_type_to_set(datatype.number());
        attributes.set(datatype.number(), &keyval, attribute_val.expose_provenance()).map_err(refused)
    }
    /// MPI-5.0 §7.7.4
    fn MPI_Type_get_attr / PMPI_Type_get_attr(datatype: MPI_Datatype, type_keyval: c_int,
        attribute_val: *mut c_void, flag: Out<c_int>) raises Site::Process => {
        datatype::find("datatype", datatype)?;
        let keyval = key(Kind::Type, type_keyval)?;
        let attributes = of_type(datatype.number());
        give(attributes.and_then(|attributes| attributes.get(&keyval)), attribute_val, flag)
    }
    /// MPI-5.0 §7.7.4
    fn MPI_Type_delete_attr / PMPI_Type_delete_attr(datatype: MPI_Datatype, type_keyval: c_int)
        raises Site::Process => {
        datatype::find("datatype", datatype)?;
        let keyval = key(Kind::Type, type_keyval)?;
        let attributes = of_type(datatype.number());
        let gone = attributes.map_or(Ok(false), |found| found.delete(datatype.number(), &keyval).map_err(refused))?;
        if gone { Ok(()) } else { Err(not_set(type_keyval)) }
    }
}

// Windows.
mpi_fn! {
    /// MPI-5.0 §7.7.3
    fn MPI_Win_create_keyval / PMPI_Win_create_keyval(win_copy_attr_fn: MPI_Win_copy_attr_function,
        win_delete_attr_fn: MPI_Win_delete_attr_function, win_keyval: Out<c_int>, extra_state: *mut c_void)
        raises Site::Process => {
        let copy = win_copy_attr_fn.map(|function| {
            Callback::new(function as usize, extra_state, move |me, object, value| {
                // SAFETY: the program gave the function for this use.
                asked(|out, flag| unsafe { function(MPI_Win::numbered(object), me.key(), me.extra(), value, out, flag) })
            })
        });
        let delete = win_delete_attr_fn.map(|function| {
            Callback::new(function as usize, extra_state, move |me, object, value| {
                // SAFETY: the program gave the function for this use.
                outcome(unsafe { function(MPI_Win::numbered(object), me.key(), value, me.extra()) })
            })
        });
        create(Kind::Win, copy, delete, win_keyval)
    }
    /// MPI-5.0 §7.7.3
    fn MPI_Win_free_keyval / PMPI_Win_free_keyval(win_keyval: Out<c_int>) raises Site::Process => {
        free_key(Kind::Win, win_keyval)
    }
}

mpi_fn! {
    /// MPI-5.0 §7.7.3
    fn MPI_Win_set_attr / PMPI_Win_set_attr(win: MPI_Win, win_keyval: c_int, attribute_val: *mut c_void)
        raises win => {
        let (found, keyval) = changeable_of_win(win, win_keyval)?;
        let attributes = found.window.attributes();
        attributes.set(win.number(), &keyval, attribute_val.expose_provenance()).map_err(refused)
    }
    /// MPI-5.0 §7.7.3
    fn MPI_Win_get_attr / PMPI_Win_get_attr(win: MPI_Win, win_keyval: c_int, attribute_val: *mut c_void,
        flag: Out<c_int>) raises win => {
        let found = window::find("win", win)?;
        if let Some(value) = found.predefined(win_keyval) {
            return give(Some(value), attribute_val, flag);
        }
        let keyval = key(Kind::Win, win_keyval)?;
        give(found.window.attributes().get(&keyval), attribute_val, flag)
    }
    /// MPI-5.0 §7.7.3
    fn MPI_Win_delete_attr / PMPI_Win_delete_attr(win: MPI_Win, win_keyval: c_int) raises win => {
        let (found, keyval) = changeable_of_win(win, win_keyval)?;
        let gone = found.window.attributes().delete(win.number(), &keyval).map_err(refused)?;
        if gone { Ok(()) } else { Err(not_set(win_keyval)) }
    }
}

/// The functions that copy a value as it is.
const DUPLICATING: [usize; 3] = [MPI_COMM_DUP_FN, MPI_TYPE_DUP_FN, MPI_WIN_DUP_FN];

// The functions that do nothing are no functions.
const _: () = assert!(MPI_COMM_NULL_COPY_FN | MPI_TYPE_NULL_COPY_FN | MPI_WIN_NULL_COPY_FN == 0);
const _: () = assert!(MPI_COMM_NULL_DELETE_FN | MPI_TYPE_NULL_DELETE_FN | MPI_WIN_NULL_DELETE_FN == 0);

// Keys of the program have a bit that no predefined key has.
const _: () = assert!(
    (MPI_TAG_UB
        | MPI_HOST
        | MPI_IO
        | MPI_WTIME_IS_GLOBAL
        | MPI_APPNUM
        | MPI_UNIVERSE_SIZE
        | MPI_LASTUSEDCODE)
        & KEYVAL_MARK
        == 0
);

/// A callback of the program, as the engine will call it.
struct Callback<R> {
    /// Address of the function.
    address: usize,
    state: Arc<State>,
    call: Box<Call<R>>,
}

/// Calls a function of the program for an object and a value.
type Call<R> = dyn Fn(&State, usize, *mut c_void) -> R + Send + Sync;

/// What a callback gets besides the object and the value.
struct State {
    extra: AtomicPtr<c_void>,
    key: AtomicI32,
}

impl State {
    fn extra(&self) -> *mut c_void {
        self.extra.load(Ordering::Relaxed)
    }

    fn key(&self) -> c_int {
        self.key.load(Ordering::Relaxed)
    }
}

impl<R> Callback<R> {
    fn new(
        address: usize,
        extra: *mut c_void,
        call: impl Fn(&State, usize, *mut c_void) -> R + Send + Sync + 'static,
    ) -> Self {
        let state = State { extra: AtomicPtr::new(extra), key: AtomicI32::new(MPI_KEYVAL_INVALID) };
        Self { address, state: Arc::new(state), call: Box::new(call) }
    }
}

/// Calls a copy function and turns its three answers into one.
fn asked(call: impl FnOnce(*mut c_void, *mut c_int) -> c_int) -> std::result::Result<Option<Value>, i32> {
    let mut copy: *mut c_void = std::ptr::null_mut();
    let mut flag: c_int = 0;
    match call((&raw mut copy).cast(), &mut flag) {
        MPI_SUCCESS => Ok((flag != 0).then(|| copy.expose_provenance())),
        code => Err(code),
    }
}

/// The answer of a delete function.
fn outcome(code: c_int) -> std::result::Result<(), i32> {
    if code == MPI_SUCCESS { Ok(()) } else { Err(code) }
}

type Asked = std::result::Result<Option<Value>, i32>;
type Outcome = std::result::Result<(), i32>;

fn create(
    kind: Kind,
    copy: Option<Callback<Asked>>,
    delete: Option<Callback<Outcome>>,
    keyval: Out<c_int>,
) -> Result<()> {
    let states = [copy.as_ref().map(|c| c.state.clone()), delete.as_ref().map(|c| c.state.clone())];
    let copy: Box<Copy> = match copy {
        None => Box::new(|_, _| Ok(None)),
        Some(copy) if DUPLICATING.contains(&copy.address) => Box::new(|_, value| Ok(Some(value))),
        Some(copy) => Box::new(move |object, value| (copy.call)(&copy.state, object, address(value))),
    };
    let delete: Box<Delete> = match delete {
        None => Box::new(|_, _| Ok(())),
        Some(delete) => Box::new(move |object, value| (delete.call)(&delete.state, object, address(value))),
    };
    let made: Arc<Keyval> = KEYVALS.create(kind, copy, delete)?;
    for state in states.into_iter().flatten() {
        state.key.store(made.number(), Ordering::Relaxed);
    }
    keyval.set("keyval", made.number())
}

fn address(value: Value) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(value)
}

fn create_for_comm(
    copy: MPI_Comm_copy_attr_function,
    delete: MPI_Comm_delete_attr_function,
    keyval: Out<c_int>,
    extra: *mut c_void,
) -> Result<()> {
    let copy = copy.map(|function| {
        Callback::new(function as usize, extra, move |me, object, value| {
            // SAFETY: the program gave the function for this use.
            asked(|out, flag| unsafe {
                function(MPI_Comm::numbered(object), me.key(), me.extra(), value, out, flag)
            })
        })
    });
    let delete = delete.map(|function| {
        Callback::new(function as usize, extra, move |me, object, value| {
            // SAFETY: the program gave the function for this use.
            outcome(unsafe { function(MPI_Comm::numbered(object), me.key(), value, me.extra()) })
        })
    });
    create(Kind::Comm, copy, delete, keyval)
}

fn free_key(kind: Kind, keyval: Out<c_int>) -> Result<()> {
    free(kind, keyval.get("keyval")?)?;
    keyval.set("keyval", MPI_KEYVAL_INVALID)
}

/// The key with this number, for setting and deleting values.
fn changeable(number: c_int) -> Result<Arc<Keyval>> {
    if predefined(number).is_some() {
        let expected = "a key made by the program: predefined attributes cannot be changed";
        return Err(Error::invalid(ErrorClass::Keyval, "comm_keyval", number, expected));
    }
    key(Kind::Comm, number)
}

fn set_on_comm(comm: MPI_Comm, number: c_int, value: *mut c_void) -> Result<()> {
    let found = communicator::find("comm", comm)?;
    let keyval = changeable(number)?;
    found.attributes().set(comm.number(), &keyval, value.expose_provenance()).map_err(refused)
}

fn get_on_comm(comm: MPI_Comm, number: c_int, place: *mut c_void, flag: Out<c_int>) -> Result<()> {
    let comm = communicator::find("comm", comm)?;
    if let Some(value) = predefined(number) {
        return give(Some(value), place, flag);
    }
    let keyval = key(Kind::Comm, number)?;
    give(comm.attributes().get(&keyval), place, flag)
}

fn delete_on_comm(comm: MPI_Comm, number: c_int) -> Result<()> {
    let found = communicator::find("comm", comm)?;
    let keyval = changeable(number)?;
    if found.attributes().delete(comm.number(), &keyval).map_err(refused)? {
        Ok(())
    } else {
        Err(not_set(number))
    }
}

/// A window, and the key with this number for setting and deleting its values.
fn changeable_of_win(win: MPI_Win, number: c_int) -> Result<(Arc<Win>, Arc<Keyval>)> {
    let found = window::find("win", win)?;
    if found.predefined(number).is_some() {
        let expected = "a key made by the program: predefined attributes cannot be changed";
        return Err(Error::invalid(ErrorClass::Keyval, "win_keyval", number, expected));
    }
    Ok((found, key(Kind::Win, number)?))
}

/// Reports a value that may not be there.
fn give(value: Option<Value>, place: *mut c_void, flag: Out<c_int>) -> Result<()> {
    let place = Out::<*mut c_void>::at(place);
    place.ready("attribute_val")?;
    if let Some(value) = value {
        place.set("attribute_val", address(value))?;
    }
    flag.set("flag", c_int::from(value.is_some()))
}

#[cold]
fn not_set(number: c_int) -> Error {
    Error::invalid(ErrorClass::Keyval, "keyval", number, "a key under which a value was set")
}

/// The address of the number behind a predefined key (MPI-5.0 §9.1.2); every communicator shows them.
fn predefined(number: c_int) -> Option<Value> {
    static PLACES: [AtomicI32; 7] = [const { AtomicI32::new(0) }; 7];
    let (at, value) = match number {
        MPI_TAG_UB => (0, Predefined::LargestTag.value()),
        MPI_WTIME_IS_GLOBAL => (1, Predefined::ClockIsGlobal.value()),
        MPI_HOST => (2, rank_out(Predefined::Host.value())),
        MPI_IO => (3, rank_out(Predefined::Io.value())),
        MPI_APPNUM => (4, Predefined::Program.value()),
        MPI_UNIVERSE_SIZE => (5, Predefined::UniverseSize.value()),
        MPI_LASTUSEDCODE => (6, last_used()),
        _ => return None,
    };
    PLACES[at].store(value, Ordering::Relaxed);
    Some(PLACES[at].as_ptr().expose_provenance())
}
