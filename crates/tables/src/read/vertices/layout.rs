//! Finds from the first lines of a table of vertices how its lines are built.

use std::path::Path;

use tegula_store::{At, Result};

use super::super::fault::bad_at;
use super::super::format::Format;
use super::super::input_stream::InputStream;
use super::super::text::{
    Delimiter, Fields, FirstBytes, Line, Separator, Start, lines, unsigned, width_of,
};
use super::columns::{Places, Presence, VALUES_MAX, VertexColumns};
use super::lines::VertexLines;

/// How the lines of one table of vertices are built.
#[derive(Debug, Clone)]
pub(super) struct VertexLayout {
    pub(super) separator: Separator,
    pub(super) start: Start,
    pub(super) places: Places,
    /// The position of the last column that every line must have.
    pub(super) last_required: usize,
    /// The fewest columns of a row, including those that are not read.
    pub(super) width: usize,
    /// Whether lines have the form of DIMACS, and begin with a letter.
    pub(super) is_dimacs: bool,
    /// Whether ids are strings, which may begin like comments.
    pub(super) has_string_ids: bool,
    /// For each column beside the ids, whether its cells may be empty.
    pub(super) may_be_empty: [bool; VALUES_MAX],
    has_header: bool,
    /// What was guessed about the columns.
    pub(super) guesses: Vec<String>,
}

impl VertexLayout {
    /// Finds the layout of a text. The stream can still be read from its start afterwards.
    pub fn sniff(
        path: &Path,
        stream: &mut InputStream,
        format: Format,
        columns: &VertexColumns,
        is_vertex: &dyn Fn(&str) -> Result<bool>,
    ) -> Result<VertexLayout> {
        let refusal = |first: &[u8]| {
            first.contains(&0).then(|| "neither text nor Parquet: it has NUL bytes".into())
        };
        let first = FirstBytes::read(path, stream, VertexLines::LINE_BYTES_MAX, &refusal)?;
        let lines_before = first.start.lines;
        let bytes = first.whole_lines();
        let told = first.delimiter;
        let layout =
            Head { path, bytes, lines_before, told, format, columns, is_vertex }.layout()?;
        stream.unread(first.bytes);
        Ok(layout)
    }

    /// Whether the first line names columns.
    pub fn has_header(&self) -> bool {
        self.has_header
    }
}

/// The first bytes of a text, and how to read it.
struct Head<'a> {
    path: &'a Path,
    /// Whole lines, without the blank lines and comments before them.
    bytes: &'a [u8],
    /// The number of lines before them.
    lines_before: u64,
    /// The delimiter that a line before them names.
    told: Option<Delimiter>,
    format: Format,
    columns: &'a VertexColumns,
    is_vertex: &'a dyn Fn(&str) -> Result<bool>,
}

impl Head<'_> {
    fn layout(&self) -> Result<VertexLayout> {
        let mut all = lines(self.bytes);
        let (first, second) = (all.next(), all.next());
        let separator = self.separator(first.as_ref(), second.as_ref());
        let places = Places::by_position(self.columns);
        let mut layout = VertexLayout {
            separator,
            start: Start { bytes: 0, lines: self.lines_before },
            places,
            last_required: places.last_required(self.columns),
            width: 0,
            is_dimacs: false,
            has_string_ids: !self.columns.has_integer_ids,
            may_be_empty: std::array::from_fn(|value| {
                let column = self.columns.values.get(value);
                column.is_some_and(|column| column.presence == Presence::MayBeEmpty)
            }),
            has_header: false,
            guesses: Vec::new(),
        };
        let Some(first) = first else { return Ok(layout) };
        let bad = |detail| bad_at(self.path, At::Line(self.lines_before + first.number), detail);
        if self.bytes[first.place.clone()].contains(&b'\r') {
            let detail = "lines end with a carriage return alone; convert them to line feeds";
            return Err(bad(detail.to_owned()));
        }
        if self.columns.may_be_dimacs && self.is_dimacs() {
            layout.is_dimacs = true;
            layout.has_string_ids = false;
            layout.separator = Separator::Blanks;
            layout.places = Places::after(1, self.columns);
            layout.last_required = layout.places.last_required(self.columns);
            return Ok(layout);
        }
        if let Some(places) = self.header(&first, separator)? {
            layout.places = places.map_err(bad)?;
            layout.last_required = layout.places.last_required(self.columns);
            layout.start =
                Start { bytes: first.next as u64, lines: self.lines_before + first.number };
            layout.has_header = true;
            let names = self.names(&first, separator).unwrap_or_default();
            layout.guesses = layout.places.guesses(&names, self.columns);
            if separator != Separator::Blanks {
                layout.width = width_of(&names);
            }
        }
        Ok(layout)
    }

    /// Finds the separator in the first line, or else in the second. With integer ids, it is one by
    /// which the line begins with an integer; else it is the first candidate of the format. Tabs
    /// come before blanks, which may be part of a name.
    fn separator(&self, first: Option<&Line>, second: Option<&Line>) -> Separator {
        use Separator::{Blanks, Comma, Semicolon, Tab};
        if let Some(told) = self.told {
            return Separator::of_byte(told.byte());
        }
        let candidates = match self.format {
            Format::Csv => [Comma, Semicolon, Tab, Blanks],
            _ => [Tab, Blanks, Comma, Semicolon],
        };
        let wants_integer = self.columns.has_integer_ids;
        // In a table that may have one column alone, blanks may be part of a name.
        let is_table = matches!(self.format, Format::Csv | Format::Tsv);
        let can_stand_alone = self.columns.values.iter().all(|value| !value.is_required());
        let may_be_name = is_table && can_stand_alone && !wants_integer;
        let lines = [first, second].into_iter().flatten();
        let mut found = lines.filter_map(|line| {
            let mut separators = candidates
                .into_iter()
                .filter(|separator| !(may_be_name && *separator == Blanks))
                .filter(|separator| self.separates(line, *separator));
            let by_integer =
                separators.clone().find(|separator| self.has_integer(line, *separator));
            let found = by_integer.filter(|_| wants_integer).or_else(|| separators.next());
            // A fault of quotes is reported when the line is read.
            let is_faulty = |separator: &Separator| self.names(line, *separator).is_err();
            found.or_else(|| candidates.into_iter().find(is_faulty))
        });
        let default = if wants_integer && !is_table { Blanks } else { candidates[0] };
        found.next().unwrap_or(default)
    }

    /// Whether a line has several columns. Two tabs after the first column only align.
    fn separates(&self, line: &Line, separator: Separator) -> bool {
        let names = self.names(line, separator).unwrap_or_default();
        names.get(1).is_some_and(|value| separator != Separator::Tab || !value.is_empty())
    }

    /// Whether a line begins with an integer.
    fn has_integer(&self, line: &Line, separator: Separator) -> bool {
        let names = self.names(line, separator).unwrap_or_default();
        names.first().is_some_and(|id| unsigned(id.as_bytes()).is_some())
    }

    fn names(&self, line: &Line, separator: Separator) -> Result<Vec<String>, String> {
        Fields::texts(self.bytes, line.place.clone(), separator)
    }

    /// Finds the columns by the first line, if it names them.
    fn header(&self, first: &Line, separator: Separator) -> Result<Option<Result<Places, String>>> {
        // A line that cannot be split is refused when it is read.
        let Ok(cells) = self.names(first, separator) else { return Ok(None) };
        let columns = self.columns;
        let is_header = columns.has_header || Places::are_header(&cells, columns, self.is_vertex)?;
        Ok(is_header.then(|| Places::by_name(&cells, columns)))
    }

    /// Whether the first line that does not begin with `c` belongs to DIMACS.
    fn is_dimacs(&self) -> bool {
        let mut words = lines(self.bytes).map(|line| {
            let words = self.bytes[line.place].split(u8::is_ascii_whitespace);
            words.filter(|word| !word.is_empty()).take(6).collect::<Vec<_>>()
        });
        let telling = words.find(|words| words.first() != Some(&&b"c"[..]));
        matches!(telling.as_deref(), Some([b"p", b"aux", b"sp", b"co", _] | [b"v", _, _, _]))
    }
}
