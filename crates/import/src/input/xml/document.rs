//! Reads an XML document event by event, in bounded memory. Every event has a line.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use memchr::memchr_iter;
use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{self, BytesRef, BytesStart};
use tegula_machine::Bytes;
use tegula_machine::threads::Cancel;
use tegula_store::{At, Diagnostic, Error, Result};
use tegula_tables::read::{InputStream, bad_at};

/// The most elements that may be open at once. Graphs have a handful.
const DEPTH_MAX: usize = 256;

/// The most bytes of an element's name, and of a column's id, name or default. Names are kept while
/// their elements are open.
pub(super) const NAME_BYTES_MAX: usize = 1 << 10;

/// Why a weight with an unknown entity is refused.
pub(super) const UNKNOWN_ENTITY: &str = "this entity is unknown";

/// Events between two checks for cancellation.
const EVENTS_PER_LOOK: u64 = 1 << 16;

/// A document that is being read.
pub(super) struct Document {
    path: PathBuf,
    reader: quick_xml::Reader<Lines>,
    buffer: Vec<u8>,
    depth: usize,
    /// The line where the last event begins.
    line: u64,
    /// The number of events so far.
    events: u64,
}

/// An event of a document.
pub(super) enum Event<'a> {
    /// An element begins.
    Start(Element<'a>),
    /// The innermost open element ends.
    End,
    /// Characters, perhaps not all before the next element.
    Text(Cow<'a, str>),
    /// A reference to an entity that XML does not predefine, such as `&nbsp;` in some labels.
    UnknownEntity,
    /// A comment or the like.
    Other,
    /// The document has ended.
    Done,
}

impl Document {
    /// Opens the document in a stream. A tag, or a text between tags, has at most `size_max` bytes.
    pub fn new(path: &Path, stream: InputStream, size_max: usize) -> Document {
        let mut reader = quick_xml::Reader::from_reader(Lines::new(stream, size_max));
        // Then `<node/>` begins and ends like any element.
        reader.config_mut().expand_empty_elements = true;
        Document { path: path.to_owned(), reader, buffer: Vec::new(), depth: 0, line: 1, events: 0 }
    }

    /// Reads the next event.
    ///
    /// # Errors
    /// [`BadInput`](Error::BadInput) if this is not XML or not UTF-8, or is cut off or too deep.
    pub fn next(&mut self, cancel: &Cancel) -> Result<Event<'_>> {
        let Document { path, reader, buffer, depth, line, events } = self;
        if events.is_multiple_of(EVENTS_PER_LOOK) {
            cancel.check()?;
        }
        *events += 1;
        buffer.clear();
        *line = reader.get_mut().begin();
        let bad = |problem: String| bad_at(path, At::Line(*line), problem);
        let event = match reader.read_event_into(buffer) {
            Ok(event) => event,
            Err(error) => {
                let lines = reader.get_mut();
                return Err(match error {
                    quick_xml::Error::Io(_) if lines.is_too_long() => bad(format!(
                        "a tag or a text is longer than {}, the limit for this memory",
                        Bytes(lines.size_max as u64)
                    )),
                    // The library passes on only an error of `io`. That of the stream says more.
                    quick_xml::Error::Io(error) => lines.failure.take().unwrap_or_else(|| {
                        Error::io("read", path)(io::Error::new(error.kind(), error.to_string()))
                    }),
                    other => bad(format!("this is not XML: {other}")),
                });
            }
        };
        Ok(match event {
            events::Event::Start(start) => {
                *depth += 1;
                if *depth > DEPTH_MAX {
                    return Err(bad(format!("more than {DEPTH_MAX} elements are open here")));
                }
                if start.name().into_inner().len() > NAME_BYTES_MAX {
                    return Err(bad(format!(
                        "the name of an element is longer than {NAME_BYTES_MAX} bytes"
                    )));
                }
                Event::Start(Element { start, depth: *depth, path, line: *line })
            }
            events::Event::End(_) => {
                *depth -= 1;
                Event::End
            }
            events::Event::Text(text) => Event::Text(text.into_inner()),
            events::Event::CData(text) => Event::Text(text.into_inner()),
            events::Event::Decl(declaration) => {
                if let Some(Ok(encoding)) = declaration.encoding()
                    && !["utf-8", "utf8", "us-ascii"].contains(&&*encoding.to_ascii_lowercase())
                {
                    let encoding = encoding.escape_debug().to_string();
                    return Err(bad(format!(
                        "this is text in {encoding}; convert it with `iconv -f {encoding} -t UTF-8`, and name UTF-8 \
                         in its first line"
                    )));
                }
                Event::Other
            }
            events::Event::Eof if *depth > 0 => {
                return Err(bad("the document is cut off: it ends before its elements".to_owned()));
            }
            events::Event::Eof => Event::Done,
            events::Event::GeneralRef(reference) => {
                referred(&reference).map_or(Event::UnknownEntity, Event::Text)
            }
            events::Event::Empty(_)
            | events::Event::Comment(_)
            | events::Event::PI(_)
            | events::Event::DocType(_) => Event::Other,
        })
    }

    /// The number of open elements.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The line where the last event begins.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The error for a fault at a line.
    pub fn fault(&self, line: u64, problem: impl Into<Diagnostic>) -> Error {
        bad_at(&self.path, At::Line(line), problem)
    }

    /// Bytes read from the stored file since the last call.
    pub fn stored_bytes_since(&mut self) -> u64 {
        self.reader.get_mut().stream.stored_bytes_since()
    }
}

/// Resolves a reference: a character by its number, or one of XML's five predefined entities.
fn referred(reference: &BytesRef<'_>) -> Option<Cow<'static, str>> {
    if let Ok(Some(character)) = reference.resolve_char_ref() {
        return Some(character.to_string().into());
    }
    resolve_predefined_entity(reference).map(Cow::Borrowed)
}

/// The beginning of an element.
pub(super) struct Element<'a> {
    start: BytesStart<'a>,
    /// The number of open elements, including this one.
    pub depth: usize,
    path: &'a Path,
    /// The line where it begins.
    pub line: u64,
}

impl Element<'_> {
    /// The error for a fault of the element.
    pub fn fault(&self, problem: impl Into<Diagnostic>) -> Error {
        bad_at(self.path, At::Line(self.line), problem)
    }

    /// Its name without the prefix of a namespace.
    pub fn name(&self) -> &str {
        self.start.local_name().into_inner()
    }

    /// Returns the values of the attributes `names`; `None` for those that are missing.
    pub fn attributes<const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<[Option<Cow<'_, str>>; N], Diagnostic> {
        let mut values = [const { None }; N];
        let mut attributes = self.start.attributes();
        // The library's checks take quadratic time.
        attributes.with_checks(false);
        for attribute in attributes {
            let attribute = attribute.map_err(|error| format!("this is not XML: {error}"))?;
            let key = attribute.key.into_inner();
            let Some(index) = names.iter().position(|&name| name == key) else { continue };
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value =
                value.map_err(|error| format!("the value of `{key}` is not XML: {error}"))?;
            if values[index].replace(value).is_some() {
                return Err(format!("the attribute `{key}` occurs twice").into());
            }
        }
        Ok(values)
    }
}

/// A stream that counts lines and limits the bytes of an event.
struct Lines {
    stream: InputStream,
    block: Vec<u8>,
    next: usize,
    filled: usize,
    /// The number of line feeds so far.
    feeds: u64,
    size_max: usize,
    /// Bytes that the event may still read.
    left: usize,
    /// The error that ended the stream, if any.
    failure: Option<Error>,
}

impl Lines {
    const BLOCK_BYTES: usize = 64 << 10;

    fn new(stream: InputStream, size_max: usize) -> Lines {
        let block = vec![0; Lines::BLOCK_BYTES];
        let left = size_max;
        Lines { stream, block, next: 0, filled: 0, feeds: 0, size_max, left, failure: None }
    }

    /// Begins an event; returns its line.
    fn begin(&mut self) -> u64 {
        self.left = self.size_max;
        self.feeds + 1
    }

    fn is_too_long(&self) -> bool {
        self.left == 0
    }
}

impl Read for Lines {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(space)?;
        self.consume(read);
        Ok(read)
    }
}

impl BufRead for Lines {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        // The library collects an event whole, however long, so the limit is here.
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        if self.next == self.filled && self.failure.is_none() {
            let (filled, result) = self.stream.fill(&mut self.block);
            (self.next, self.filled) = (0, filled);
            self.failure = result.err();
        }
        // Bytes before a failure are passed on first, so that a fault in them is told instead.
        if self.next == self.filled && self.failure.is_some() {
            return Err(io::ErrorKind::Other.into());
        }
        let rest = &self.block[self.next..self.filled];
        Ok(&rest[..rest.len().min(self.left)])
    }

    fn consume(&mut self, count: usize) {
        let passed = &self.block[self.next..self.next + count];
        self.feeds += memchr_iter(b'\n', passed).count() as u64;
        self.next += count;
        self.left -= count;
    }
}
