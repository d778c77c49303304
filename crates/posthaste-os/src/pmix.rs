//! PMIx, spoken by the library of whoever started this process: `libpmix.so.2`, loaded at run time.
//!
//! For processes to which no descriptor of PMI-1 was handed down. The types of the few functions below follow the PMIx
//! standard 4.1 (§3 for the types, §5 to §9 for the functions). The wire between that library and the launcher is its
//! own affair, so there is no way without it, and no need for it to build. What must stay true: every structure that is
//! handed over is as long as the library takes it to be, or longer; what it hands out is copied at once and given back.

use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::mem::transmute_copy;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr::null;

const SUCCESS: c_int = 0;
const NOT_FOUND: c_int = -46;
/// The rank that stands for a whole job.
const WILDCARD: u32 = u32::MAX - 1;
/// Who sees a value: everybody.
const GLOBAL: u8 = 3;
const BOOL: u16 = 1;
const STRING: u16 = 3;
const UINT32: u16 = 14;
const PROC: u16 = 22;
const DATA_ARRAY: u16 = 39;
/// A truth value of one byte.
const TRUE: u64 = u64::from_ne_bytes([1, 0, 0, 0, 0, 0, 0, 0]);

#[derive(Clone, Copy)]
#[repr(C)]
struct Proc {
    job: [u8; 256],
    rank: u32,
}

impl Proc {
    /// The name of its job; what stands behind the zero means nothing.
    fn name(&self) -> &[u8] {
        self.job.split(|byte| *byte == 0).next().unwrap_or_default()
    }
}

/// A value of any type; its widest member has 24 bytes.
#[derive(Clone, Copy)]
#[repr(C)]
struct Value {
    kind: u16,
    data: [u64; 3],
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Info {
    key: [u8; 512],
    flags: u32,
    value: Value,
}

/// Several values of one type.
#[repr(C)]
struct Array {
    kind: u16,
    size: usize,
    first: *mut c_void,
}

/// Keys that are asked for, with a null pointer behind the last one, and what narrows the question.
#[repr(C)]
struct Query {
    keys: *const *const c_char,
    narrowed: *const Info,
    count: usize,
}

type Init = unsafe extern "C" fn(*mut Proc, *const Info, usize) -> c_int;
type Finalize = unsafe extern "C" fn(*const Info, usize) -> c_int;
type Put = unsafe extern "C" fn(u8, *const c_char, *const Value) -> c_int;
type Commit = unsafe extern "C" fn() -> c_int;
type Fence = unsafe extern "C" fn(*const Proc, usize, *const Info, usize) -> c_int;
type Get = unsafe extern "C" fn(*const Proc, *const c_char, *const Info, usize, *mut *mut Value) -> c_int;
type Ask = unsafe extern "C" fn(*const Query, usize, *mut *mut Info, *mut usize) -> c_int;
type Abort = unsafe extern "C" fn(c_int, *const c_char, *mut Proc, usize) -> c_int;
type Text = unsafe extern "C" fn(c_int) -> *const c_char;

/// The functions of the library.
struct Table {
    init: Init,
    finalize: Finalize,
    put: Put,
    commit: Commit,
    fence: Fence,
    get: Get,
    /// Since version 4 of the standard.
    ask: Option<Ask>,
    abort: Abort,
    text: Text,
}

/// This process as a member of a PMIx job.
pub struct Pmix {
    table: Table,
    me: Proc,
    size: u32,
}

impl std::fmt::Debug for Pmix {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pmix").field("rank", &self.me.rank).field("size", &self.size).finish_non_exhaustive()
    }
}

/// The places where the library may be: where the dynamic linker looks, and where the launcher's own is.
pub fn places() -> Vec<PathBuf> {
    let name = Path::new("libpmix.so.2");
    let own = ["PMIX_PREFIX", "OPAL_PREFIX"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let inside =
        own.flat_map(|prefix| ["lib", "lib/openmpi", "lib64"].map(|folder| prefix.join(folder).join(name)));
    std::iter::once(name.to_owned()).chain(inside).collect()
}

/// The first of these places where the library is, for those who only want to know.
pub fn found() -> Option<PathBuf> {
    places().into_iter().find(|place| open(place).is_ok())
}

fn open(place: &Path) -> Result<*mut c_void, String> {
    let path = CString::new(place.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: loading a library runs its initialisers, which is what loading it is for; it is never unloaded.
    let library = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if !library.is_null() {
        return Ok(library);
    }
    // SAFETY: after a failure this is a C string, or null.
    let why = unsafe { libc::dlerror() };
    if why.is_null() {
        return Err(format!("{}: cannot be loaded", place.display()));
    }
    // SAFETY: not null, a C string of the dynamic linker, copied before the next of its calls.
    Err(unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned())
}

impl Table {
    fn load() -> Result<Self, String> {
        let mut whys = Vec::new();
        let library = places().iter().find_map(|place| open(place).map_err(|why| whys.push(why)).ok());
        let library = library.ok_or_else(|| whys.swap_remove(0))?;
        let symbol = |name: &CStr| {
            // SAFETY: `library` is loaded and stays so; `name` is a C string.
            let found = unsafe { libc::dlsym(library, name.as_ptr()) };
            if found.is_null() {
                Err(format!("libpmix has no {}", name.to_string_lossy()))
            } else {
                Ok(found)
            }
        };
        macro_rules! function {
            ($name:literal as $type:ty) => {{
                let found = symbol($name)?;
                // SAFETY: the function of that name has that type, by the PMIx standard; both are one pointer long.
                unsafe { transmute_copy::<*mut c_void, $type>(&found) }
            }};
        }
        Ok(Self {
            init: function!(c"PMIx_Init" as Init),
            finalize: function!(c"PMIx_Finalize" as Finalize),
            put: function!(c"PMIx_Put" as Put),
            commit: function!(c"PMIx_Commit" as Commit),
            fence: function!(c"PMIx_Fence" as Fence),
            get: function!(c"PMIx_Get" as Get),
            ask: match symbol(c"PMIx_Query_info") {
                // SAFETY: as above.
                Ok(found) => Some(unsafe { transmute_copy::<*mut c_void, Ask>(&found) }),
                Err(_) => None,
            },
            abort: function!(c"PMIx_Abort" as Abort),
            text: function!(c"PMIx_Error_string" as Text),
        })
    }

    fn check(&self, call: &str, status: c_int) -> Result<(), String> {
        if status == SUCCESS {
            return Ok(());
        }
        // SAFETY: takes any number, and gives a C string that stays.
        let text = unsafe { (self.text)(status) };
        if text.is_null() {
            return Err(format!("{call} gives {status}"));
        }
        // SAFETY: not null, and as above.
        Err(format!("{call} gives {}", unsafe { CStr::from_ptr(text) }.to_string_lossy()))
    }
}

impl Pmix {
    /// Joins the job of this process. Done once per process.
    ///
    /// # Errors
    /// Says why that cannot be: no library, no launcher that answers.
    pub fn join() -> Result<Self, String> {
        let table = Table::load()?;
        let mut me = Proc { job: [0; 256], rank: 0 };
        // SAFETY: `me` is a place for the answer; there are no directives.
        let status = unsafe { (table.init)(&mut me, null(), 0) };
        table.check("PMIx_Init", status)?;
        let mut pmix = Self { table, me, size: 0 };
        match pmix.number(WILDCARD, "pmix.job.size")? {
            Some(size) if me.rank < size => pmix.size = size,
            size => return Err(format!("PMIx says that this is rank {} of {size:?}", me.rank)),
        }
        Ok(pmix)
    }

    /// Rank in the job.
    pub fn rank(&self) -> usize {
        self.me.rank as usize
    }

    /// Ranks in the job.
    pub fn size(&self) -> usize {
        self.size as usize
    }

    /// The number of the node of a rank, if the launcher says so.
    ///
    /// # Errors
    /// When the launcher's library fails; so for all below.
    pub fn node_of(&self, rank: usize) -> Result<Option<u32>, String> {
        self.number(rank as u32, "pmix.nodeid")
    }

    /// How many processes the launcher has room for, if it says so.
    ///
    /// # Errors
    /// See [`Pmix::node_of`].
    pub fn universe_size(&self) -> Result<Option<usize>, String> {
        Ok(self.number(WILDCARD, "pmix.univ.size")?.and_then(known))
    }

    /// The number of the program that this rank runs, if the launcher says so.
    ///
    /// # Errors
    /// See [`Pmix::node_of`].
    pub fn application(&self) -> Result<Option<usize>, String> {
        Ok(self.number(self.me.rank, "pmix.appnum")?.and_then(known))
    }

    /// The number of the program that a rank runs, if the launcher says so.
    ///
    /// # Errors
    /// See [`Pmix::node_of`].
    pub fn application_of(&self, rank: usize) -> Result<Option<usize>, String> {
        Ok(self.number(rank as u32, "pmix.appnum")?.and_then(known))
    }

    /// The process sets that the launcher knows: names, and which ranks of this job are in them.
    ///
    /// # Errors
    /// See [`Pmix::node_of`]; a launcher that is not asked for sets.
    pub fn process_sets(&self) -> Result<Vec<(String, Vec<u32>)>, String> {
        let mut names = Vec::new();
        self.ask(c"pmix.qry.psets", None, |value| names.extend(text(value)))?;
        let mut sets = Vec::new();
        for name in names.iter().flat_map(|names| names.split(',')).filter(|name| !name.is_empty()) {
            let named = c_string(name)?;
            let narrowed = Info::new("pmix.pset.nm", STRING, named.as_ptr() as u64);
            let mut ranks = Vec::new();
            self.ask(c"pmix.qry.pmems", Some(&narrowed), |value| {
                ranks.extend(
                    members(value).into_iter().filter(|one| one.name() == self.me.name()).map(|one| one.rank),
                );
            })?;
            ranks.retain(|rank| *rank < self.size);
            sets.push((name.to_owned(), ranks));
        }
        Ok(sets)
    }

    /// Asks the launcher, and shows `read` each value that it has for this key.
    fn ask(&self, key: &CStr, narrowed: Option<&Info>, mut read: impl FnMut(&Value)) -> Result<(), String> {
        let Some(ask) = self.table.ask else { return Err("libpmix has no PMIx_Query_info".into()) };
        let keys = [key.as_ptr(), null()];
        let count = usize::from(narrowed.is_some());
        let query =
            Query { keys: keys.as_ptr(), narrowed: narrowed.map_or(null(), std::ptr::from_ref), count };
        let (mut found, mut many) = (std::ptr::null_mut(), 0);
        // SAFETY: the query, its keys and what narrows it live through the call, as do the places for the answer.
        let status = unsafe { ask(&query, 1, &mut found, &mut many) };
        self.table.check("PMIx_Query_info", status)?;
        if !found.is_null() {
            // SAFETY: a success leaves so many answers there, which are ours.
            let answers = unsafe { std::slice::from_raw_parts(found, many) };
            answers
                .iter()
                .filter(|answer| answer.key.starts_with(key.to_bytes_with_nul()))
                .for_each(|answer| read(&answer.value));
            // SAFETY: they were made by `malloc`, and nobody has them any more; what others hold than were read stays.
            unsafe { libc::free(found.cast()) };
        }
        Ok(())
    }

    /// Puts a pair; others see it after the next fence.
    ///
    /// # Errors
    /// See [`Pmix::node_of`].
    pub fn put(&self, key: &str, value: &str) -> Result<(), String> {
        let (key, text) = (c_string(key)?, c_string(value)?);
        let value = Value { kind: STRING, data: [text.as_ptr() as u64, 0, 0] };
        // SAFETY: key and value live through the call, which copies them.
        let status = unsafe { (self.table.put)(GLOBAL, key.as_ptr(), &value) };
        self.table.check("PMIx_Put", status)
    }

    /// Gets what `rank` has put.
    ///
    /// # Errors
    /// See [`Pmix::node_of`].
    pub fn get(&self, rank: usize, key: &str) -> Result<Option<String>, String> {
        self.value(rank as u32, key, text)
    }

    /// Waits until all ranks of the job have come here.
    ///
    /// # Errors
    /// See [`Pmix::node_of`].
    pub fn fence(&self) -> Result<(), String> {
        // SAFETY: takes nothing.
        let status = unsafe { (self.table.commit)() };
        self.table.check("PMIx_Commit", status)?;
        let all = Proc { rank: WILDCARD, ..self.me };
        let collect = Info::new("pmix.collect", BOOL, TRUE);
        // SAFETY: one process and one directive, both alive through the call.
        let status = unsafe { (self.table.fence)(&all, 1, &collect, 1) };
        self.table.check("PMIx_Fence", status)
    }

    /// Asks for the end of the job.
    ///
    /// # Errors
    /// See [`Pmix::node_of`].
    pub fn abort(&self, code: i32) -> Result<(), String> {
        // SAFETY: no list of processes means all of them; the text is a C string.
        let status = unsafe { (self.table.abort)(code, c"MPI_Abort".as_ptr(), std::ptr::null_mut(), 0) };
        self.table.check("PMIx_Abort", status)
    }

    /// Takes leave.
    ///
    /// # Errors
    /// See [`Pmix::node_of`].
    pub fn finalize(&self) -> Result<(), String> {
        // SAFETY: there are no directives.
        let status = unsafe { (self.table.finalize)(null(), 0) };
        self.table.check("PMIx_Finalize", status)
    }

    fn number(&self, rank: u32, key: &str) -> Result<Option<u32>, String> {
        self.value(rank, key, |value| (value.kind == UINT32).then_some(low(value.data[0])))
    }

    /// Shows a value to `read`, which takes what it holds, and gives its place back.
    fn value<T>(
        &self,
        rank: u32,
        key: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let (of, name) = (Proc { rank, ..self.me }, c_string(key)?);
        let mut value = std::ptr::null_mut();
        // SAFETY: process, key and the place for the answer live through the call; there are no directives.
        let status = unsafe { (self.table.get)(&of, name.as_ptr(), null(), 0, &mut value) };
        if status == NOT_FOUND || value.is_null() {
            return if status == NOT_FOUND {
                Ok(None)
            } else {
                self.table.check("PMIx_Get", status).map(|()| None)
            };
        }
        self.table.check("PMIx_Get", status)?;
        // SAFETY: a success leaves a value there that is ours.
        let got = read(unsafe { &*value });
        // SAFETY: it was made by `malloc`, and nobody has it any more.
        unsafe { libc::free(value.cast()) };
        Ok(got)
    }
}

impl Info {
    fn new(key: &str, kind: u16, word: u64) -> Self {
        let mut info = Self { key: [0; 512], flags: 0, value: Value { kind, data: [word, 0, 0] } };
        info.key[..key.len()].copy_from_slice(key.as_bytes());
        info
    }
}

/// The text that a value of the library holds, which is given back.
fn text(value: &Value) -> Option<String> {
    let text = value.data[0] as *mut c_char;
    if value.kind != STRING || text.is_null() {
        return None;
    }
    // SAFETY: a value of this kind holds a C string of its own.
    let copy = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    // SAFETY: it was made for whoever asked, by `malloc`, and nobody has it any more.
    unsafe { libc::free(text.cast()) };
    Some(copy)
}

/// The processes that a value of the library holds, which are given back.
fn members(value: &Value) -> Vec<Proc> {
    let array = value.data[0] as *mut Array;
    if value.kind != DATA_ARRAY || array.is_null() {
        return Vec::new();
    }
    // SAFETY: a value of this kind holds an array of its own.
    let Array { kind, size, first } = unsafe { array.read() };
    let mut all = Vec::new();
    if kind == PROC && !first.is_null() {
        // SAFETY: an array of this kind has so many processes.
        all.extend_from_slice(unsafe { std::slice::from_raw_parts(first.cast::<Proc>(), size) });
        // SAFETY: they were made for whoever asked, by `malloc`, and nobody has them any more.
        unsafe { libc::free(first) };
    }
    // SAFETY: as above.
    unsafe { libc::free(array.cast()) };
    all
}

/// A number that the launcher knows: none is beyond what an `int` of C holds, and so launchers write -1, for "unknown".
fn known(number: u32) -> Option<usize> {
    i32::try_from(number).ok().map(|number| number as usize)
}

/// A number of 32 bits that stands where one of 64 could.
fn low(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_ne_bytes();
    u32::from_ne_bytes([a, b, c, d])
}

fn c_string(text: &str) -> Result<CString, String> {
    CString::new(OsStr::new(text).as_bytes()).map_err(|_| format!("{text:?} holds a zero byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_are_as_long_as_the_library_takes_them_to_be() {
        assert_eq!((size_of::<Proc>(), size_of::<Value>(), size_of::<Info>()), (260, 32, 552));
        assert_eq!((size_of::<Array>(), size_of::<Query>()), (24, 24));
    }

    #[test]
    fn what_the_launcher_does_not_know_is_unknown() {
        assert_eq!([0, 7, i32::MAX as u32].map(known), [Some(0), Some(7), Some(i32::MAX as usize)]);
        assert_eq!([1 << 31, u32::MAX].map(known), [None, None]);
    }

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let why = open(Path::new("/no/such/libpmix.so.2")).unwrap_err();
        assert!(why.contains("/no/such/libpmix.so.2"), "{why}");
    }
}
