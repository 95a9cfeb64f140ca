//! How messages of [`Comm`](tegula_comm::Comm) and of the pumps are told apart: by their MPI tag.

use tegula_comm::{Error, Tag};

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A sign of life.
    Beat,
    /// The work of all ranks has ended, for the reason in the message.
    End,
    /// The sender has ended its work, and sends no more.
    Bye,
    /// A message of a program.
    Data(Tag),
}

/// The pumps use the MPI tags below this one.
const DATA_TAG_MIN: i32 = 3;

impl Kind {
    /// Returns the MPI tag, if there is one that is at most `tag_max`.
    pub(crate) fn mpi_tag(self, tag_max: i32) -> Option<i32> {
        match self {
            Kind::Beat => Some(0),
            Kind::End => Some(1),
            Kind::Bye => Some(2),
            Kind::Data(Tag(tag)) => {
                let tag = i32::try_from(tag).ok()?.checked_add(DATA_TAG_MIN)?;
                (tag <= tag_max).then_some(tag)
            }
        }
    }

    /// Returns what a message with this MPI tag is for.
    pub(crate) fn of(mpi_tag: i32) -> Kind {
        match mpi_tag {
            0 => Kind::Beat,
            1 => Kind::End,
            2 => Kind::Bye,
            _ => Kind::Data(Tag((mpi_tag - DATA_TAG_MIN).cast_unsigned())),
        }
    }
}

/// Writes why the work of all ranks has ended: a byte for the variant, a rank and seconds as eight
/// bytes each, and a text.
pub(crate) fn write_end(end: &Error) -> Vec<u8> {
    let other = end.to_string();
    let (variant, rank, seconds, text) = match end {
        Error::Aborted { rank, reason } => (1, *rank as u64, 0, reason),
        Error::Silent { rank, seconds } => (2, *rank as u64, *seconds, &String::new()),
        Error::Transport(text) => (0, 0, 0, text),
        _ => (0, 0, 0, &other),
    };
    let numbers = [rank, seconds].map(u64::to_le_bytes).concat();
    [&[variant], &*numbers, text.as_bytes()].concat()
}

/// Reads what [`write_end`] wrote.
pub(crate) fn read_end(bytes: &[u8]) -> Error {
    let read = || {
        let (&variant, rest) = bytes.split_first()?;
        let (rank, rest) = rest.split_first_chunk()?;
        let (seconds, text) = rest.split_first_chunk()?;
        let rank = usize::try_from(u64::from_le_bytes(*rank)).ok()?;
        let text = String::from_utf8_lossy(text).into_owned();
        match variant {
            1 => Some(Error::Aborted { rank, reason: text }),
            2 => Some(Error::Silent { rank, seconds: u64::from_le_bytes(*seconds) }),
            _ => Some(Error::Transport(text)),
        }
    };
    read()
        .unwrap_or_else(|| Error::Transport("a rank failed, and its reason is damaged".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_known_by_its_tag() {
        for kind in [Kind::Beat, Kind::End, Kind::Bye, Kind::Data(Tag(0)), Kind::Data(Tag(99))] {
            assert_eq!(kind.mpi_tag(i32::MAX).map(Kind::of), Some(kind));
        }
        assert_eq!(Kind::Data(Tag(29)).mpi_tag(32), Some(32));
        assert_eq!(Kind::Data(Tag(30)).mpi_tag(32), None);
        assert_eq!(Kind::Data(Tag(u32::MAX)).mpi_tag(i32::MAX), None);
        assert_eq!(Kind::Data(Tag(i32::MAX as u32)).mpi_tag(i32::MAX), None);
    }

    #[test]
    fn an_end_is_read_as_it_was_written() {
        for end in [
            Error::Aborted { rank: 7, reason: "the disk is full".to_owned() },
            Error::Silent { rank: 300, seconds: 60 },
            Error::Transport("no route".to_owned()),
        ] {
            assert_eq!(read_end(&write_end(&end)), end);
        }
        for damaged in [&[][..], &[1; 5], &[2; 16]] {
            assert!(matches!(read_end(damaged), Error::Transport(_)));
        }
    }
}
