//! What is known of a document before its edges are read: which vertices it lists, and how its edges are told.

use std::path::{Path, PathBuf};

use tegula_machine::threads::Cancel;
use tegula_machine::{At, Diagnostic, Hint, Result};

use super::super::columns::Columns;
use super::super::options::{IdKind, InputOptions};
use super::super::preamble::Preamble;
use super::super::reader::{Sizes, bad_file};
use super::super::stream::{Compression, Stream};
use super::super::text::{integer, weight};
use super::super::xml_form::XmlForm;
use super::counts::ItemCounter;
use super::document::{Document, Element, Event, NAME_BYTES_MAX, UNKNOWN_ENTITY};
use super::told::{Direction, Told, check_name, told};
use crate::settings::WEIGHTED;

/// A document that may be read again and again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Source {
    pub path: PathBuf,
    pub form: XmlForm,
    compression: Compression,
    window_log_max: u32,
    /// Bytes that a tag, or a text between tags, may have.
    size_max: usize,
}

/// Columns that edges may have, all of which are kept until the edges begin. Those of graphs are a handful.
const COLUMNS_MAX: usize = 1 << 10;

impl Source {
    pub fn new(
        path: &Path,
        form: XmlForm,
        compression: Compression,
        options: &InputOptions,
    ) -> Source {
        Source {
            path: path.to_owned(),
            form,
            compression,
            window_log_max: options.window_log_max(),
            size_max: Sizes::line_bytes_max(options),
        }
    }

    pub(super) fn open(&self) -> Result<Document> {
        let stream = Stream::open(&self.path, self.compression, self.window_log_max)?;
        Ok(Document::new(&self.path, stream, self.size_max))
    }

    /// Visits the vertices in the order in which they are listed.
    ///
    /// # Errors
    /// Those of reading and of `visit`; cancellation.
    pub fn for_each_vertex(
        &self,
        cancel: &Cancel,
        visit: &mut dyn FnMut(&str, At) -> Result<()>,
    ) -> Result<()> {
        let mut document = self.open()?;
        let mut nodes = ItemCounter::new("nodes");
        loop {
            match document.next(cancel)? {
                Event::Start(element) => {
                    let told = told(self.form, &element);
                    match told.map_err(|problem| element.fault(problem))? {
                        Told::Node { id } => {
                            check_name(&id).map_err(|problem| element.fault(problem))?;
                            visit(&id, At::Line(element.line))?;
                            nodes.add(element.depth);
                        }
                        Told::Graph { counts, .. } | Told::List(counts) => {
                            nodes.begin(&element, counts.nodes);
                        }
                        Told::Columns { .. } | Told::Column { .. } | Told::Edge { .. } => {}
                        Told::Value { .. } | Told::Nothing => {}
                    }
                }
                Event::End => {
                    let ends = nodes.end(document.depth() + 1);
                    ends.map_err(|(line, problem)| document.fault(line, problem))?;
                }
                Event::Text(_) | Event::UnknownEntity | Event::Other => {}
                Event::Done => return Ok(()),
            }
        }
    }
}

/// Where an edge has its weight.
#[derive(Debug)]
pub(super) struct WeightPlace {
    /// Whether it may be an attribute of the edge itself.
    pub is_own: bool,
    /// The columns where it may be.
    pub columns: Vec<String>,
    /// That of an edge that tells none.
    pub default: Option<f32>,
}

/// How the edges of a document are told.
#[derive(Debug)]
pub(in super::super) struct Layout {
    pub(super) source: Source,
    /// Whether an edge leads both ways.
    pub(super) is_undirected: bool,
    /// Where weights are, if they are wanted.
    pub(super) weight: Option<WeightPlace>,
    /// Whether integers that are spelled differently, as `7` and `007`, are one id.
    pub(super) joins_spellings: bool,
    ids: Option<IdKind>,
    remarks: Vec<Diagnostic>,
}

impl Layout {
    /// Reads up to the first edge.
    pub fn of(source: Source, options: &InputOptions) -> Result<Layout> {
        let head = Head::read(&source, &options.cancel)?;
        let Some(direction) = head.direction else {
            let what = source.form.name();
            return Err(bad_file(&source.path, format!("there is no `graph` in this {what}")));
        };
        let weight = head.weight_place(options);
        let weight = weight.map_err(|problem| bad_file(&source.path, problem))?;
        let is_integer = |id: &String| integer(id.as_bytes()).is_ok();
        let ids = head.first_id.as_ref().map(|id| match is_integer(id) {
            true => IdKind::Integer,
            false => IdKind::String,
        });
        Ok(Layout {
            is_undirected: direction.is_undirected(),
            weight,
            joins_spellings: options.ids == IdKind::Integer,
            ids,
            remarks: head.unread_weights(options).into_iter().collect(),
            source,
        })
    }

    /// The document, which lists its vertices.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// What is told of the graph.
    pub fn preamble(&self) -> Preamble {
        Preamble { undirected: Some(self.is_undirected), ..Preamble::default() }
    }

    /// What the first id is; `None` if there is no vertex.
    pub fn ids(&self) -> Option<IdKind> {
        self.ids
    }

    /// What a user should know of how the document is read.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }
}

/// What stands before the second edge.
struct Head {
    /// Where edges lead: as the first one tells, else as the graph does.
    direction: Option<Direction>,
    columns: Vec<Column>,
    /// The first id of all.
    first_id: Option<String>,
    /// Whether the first edge has a weight of its own.
    has_own_weights: bool,
}

/// What edges have under one name. Some writers have a column for each type of values.
struct Column {
    name: String,
    /// Whether it may be the weight that an edge has of its own.
    is_own: bool,
    /// How values refer to the columns of that name.
    ids: Vec<String>,
    /// What edges have that tell nothing.
    default: Option<String>,
    /// Whether the document tells that.
    is_default_told: bool,
}

impl Column {
    fn new(name: String) -> Column {
        let (is_own, is_default_told) = (false, false);
        Column { name, is_own, ids: Vec::new(), default: None, is_default_told }
    }

    /// Takes up what the document tells of edges that tell nothing.
    fn tell_default(&mut self, text: String) -> Result<(), Diagnostic> {
        if self.is_default_told && self.default.as_deref().map(str::trim) != Some(text.trim()) {
            let name = self.name.escape_debug();
            return Err(format!("columns of the name `{name}` have different defaults").into());
        }
        (self.default, self.is_default_told) = (Some(text), true);
        Ok(())
    }
}

impl Head {
    fn read(source: &Source, cancel: &Cancel) -> Result<Head> {
        // The weight of an edge of GEXF is 1 unless it is told.
        let own = Column {
            is_own: true,
            default: Some("1".to_owned()),
            ..Column::new("weight".to_owned())
        };
        let mut head = Head {
            direction: None,
            columns: if source.form == XmlForm::Gexf { vec![own] } else { Vec::new() },
            first_id: None,
            has_own_weights: false,
        };
        let mut document = source.open()?;
        // The column that has begun and not ended, by its place, and its default as far as that was read.
        let (mut are_of_edges, mut open, mut default): (_, _, Option<String>) = (true, None, None);
        loop {
            match document.next(cancel)? {
                Event::Start(element) => {
                    check_root(&element, source.form)?;
                    default = (open.is_some() && element.name() == "default").then(String::new);
                    let told = told(source.form, &element);
                    match told.map_err(|problem| element.fault(problem))? {
                        Told::Columns { are_of_edges: are } => are_of_edges = are,
                        Told::Column { id, name } if are_of_edges => {
                            let place = head.add_column(&id, &name);
                            let place = place.map_err(|problem| element.fault(problem))?;
                            open = Some((element.depth, place));
                        }
                        Told::Graph { direction, .. } => head.direction = Some(direction),
                        Told::Node { id } => {
                            head.first_id.get_or_insert_with(|| id.into_owned());
                        }
                        Told::Edge { source, direction, weight, .. } => {
                            head.first_id.get_or_insert_with(|| source.into_owned());
                            head.direction = head.direction.and(direction).or(head.direction);
                            head.has_own_weights = weight.is_some();
                            return Ok(head);
                        }
                        Told::Column { .. } | Told::Value { .. } => {}
                        Told::List(_) | Told::Nothing => {}
                    }
                }
                Event::Text(text) => {
                    if let Some(default) = &mut default {
                        let length = default.len() + text.len();
                        if length <= NAME_BYTES_MAX {
                            default.push_str(&text);
                        }
                        let checked = check_length("the default of a column", length);
                        checked.map_err(|problem| document.fault(document.line(), problem))?;
                    }
                }
                Event::End => {
                    if let (Some(text), Some((_, place))) = (default.take(), open) {
                        let told = head.columns[place].tell_default(text);
                        told.map_err(|problem| document.fault(document.line(), problem))?;
                    }
                    open = open.filter(|&(depth, _)| document.depth() >= depth);
                }
                Event::UnknownEntity if default.is_some() => {
                    return Err(document.fault(document.line(), UNKNOWN_ENTITY));
                }
                Event::UnknownEntity | Event::Other => {}
                Event::Done => return Ok(head),
            }
        }
    }

    /// Adds a column; returns the place of all of its name.
    fn add_column(&mut self, id: &str, name: &str) -> Result<usize, Diagnostic> {
        check_length("the id of a column", id.len())?;
        check_length("the name of a column", name.len())?;
        let count: usize = self.columns.iter().map(|column| column.ids.len()).sum();
        if count >= COLUMNS_MAX {
            return Err(format!("edges have more than {COLUMNS_MAX} columns").into());
        }
        let known = self.columns.iter().position(|column| column.name == name);
        let place = known.unwrap_or_else(|| {
            self.columns.push(Column::new(name.to_owned()));
            self.columns.len() - 1
        });
        self.columns[place].ids.push(id.to_owned());
        Ok(place)
    }

    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Where the weights are that are wanted.
    fn weight_place(&self, options: &InputOptions) -> Result<Option<WeightPlace>, Diagnostic> {
        if !options.weighted {
            return Ok(None);
        }
        let column = &self.columns[Columns::weight_among(&self.names(), options)?];
        let default = column.default.as_deref().map(|text| weight(text.trim().as_bytes()));
        let (is_own, columns) = (column.is_own, column.ids.clone());
        Ok(Some(WeightPlace { is_own, columns, default: default.transpose()? }))
    }

    /// That there are weights, where they are not wanted.
    fn unread_weights(&self, options: &InputOptions) -> Option<Diagnostic> {
        let wanted = InputOptions { weighted: true, ..options.clone() };
        let found = Columns::weight_among(&self.names(), &wanted).ok()?;
        let are_told = !self.columns[found].ids.is_empty() || self.has_own_weights;
        let keep = Hint::set([WEIGHTED]).detail("to keep them");
        let remark = Diagnostic::from("the weights were not read").hint(keep);
        (!options.weighted && are_told).then_some(remark)
    }
}

/// Refuses what is too long to be kept of every column.
fn check_length(what: &str, length: usize) -> Result<(), Diagnostic> {
    if length > NAME_BYTES_MAX {
        return Err(format!("{what} is longer than {NAME_BYTES_MAX} bytes").into());
    }
    Ok(())
}

/// Refuses a document whose outermost element is another one.
fn check_root(element: &Element<'_>, form: XmlForm) -> Result<()> {
    if element.depth > 1 || element.name() == form.root() {
        return Ok(());
    }
    let (form, found) = (form.name(), element.name().escape_debug());
    Err(element.fault(format!("this is XML, but no {form}: its outermost element is `{found}`")))
}
