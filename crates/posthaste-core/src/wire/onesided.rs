//! Packets of one-sided communication, for methods that do not reach a peer's memory by themselves: see
//! [`onesided`](crate::onesided).
//!
//! What must stay true: a key says nothing of addresses; whoever gets it looks it up and checks the range.

use super::emit::Emit;
use super::*;

/// Names memory that a process has exposed; its peers get it as [`RemoteKey::BYTES`] bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RemoteKey {
    /// Place in the table of exposed memory, or the upper half of a name.
    pub slot: u32,
    /// How often that place had been taken, never 0; or the lower half of the name.
    pub generation: u32,
}

impl RemoteKey {
    /// Length of a key as peers get it.
    pub const BYTES: usize = 8;
    /// The mark of names in slots, of which there are fewer.
    const NAME: u32 = 1 << 31;

    /// The key of what has a name that its peers know: of 63 bits.
    pub fn named(name: u64) -> Self {
        Self { slot: (name >> 32) as u32 | Self::NAME, generation: name as u32 }
    }

    /// Whether it is such a key.
    pub fn is_named(self) -> bool {
        self.slot & Self::NAME != 0
    }

    /// As peers get it.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        zerocopy::transmute!([U32::new(self.slot), U32::new(self.generation)])
    }

    /// As a peer has sent it. Any bytes are a key; one that was made up finds nothing.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let [slot, generation]: [U32; 2] = zerocopy::transmute!(bytes);
        Self { slot: slot.get(), generation: generation.get() }
    }
}

/// A place in the exposed memory of the process that gets the packet, and the number of the operation, which its answer
/// bears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Number of the operation, given by who started it.
    pub serial: u64,
    /// Which memory.
    pub key: RemoteKey,
    /// Where in it, in bytes.
    pub offset: u64,
    /// How the elements lie there, if they are not one run.
    pub scattered: Option<Scattered>,
}

/// Elements that are not one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scattered {
    /// How one lies: a number that the sender has given to a [`OneSided::Layout`].
    pub layout: u32,
    /// How many there are.
    pub count: u32,
    /// Of their bytes, one behind the other, the first that is meant.
    pub from: u64,
}

/// What is done to the elements of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomically {
    /// The operation's number; 0 for compare-and-swap, whose operands are what is expected and what
    /// replaces it.
    pub operation: u32,
    /// Number of the elements' predefined type.
    pub element: u16,
    /// The elements' old values are wanted.
    pub fetches: bool,
}

/// An access that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Which.
    pub access: Access,
    /// Why.
    pub why: Refusal,
    /// Its length.
    pub len: u64,
    /// Length of the memory.
    pub size: u64,
}

/// Why an access is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The memory is not exposed any more, or never was.
    NotExposed = 1,
    /// It reaches beyond the memory.
    OutOfRange = 2,
    /// The elements do not have this operation.
    NoSuchOperation = 3,
    /// It is not in memory that is attached.
    NotAttached = 4,
    /// Nobody has said how the elements lie.
    NoSuchLayout = 5,
}

/// What bytes belong to that come in a packet and go straight where they belong.
#[derive(Clone, Copy, Debug)]
pub enum OneSidedData {
    /// A put: here.
    Put(Access),
    /// What the operation of this number fetches: the next ones.
    Answer(u64),
}

/// The packets.
#[derive(Clone, Copy, Debug)]
pub enum OneSided<'a> {
    /// Bytes for the memory.
    Put(Access, Source<'a>),
    /// So many bytes of the memory are wanted.
    Get(Access, u64),
    /// Operands for elements of the memory.
    Atomic(Access, Atomically, Source<'a>),
    /// Asks whether all that came before has been done.
    Flush(u64),
    /// The lock of the memory is wanted.
    Lock {
        /// Number of the operation.
        serial: u64,
        /// Which memory.
        key: RemoteKey,
        /// For one holder alone.
        exclusive: bool,
    },
    /// The lock of the memory is given back.
    Unlock(RemoteKey),
    /// The next bytes of what an operation fetches; for a flush, none: all has been done.
    Answer(u64, Source<'a>),
    /// An operation is not done.
    Refused(Refused),
    /// How elements lie, as accesses mean by this number from now on.
    Layout(u32, Source<'a>),
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct AccessBody {
    serial: U64,
    slot: U32,
    generation: U32,
    offset: U64,
}

/// Follows an access to elements that are not one run.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct ScatteredBody {
    from: U64,
    count: U32,
    layout: U32,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct AtomicBody {
    operation: U32,
    element: U16,
    fetches: U16,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct RefusedBody {
    access: AccessBody,
    why: U64,
    len: U64,
    size: U64,
}

/// Most bytes in front of the data of a put.
pub(super) const PUT_FRONT: usize = size_of::<AccessBody>() + size_of::<ScatteredBody>();
const LONGEST: usize = PUT_FRONT + size_of::<U64>();
const _: () = assert!(size_of::<RefusedBody>() <= FRONT && LONGEST <= FRONT);

impl Access {
    /// What is left of it when so many packed bytes are done, which stand in so many bytes of memory if they are one run.
    pub fn go_on(&mut self, packed: u64, in_memory: u64) {
        match &mut self.scattered {
            Some(scattered) => scattered.from = scattered.from.wrapping_add(packed),
            None => self.offset = self.offset.wrapping_add(in_memory),
        }
    }
}

impl From<Access> for AccessBody {
    fn from(Access { serial, key: RemoteKey { slot, generation }, offset, .. }: Access) -> Self {
        Self {
            serial: serial.into(),
            slot: slot.into(),
            generation: generation.into(),
            offset: offset.into(),
        }
    }
}

impl From<AccessBody> for Access {
    fn from(body: AccessBody) -> Self {
        let key = RemoteKey { slot: body.slot.get(), generation: body.generation.get() };
        Self { serial: body.serial.get(), key, offset: body.offset.get(), scattered: None }
    }
}

impl From<Scattered> for ScatteredBody {
    fn from(Scattered { layout, count, from }: Scattered) -> Self {
        Self { from: from.into(), count: count.into(), layout: layout.into() }
    }
}

impl From<ScatteredBody> for Scattered {
    fn from(body: ScatteredBody) -> Self {
        Self { layout: body.layout.get(), count: body.count.get(), from: body.from.get() }
    }
}

impl Emit {
    /// Bytes for a peer's memory follow.
    pub fn put(access: Access) -> Self {
        Self::access([Kind::Put, Kind::PutScattered], access, &[])
    }

    /// Asks for bytes of a peer's memory.
    pub fn get(access: Access, len: u64) -> Self {
        Self::access([Kind::Get, Kind::GetScattered], access, U64::new(len).as_bytes())
    }

    /// An access, of the second kind where elements are scattered, and what else there is to say of it.
    fn access(kinds: [Kind; 2], access: Access, rest: &[u8]) -> Self {
        let mut emit = Self::control(kinds[usize::from(access.scattered.is_some())], &[]);
        emit.push(AccessBody::from(access).as_bytes());
        if let Some(scattered) = access.scattered {
            emit.push(ScatteredBody::from(scattered).as_bytes());
        }
        emit.push(rest);
        emit
    }

    /// How elements lie follows.
    pub fn layout(number: u32) -> Self {
        Self::control(Kind::Layout, U32::new(number).as_bytes())
    }

    /// Operands for elements of a peer's memory follow.
    pub fn atomic(access: Access, what: Atomically) -> Self {
        let Atomically { operation, element, fetches } = what;
        let (operation, element) = (operation.into(), element.into());
        let fetches = U16::new(u16::from(fetches));
        let body = AtomicBody { operation, element, fetches };
        Self::access([Kind::Atomic, Kind::AtomicScattered], access, body.as_bytes())
    }

    /// Asks whether all that came before has been done.
    pub fn flush(serial: u64) -> Self {
        Self::control(Kind::Flush, U64::new(serial).as_bytes())
    }

    /// Asks for the lock of a peer's memory.
    pub fn lock(serial: u64, key: RemoteKey, exclusive: bool) -> Self {
        let access = Access { serial, key, offset: u64::from(exclusive), scattered: None };
        Self::control(Kind::Lock, AccessBody::from(access).as_bytes())
    }

    /// Gives the lock of a peer's memory back.
    pub fn unlock(key: RemoteKey) -> Self {
        let access = Access { serial: 0, key, offset: 0, scattered: None };
        Self::control(Kind::Unlock, AccessBody::from(access).as_bytes())
    }

    /// Bytes that an operation fetches follow.
    pub fn answer(serial: u64) -> Self {
        Self::control(Kind::Answer, U64::new(serial).as_bytes())
    }

    /// An operation is not done.
    pub fn refused(refused: Refused) -> Self {
        let Refused { access, why, len, size } = refused;
        let body = RefusedBody {
            access: access.into(),
            why: U64::new(why as u64),
            len: len.into(),
            size: size.into(),
        };
        Self::control(Kind::Refused, body.as_bytes())
    }
}

/// Reads the packet of this kind, which is one of those here.
///
/// # Errors
/// As [`Packet::parse`].
pub(super) fn parse(kind: Kind, payload: Source<'_>) -> Result<OneSided<'_>, Malformed> {
    Ok(match kind {
        Kind::Put | Kind::PutScattered => {
            let (access, data) = access(kind == Kind::PutScattered, payload)?;
            OneSided::Put(access, data)
        }
        Kind::Get | Kind::GetScattered => {
            let (access, rest) = access(kind == Kind::GetScattered, payload)?;
            OneSided::Get(access, front::<U64>(rest)?.0.get())
        }
        Kind::Atomic | Kind::AtomicScattered => {
            let (access, rest) = access(kind == Kind::AtomicScattered, payload)?;
            let (body, data) = front::<AtomicBody>(rest)?;
            let (operation, element) = (body.operation.get(), body.element.get());
            let what = Atomically { operation, element, fetches: body.fetches.get() != 0 };
            OneSided::Atomic(access, what, data)
        }
        Kind::Layout => {
            let (number, data) = front::<U32>(payload)?;
            OneSided::Layout(number.get(), data)
        }
        Kind::Flush => OneSided::Flush(front::<U64>(payload)?.0.get()),
        Kind::Lock => {
            let Access { serial, key, offset, .. } = front::<AccessBody>(payload)?.0.into();
            OneSided::Lock { serial, key, exclusive: offset != 0 }
        }
        Kind::Unlock => OneSided::Unlock(Access::from(front::<AccessBody>(payload)?.0).key),
        Kind::Answer => {
            let (serial, data) = front::<U64>(payload)?;
            OneSided::Answer(serial.get(), data)
        }
        Kind::Refused => {
            let (body, _) = front::<RefusedBody>(payload)?;
            let why = match body.why.get() {
                1 => Refusal::NotExposed,
                2 => Refusal::OutOfRange,
                3 => Refusal::NoSuchOperation,
                4 => Refusal::NotAttached,
                5 => Refusal::NoSuchLayout,
                _ => return Err(Malformed),
            };
            let (access, len, size) = (body.access.into(), body.len.get(), body.size.get());
            OneSided::Refused(Refused { access, why, len, size })
        }
        _ => return Err(Malformed),
    })
}

/// An access and what follows it.
pub(super) fn access(is_scattered: bool, payload: Source<'_>) -> Result<(Access, Source<'_>), Malformed> {
    let (body, rest) = front::<AccessBody>(payload)?;
    let access = Access::from(body);
    if !is_scattered {
        return Ok((access, rest));
    }
    let (body, rest) = front::<ScatteredBody>(rest)?;
    Ok((Access { scattered: Some(body.into()), ..access }, rest))
}
