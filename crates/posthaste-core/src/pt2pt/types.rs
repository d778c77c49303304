//! Whether sender and receiver mean the same: types are checked where a message carries its signature.
//!
//! They are compared when message and receive have met. The data is delivered as bytes whatever comes out. MPI-5.0
//! §3.3.1: the types of the message must be those with which the receive begins, so a receive may be longer;
//! `MPI_PACKED` matches everything.

use crate::datatype::{Builtin, Segment};
use crate::error::{Error, ErrorClass};
use crate::named::Named;
use crate::wire::Envelope;

/// What is wrong with the types of a message for this receive, if anything. A message that is cut is another error.
#[cold]
pub(super) fn check(envelope: &Envelope, segment: &Segment) -> Option<Error> {
    let signature = segment.signature().filter(|signature| !signature.is_wild())?;
    let (sent, len) = (envelope.types, envelope.len);
    if !sent.is_known() || len > segment.len() || signature.prefix_hash(len) == Some(sent.hash) {
        return None;
    }
    // The tags of collective operations are nobody's business.
    let with =
        if envelope.context.is_collective() { String::new() } else { format!(" with tag {}", envelope.tag) };
    let text = format!(
        "rank {} sent {}{with}, the receive takes them for {}",
        envelope.source,
        describe_sent(envelope),
        signature.describe(len)
    );
    Some(Error::other(ErrorClass::Type, text))
}

/// `10 MPI_INT`, or as much as the message says.
fn describe_sent(envelope: &Envelope) -> String {
    let (types, len) = (envelope.types, envelope.len);
    match Named::from_the_wire(types.first).map(Builtin::of) {
        Some(first) if types.uniform && len.is_multiple_of(first.size) => {
            format!("{} {}", len / first.size, first.name)
        }
        Some(first) => format!("{len} bytes of several types that begin with {}", first.name),
        None => format!("{len} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::UserBuf;
    use crate::datatype::{Datatype, Types};
    use crate::ids::ContextId;

    fn datatype(named: Named) -> Datatype {
        named.into()
    }

    fn verdict(sent: (u64, &Datatype), received: (u64, &Datatype)) -> Option<String> {
        let segment = |(count, datatype): (u64, &Datatype)| Segment::typed(UserBuf::none(), count, datatype);
        let (sent, received) = (segment(sent), segment(received));
        let (len, types) = (sent.len(), sent.types());
        let context = ContextId::WORLD;
        let envelope = Envelope { context, source: 1, tag: 7, len, mode: crate::wire::Mode::Standard, types };
        check(&envelope, &received).map(|error| {
            assert_eq!(error.class(), ErrorClass::Type);
            error.to_string()
        })
    }

    #[test]
    fn both_sides_are_named() {
        let (int, double, packed) = (datatype(Named::Int), datatype(Named::Double), datatype(Named::Packed));
        assert_eq!(verdict((10, &int), (10, &int)), None);
        assert_eq!(verdict((10, &int), (100, &int)), None);
        assert_eq!(verdict((10, &int), (40, &packed)), None);
        assert_eq!(verdict((40, &packed), (5, &double)), None);
        assert_eq!(verdict((0, &int), (5, &double)), None);
        let text = verdict((10, &int), (6, &double)).unwrap();
        assert_eq!(text, "rank 1 sent 10 MPI_INT with tag 7, the receive takes them for 5 MPI_DOUBLE");
        let text = verdict((3, &int), (6, &double)).unwrap();
        assert!(text.ends_with("for 2 MPI_DOUBLE, the last of them in part"), "{text}");
        let both = Datatype::structure(&[2, 1], &[0, 8], &[int.clone(), double.clone()]).unwrap();
        let text = verdict((2, &both), (4, &double)).unwrap();
        assert!(text.contains("sent 32 bytes of several types that begin with MPI_INT with"), "{text}");
        let text = verdict((4, &double), (2, &both)).unwrap();
        assert!(text.ends_with("for 2 MPI_INT, 1 MPI_DOUBLE, 2 MPI_INT, ..."), "{text}");
        assert_eq!(verdict((2, &datatype(Named::TwoInt)), (4, &int)), None);
        let unknown = Segment::new(UserBuf::none(), 4, &int);
        assert_eq!(unknown.types(), Types::UNKNOWN);
    }
}
