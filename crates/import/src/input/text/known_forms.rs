//! Texts whose first lines give the sizes of the graph: Matrix Market, DIMACS and METIS.

use memchr::memchr_iter;
use tegula_machine::counted;
use tegula_store::{Diagnostic, Hint};
use tegula_tables::read::Format;
use tegula_tables::read::text::{Excerpt, FirstBytes, Line, Separator, lines, unsigned};

use super::super::columns::Columns;
use super::super::options::{IdKind, InputOptions};
use super::super::preamble::Preamble;
use super::dialect::{Dialect, Form, Lists};
use super::foreign::{is_dimacs, is_dimacs_comment, is_matrix_market, words};
use crate::settings::WEIGHTED;

/// How a text of a known form is built, and what its first lines say about the graph.
pub(super) type Known = (Dialect, Preamble);

/// The number of a line, and what is wrong in it.
type Fault = (u64, Diagnostic);

/// Finds how a text of a known form is built; `None` if neither `format` nor the first lines say
/// that it has a known form.
pub(super) fn known(
    head: &FirstBytes,
    format: Format,
    options: &InputOptions,
) -> Option<Result<Known, Fault>> {
    let may_be_known = format == Format::Text && !options.no_header;
    let reading = Reading { head, options };
    match format {
        Format::MatrixMarket => Some(reading.matrix_market()),
        Format::Dimacs => Some(reading.dimacs()),
        Format::Metis => Some(reading.metis()),
        _ if may_be_known && is_matrix_market(&head.first_line) => Some(reading.matrix_market()),
        _ if may_be_known && is_dimacs(head.whole_lines()) => Some(reading.dimacs()),
        _ => None,
    }
}

struct Reading<'a> {
    head: &'a FirstBytes,
    options: &'a InputOptions,
}

impl Reading<'_> {
    /// Reads the head of a Matrix Market file: a banner, comments and a line of sizes. Then follows
    /// a line for each entry: row, column and, unless the matrix is a pattern, its value (Boisvert,
    /// Pozo, Remington, *The Matrix Market Exchange Formats*, NISTIR 5935, 1996). Rows and columns
    /// are the vertices.
    fn matrix_market(&self) -> Result<Known, Fault> {
        let banner = self.head.first_line.to_ascii_lowercase();
        let in_banner = |problem: Diagnostic| (1, problem);
        if !is_matrix_market(&banner) {
            let problem = "a Matrix Market file begins with %%MatrixMarket".to_owned();
            return Err(in_banner(problem.into()));
        }
        let told = words(&banner);
        let [field, symmetry] = match told[..] {
            [_, b"matrix", b"coordinate", field, symmetry] => [field, symmetry],
            _ => {
                let problem = "only Matrix Market matrices of coordinates are read";
                return Err(in_banner(problem.into()));
            }
        };
        let undirected = match symmetry {
            b"general" => false,
            b"symmetric" => true,
            // The entry on the other side has another value, and an edge has one weight.
            b"hermitian" | b"skew-symmetric" if !self.options.weighted => true,
            other => {
                let problem =
                    format!("weights of a matrix that is {} are not read", Excerpt(other));
                return Err(in_banner(problem.into()));
            }
        };
        self.check_weights(field != b"pattern").map_err(in_banner)?;
        if self.options.weighted && field == b"complex" {
            return Err(in_banner("complex numbers cannot be weights".into()));
        }
        // Comments begin with `%`, so `lines` has left them out.
        let line = self.first_line(|_| false)?;
        let sizes = self.numbers(&line);
        let &[rows, columns, entries] = &sizes[..] else {
            return Err(self.no_sizes(&line, "rows, columns and entries"));
        };
        if rows != columns {
            let problem = format!(
                "the matrix has {} and {}; a graph needs a square matrix",
                counted(rows, "row", "rows"),
                counted(columns, "column", "columns")
            );
            return Err((self.number(&line), problem.into()));
        }
        let columns = Columns { weight: self.options.weighted.then_some(2), ..Columns::FIRST };
        let remark = (field != b"pattern").then(|| self.unread_weights()).flatten();
        let preamble = self.preamble(&line, rows, vec![entries], undirected)?;
        let width = match field {
            b"pattern" => 2,
            b"complex" => 4,
            _ => 3,
        };
        Ok((Dialect { width, ..self.dialect(&line, columns, Form::Rows, remark) }, preamble))
    }

    /// Reads the head of a DIMACS file. Lines that begin with `c` are comments, the line that
    /// begins with `p` has the sizes, and each line that begins with `a` is an arc (9th DIMACS
    /// Implementation Challenge, *File Formats*, 2005). In older graphs, lines that begin with `e`
    /// are edges.
    fn dimacs(&self) -> Result<Known, Fault> {
        let line = self.first_line(is_dimacs_comment)?;
        let bytes = self.head.whole_lines();
        let (undirected, sizes) = match words(&bytes[line.place.clone()])[..] {
            [b"p", b"sp", vertices, edges] => (false, [vertices, edges].map(unsigned)),
            [b"p", b"edge" | b"col", vertices, edges] => (true, [vertices, edges].map(unsigned)),
            // A `p sp` without two sizes is left to the message about sizes.
            [b"p", problem, ..] if problem != b"sp" => {
                let problem =
                    format!("only DIMACS graphs are read, not the problem {}", Excerpt(problem));
                return Err((self.number(&line), problem.into()));
            }
            _ => return Err(self.no_sizes(&line, "`p sp VERTICES ARCS`")),
        };
        let [Some(vertices), Some(edges)] = sizes else {
            return Err(self.no_sizes(&line, "`p sp VERTICES ARCS`"));
        };
        let in_line = |problem| (self.number(&line), problem);
        self.check_weights(!undirected).map_err(in_line)?;
        let weight = self.options.weighted.then_some(3);
        let columns = Columns { source: 1, target: 2, weight };
        let remark = if undirected { None } else { self.unread_weights() };
        // Some of the older graphs count each edge twice.
        let edges = if undirected { Vec::new() } else { vec![edges] };
        let preamble = self.preamble(&line, vertices, edges, undirected)?;
        let width = if undirected { 3 } else { 4 };
        Ok((Dialect { width, ..self.dialect(&line, columns, Form::Dimacs, remark) }, preamble))
    }

    /// Reads the head of a METIS file: a line with the numbers of vertices and edges. Then follows
    /// a line for each vertex: its weights, which are skipped, and its neighbours, each with a
    /// weight if edges have weights (Karypis, *METIS: A Software Package for Partitioning
    /// Unstructured Graphs*, version 5, 2013, section 4.1.1).
    ///
    /// A hundred in the third number means there that each vertex has a size before its weights.
    /// But most such files are graphs of the 10th DIMACS challenge, where it means that an edge may
    /// be in one list alone. So no sizes are skipped.
    fn metis(&self) -> Result<Known, Fault> {
        const WHAT: &str = "vertices, edges and perhaps a format of three digits";
        let line = self.first_line(|_| false)?;
        let bytes = self.head.whole_lines();
        let all = words(&bytes[line.place.clone()]);
        let format = all.get(2).copied().unwrap_or(b"0");
        let is_format =
            format.len() <= 3 && format.iter().all(|digit| matches!(digit, b'0' | b'1'));
        let (Some([Some(vertices), Some(edges)]), 2..=4, true) =
            (all.first_chunk().map(|sizes: &[&[u8]; 2]| sizes.map(unsigned)), all.len(), is_format)
        else {
            return Err(self.no_sizes(&line, WHAT));
        };
        let is_set = |place: usize| format.iter().rev().nth(place) == Some(&b'1');
        let [is_weighted, has_vertex_weights] = [0, 1].map(is_set);
        let Some(weights) =
            all.get(3).map_or(Some(1), |word| unsigned(word)).filter(|&count| count <= 1 << 10)
        else {
            return Err(self.no_sizes(&line, WHAT));
        };
        self.check_weights(is_weighted).map_err(|problem| (self.number(&line), problem))?;
        let skipped = if has_vertex_weights { weights as usize } else { 0 };
        let form = Form::Neighbours(Lists { vertices, skipped, is_weighted });
        let remark = if is_weighted { self.unread_weights() } else { None };
        let weight = self.options.weighted.then_some(2);
        // In a directed graph, both mentions of an edge are found.
        let edges = vec![edges, edges.saturating_mul(2)];
        let preamble = self.preamble(&line, vertices, edges, false)?;
        let preamble = Preamble { undirected: None, has_both_ways: true, ..preamble };
        Ok((self.dialect(&line, Columns { weight, ..Columns::FIRST }, form, remark), preamble))
    }

    /// Finds the first line that is no comment.
    fn first_line(&self, is_comment: fn(&[u8]) -> bool) -> Result<Line, Fault> {
        let bytes = self.head.whole_lines();
        let found = lines(bytes).find(|line| !is_comment(&bytes[line.place.clone()]));
        let behind = self.head.start.lines + memchr_iter(b'\n', bytes).count() as u64 + 1;
        found.ok_or_else(|| (behind, "the line with sizes is missing".into()))
    }

    fn number(&self, line: &Line) -> u64 {
        self.head.start.lines + line.number
    }

    fn numbers(&self, line: &Line) -> Vec<u64> {
        let found = words(&self.head.whole_lines()[line.place.clone()]);
        found.into_iter().map_while(unsigned).collect()
    }

    fn no_sizes(&self, line: &Line, wanted: &str) -> Fault {
        let found = Excerpt(&self.head.whole_lines()[line.place.clone()]);
        (self.number(line), format!("expected a line with {wanted}, found {found}").into())
    }

    /// Refuses to read weights from a file without weights.
    fn check_weights(&self, there_are: bool) -> Result<(), Diagnostic> {
        if there_are || !self.options.weighted {
            return Ok(());
        }
        let problem = Diagnostic::from("its edges have no weights");
        Err(problem.hint(Hint::leave_out(WEIGHTED.option)))
    }

    fn unread_weights(&self) -> Option<Diagnostic> {
        let keep = Hint::set([WEIGHTED]).detail("to keep them");
        let remark = Diagnostic::from("the weights were not read").hint(keep);
        (!self.options.weighted).then_some(remark)
    }

    /// Makes the preamble; vertices are counted from 1.
    fn preamble(
        &self,
        line: &Line,
        vertices: u64,
        edges: Vec<u64>,
        undirected: bool,
    ) -> Result<Preamble, Fault> {
        let Some(end) = vertices.checked_add(1) else {
            return Err((self.number(line), "it declares too many vertices".into()));
        };
        let (vertices, undirected) = (Some(1..end), Some(undirected));
        Ok(Preamble { vertices, edges, undirected, ..Preamble::default() })
    }

    /// Makes the dialect of the lines after `line`.
    fn dialect(
        &self,
        line: &Line,
        columns: Columns,
        form: Form,
        remark: Option<Diagnostic>,
    ) -> Dialect {
        let mut start = self.head.start;
        start.bytes += line.next as u64;
        start.lines = self.number(line);
        Dialect {
            separator: Separator::Blanks,
            columns,
            width: 0,
            start,
            ids: Some(IdKind::Integer),
            taken: None,
            doubtful: None,
            joins_spellings: self.options.ids == IdKind::Integer,
            form,
            remarks: remark.into_iter().collect(),
        }
    }
}
