//! Finds whether the first line of a text names its columns, which columns are read, and what
//! separates them.
//!
//! A line with a number is no header. Another line is a header if the user or usual names say so,
//! or if numbers stand below its words. In doubt, a table is refused until the user says what the
//! line is; any other text is read as edges, with a remark.

use tegula_store::{Diagnostic, Hint};
use tegula_tables::read::Format;
use tegula_tables::read::text::{
    Delimiter, Excerpt, Fields, Line, Separator, Start, lines, width_of,
};

use super::super::columns::Columns;
use super::super::options::{IdKind, InputOptions};
use super::dialect::{Dialect, Form};
use super::numbers::{integer, is_like_integer, is_number};
use crate::settings::{DELIMITER, IDS_INTEGER, NO_HEADER, SOURCE_COLUMN, TARGET_COLUMN, WEIGHTED};

/// The first lines of a text, and how to read it.
pub(super) struct Head<'a> {
    pub bytes: &'a [u8],
    /// Where the lines begin in the text.
    pub start: Start,
    /// The delimiter that a line before them names.
    pub told: Option<Delimiter>,
    pub format: Format,
    pub options: &'a InputOptions,
}

/// What the first line is.
enum FirstLine {
    Edge,
    Header,
    /// It has words, and so do the lines below.
    Either,
}

impl Head<'_> {
    /// Finds how the lines are built; an error has the number of its line.
    pub fn dialect(&self) -> Result<Dialect, (u64, Diagnostic)> {
        let lines: Vec<Line> = lines(self.bytes).collect();
        let mut dialect = Dialect {
            separator: Separator::Blanks,
            columns: Columns::FIRST,
            width: 0,
            start: self.start,
            ids: None,
            taken: None,
            doubtful: None,
            joins_spellings: self.options.ids == IdKind::Integer,
            form: Form::Rows,
            remarks: Vec::new(),
        };
        let Some(first) = lines.first() else { return Ok(dialect) };
        let first_number = self.start.lines + first.number;
        let in_first = |problem: Diagnostic| (first_number, problem);
        if self.bytes[first.place.clone()].contains(&b'\r') {
            // A carriage return before a line feed is not part of the line any more.
            let detail = "lines end with a carriage return alone; convert them to line feeds";
            return Err(in_first(detail.into()));
        }
        dialect.separator = self.separator(&lines).map_err(in_first)?;
        let edge = match self.header(&lines, dialect.separator).map_err(in_first)? {
            Header::Absent { columns, is_doubtful } => {
                self.check_lengths(&lines, dialect.separator)?;
                dialect.columns = columns;
                dialect.width = self.row_width(first, dialect.separator);
                dialect.taken = Some(columns.numbered());
                // Reading begins at the first edge, so comments before it are not counted.
                dialect.start.bytes += first.place.start as u64;
                dialect.start.lines = first_number - 1;
                dialect.doubtful = is_doubtful.then_some(first_number);
                dialect.remarks = self.remarks(first, &dialect);
                Some(first)
            }
            Header::Named { columns, names } => {
                dialect.columns = columns;
                dialect.width = width_of(&names);
                dialect.taken = Some(columns.named(&names));
                dialect.start.bytes += first.next as u64;
                dialect.start.lines = first_number;
                dialect.remarks.extend(columns.unread_weight(&names));
                lines.get(1)
            }
        };
        dialect.ids = edge.map(|edge| self.ids(edge, dialect.separator, dialect.columns));
        let negative = edge.and_then(|edge| self.negative_id(edge, &dialect));
        dialect.remarks.extend(negative);
        Ok(dialect)
    }

    /// Warns that ids are strings only because an id of the first edge is negative.
    fn negative_id(&self, edge: &Line, dialect: &Dialect) -> Option<Diagnostic> {
        if self.options.ids != IdKind::Auto || dialect.ids != Some(IdKind::String) {
            return None;
        }
        let ends = self.ends(edge, dialect.separator, dialect.columns);
        let digits = |end: &[u8]| integer(end.strip_prefix(b"-").unwrap_or(end)).is_ok();
        let negative = ends.iter().find(|end| end.starts_with(b"-"))?;
        ends.iter().all(|end| digits(end)).then(|| {
            let id = Excerpt(negative);
            let message = format!(
                "the ids are strings, as {id} is negative: ids that are integers are unsigned"
            );
            let refuse = Hint::set([IDS_INTEGER]).detail("to have negative ids refused");
            Diagnostic::from(message).hint(refuse)
        })
    }

    /// What a user should know about a text without a header.
    fn remarks(&self, first: &Line, dialect: &Dialect) -> Vec<Diagnostic> {
        let mut remarks = Vec::new();
        let fields = self.fields(first, dialect.separator).unwrap_or_default();
        if let Some(line) = dialect.doubtful {
            let excerpt = Excerpt(&self.bytes[first.place.clone()]);
            let remark = Diagnostic::from(format!("line {line}, {excerpt}, was read as an edge"));
            remarks.push(remark.hint(name_columns().detail("if it names the columns")));
        }
        let is_default = dialect.columns == Columns::FIRST;
        match fields.get(2).filter(|field| is_default && !field.is_empty()) {
            Some(third) if is_number(third) => {
                let keep = Hint::set([WEIGHTED]).detail("to keep it as the weight");
                remarks.push(Diagnostic::from("the third column was not read").hint(keep));
            }
            Some(_) => remarks.push("the columns after the second were not read".into()),
            None => {}
        }
        remarks
    }

    fn fields(&self, line: &Line, separator: Separator) -> Result<Vec<&[u8]>, String> {
        let mut found = Vec::new();
        let mut fields = Fields::of(self.bytes, line.place.clone(), separator);
        while let Some(field) = fields.next_field()? {
            found.push(field.bytes(self.bytes));
        }
        Ok(found)
    }

    /// The fewest columns of rows, taken from the first row. Where blanks separate, only the edge
    /// counts: what follows it may be several words, or nothing.
    fn row_width(&self, first: &Line, separator: Separator) -> usize {
        match separator {
            Separator::Blanks => 0,
            // A fault of quotes is reported when the line is read.
            _ => self.names(first, separator).map_or(0, |cells| width_of(&cells)),
        }
    }

    fn names(&self, line: &Line, separator: Separator) -> Result<Vec<String>, String> {
        Fields::texts(self.bytes, line.place.clone(), separator)
    }

    /// The fields of a line that are the ends of its edge, as far as it has them.
    fn ends(&self, line: &Line, separator: Separator, columns: Columns) -> Vec<&[u8]> {
        let fields = self.fields(line, separator).unwrap_or_default();
        let ends = [columns.source, columns.target];
        ends.iter().filter_map(|&index| fields.get(index).copied()).collect()
    }

    /// Returns integers if both ends are numbers. Numbers in another notation are refused when they
    /// are read.
    fn ids(&self, line: &Line, separator: Separator, columns: Columns) -> IdKind {
        let ends = self.ends(line, separator, columns);
        if ends.iter().all(|end| is_like_integer(end)) { IdKind::Integer } else { IdKind::String }
    }

    fn has_integers(&self, line: &Line, separator: Separator, columns: Columns) -> bool {
        let ends = self.ends(line, separator, columns);
        ends.len() == 2 && ends.iter().all(|end| integer(end).is_ok())
    }

    /// Finds the separator. In this order:
    ///
    /// * the one that the user chose, the text names, or the format suggests;
    /// * one by which the first line begins with two integers, or else the second line does;
    /// * one by which the first line has usual names;
    /// * one that divides all lines into the same number of columns. If blanks do so too, the user
    ///   may have to choose;
    /// * one that occurs in the first line, else blanks.
    fn separator(&self, lines: &[Line]) -> Result<Separator, Diagnostic> {
        use Separator::{Blanks, Comma, Semicolon, Tab};
        if let Some(delimiter) = self.options.delimiter.or(self.told) {
            return Ok(Separator::of_byte(delimiter.byte()));
        }
        let first = &lines[0];
        let width =
            |line: &Line, separator| self.fields(line, separator).map_or(1, |all| all.len());
        let occurs = |separator: &Separator| width(first, *separator) > 1;
        match self.format {
            Format::Csv => {
                let found = [Comma, Semicolon, Tab, Blanks].into_iter().find(occurs);
                return Ok(found.unwrap_or(Comma));
            }
            Format::Tsv => {
                let found = [Tab, Blanks, Comma, Semicolon].into_iter().find(occurs);
                return Ok(found.unwrap_or(Tab));
            }
            _ => {}
        }
        let columns = Columns::FIRST;
        for line in lines.iter().take(2) {
            let integers = |separator: &Separator| {
                occurs(separator) && self.has_integers(line, *separator, columns)
            };
            // `Blanks` comes before tabs, because integers may be aligned with both.
            if let Some(found) = [Blanks, Comma, Semicolon].into_iter().find(integers) {
                return Ok(found);
            }
        }
        let is_usual = |separator: &Separator| {
            self.names(first, *separator).is_ok_and(|names| Columns::are_usual(&names))
        };
        if let Some(found) = [Tab, Comma, Semicolon, Blanks].into_iter().find(is_usual) {
            return Ok(found);
        }
        let divides = |separator: &Separator| {
            let first = width(first, *separator);
            first > 1 && lines.iter().all(|line| width(line, *separator) == first)
        };
        match [Tab, Comma, Semicolon].into_iter().find(divides) {
            // A tab is a blank too: that blanks divide as well is no argument against tabs.
            Some(Tab) => Ok(Tab),
            Some(found) if !divides(&Blanks) || self.is_followed_by_blanks(first, found) => {
                Ok(found)
            }
            Some(found) => {
                let message = format!(
                    "{} may be separated by blanks or by `{}`",
                    self.excerpt(first),
                    char::from(found.byte())
                );
                let say = Hint::set([DELIMITER]).detail("with the one or the other");
                Err(Diagnostic::from(message).hint(say))
            }
            None => Ok([Tab, Blanks, Comma, Semicolon].into_iter().find(occurs).unwrap_or(Blanks)),
        }
    }

    /// Whether a blank follows each separator and stands nowhere else.
    fn is_followed_by_blanks(&self, line: &Line, separator: Separator) -> bool {
        let words = self.fields(line, Separator::Blanks).unwrap_or_default();
        let Some((last, others)) = words.split_last() else { return false };
        !last.contains(&separator.byte())
            && others.iter().all(|word| word.ends_with(&[separator.byte()]))
    }

    fn excerpt(&self, line: &Line) -> String {
        Excerpt(&self.bytes[line.place.clone()]).to_string()
    }

    /// Finds the columns, and whether the first line names them: with names that the user chose,
    /// with usual names, or with any names above numbers.
    fn header(&self, lines: &[Line], separator: Separator) -> Result<Header, Diagnostic> {
        let options = self.options;
        let absent = |is_doubtful| {
            Columns::by_position(options).map(|columns| Header::Absent { columns, is_doubtful })
        };
        if options.no_header {
            return absent(false);
        }
        let is_table = matches!(self.format, Format::Csv | Format::Tsv)
            || !matches!(separator, Separator::Blanks | Separator::Tab);
        let names = match self.names(&lines[0], separator) {
            // Further columns may hold anything; a fault in a column to read is reported later.
            Err(_) if !options.names_columns() && !is_table => return absent(false),
            names => names?,
        };
        let named = |names: Vec<String>| {
            Columns::by_name(&names, options).map(|columns| Header::Named { columns, names })
        };
        if options.names_columns() {
            return named(names);
        }
        let is_usual = Columns::are_usual(&names);
        // Vertices may be called `u` and `v`, too. Then the names occur again below.
        if is_usual && !self.recurs(lines, separator) {
            return named(names);
        }
        match self.first_line(lines, separator) {
            FirstLine::Edge => absent(false),
            FirstLine::Header => named(names),
            // One word cannot name two columns.
            FirstLine::Either if names.len() < 2 => absent(false),
            FirstLine::Either if is_usual || (is_table && options.ids != IdKind::Integer) => {
                let message =
                    format!("{} may be the names of columns or an edge", self.excerpt(&lines[0]));
                let names = name_columns().detail("to name the columns");
                let no_names = Hint::set([NO_HEADER]).detail("if it has no column names");
                Err(Diagnostic::from(message).hint(names).hint(no_names))
            }
            FirstLine::Either => absent(!self.recurs(lines, separator)),
        }
    }

    fn first_line(&self, lines: &[Line], separator: Separator) -> FirstLine {
        let names = self.fields(&lines[0], separator).unwrap_or_default();
        if names.iter().any(|name| is_number(name)) {
            return FirstLine::Edge;
        }
        let below = &lines[1..];
        let columns = Columns::FIRST;
        let columns = Columns::by_position(self.options).unwrap_or(columns);
        let integers = below.iter().filter(|line| self.has_integers(line, separator, columns));
        // A bad line may be among them, so most suffice. An end of an edge is never empty.
        let is_empty_above = self.ends(&lines[0], separator, columns).contains(&&b""[..]);
        if 2 * integers.count() > below.len() || is_empty_above {
            return FirstLine::Header;
        }
        let rows: Vec<Vec<&[u8]>> =
            below.iter().filter_map(|line| self.fields(line, separator).ok()).collect();
        let is_numeric = |column: usize| {
            rows.iter().all(|row| row.get(column).is_some_and(|field| is_number(field)))
        };
        let is_further = |column: &usize| ![columns.source, columns.target].contains(column);
        match (0..names.len()).filter(is_further).any(|at| !rows.is_empty() && is_numeric(at)) {
            true => FirstLine::Header,
            false => FirstLine::Either,
        }
    }

    /// Whether an end in the first line occurs in a further line, as vertices do and names of
    /// columns do not.
    fn recurs(&self, lines: &[Line], separator: Separator) -> bool {
        let columns = Columns::FIRST;
        let columns = Columns::by_position(self.options).unwrap_or(columns);
        let first = self.ends(&lines[0], separator, columns);
        lines[1..]
            .iter()
            .any(|line| self.ends(line, separator, columns).iter().any(|end| first.contains(end)))
    }

    /// Refuses adjacency lists: integers alone, but not the same number in each line.
    fn check_lengths(&self, lines: &[Line], separator: Separator) -> Result<(), (u64, Diagnostic)> {
        if self.options.no_header {
            return Ok(());
        }
        let mut widths: Vec<(u64, usize)> = Vec::new();
        for line in lines {
            let fields = self.fields(line, separator).unwrap_or_default();
            if fields.len() > 1 {
                if !fields.iter().all(|field| integer(field).is_ok()) {
                    return Ok(());
                }
                widths.push((self.start.lines + line.number, fields.len()));
            }
        }
        let Some(&(first, width)) = widths.first() else { return Ok(()) };
        let Some(&(other, found)) = widths.iter().find(|(_, found)| *found != width) else {
            return Ok(());
        };
        let message = format!(
            "this line has {found} integers, but line {first} has {width}: this looks like lists of \
             neighbours. Where each begins with its vertex, make edges of them with \
             `awk '{{for (i = 2; i <= NF; i++) print $1, $i}}' FILE > edges.txt`; METIS files need \
             a name ending in .graph or .metis"
        );
        let two_columns = Hint::set([NO_HEADER]).detail("to ignore further columns");
        Err((other, Diagnostic::from(message).hint(two_columns)))
    }
}

/// The hint to say which columns are the ends of edges.
fn name_columns() -> Hint {
    Hint::set([SOURCE_COLUMN, TARGET_COLUMN])
}

/// What the first line says about the columns.
enum Header {
    /// It is an edge.
    Absent {
        columns: Columns,
        /// Whether it may be names as well.
        is_doubtful: bool,
    },
    /// It names them.
    Named { columns: Columns, names: Vec<String> },
}
