//! Finds, before the edges of a document are read, its vertices and how its edges are written.

use std::path::{Path, PathBuf};

use tegula_machine::threads::Cancel;
use tegula_store::{At, Diagnostic, Hint, Result};
use tegula_tables::Compression;
use tegula_tables::read::{InputStream, XmlForm, bad_file};

use super::super::columns::Columns;
use super::super::options::{IdKind, InputOptions};
use super::super::preamble::Preamble;
use super::super::reader::Sizes;
use super::super::text::{integer, weight};
use super::counts::ItemCounter;
use super::document::{Document, Element, Event, NAME_BYTES_MAX, UNKNOWN_ENTITY};
use super::item::{Direction, Item, check_name, interpret};
use crate::settings::WEIGHTED;

/// A document that can be read several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Source {
    pub path: PathBuf,
    pub form: XmlForm,
    compression: Compression,
    window_log_max: u32,
    /// The most bytes of a tag, or of a text between tags.
    size_max: usize,
}

/// The most columns of edges, which are all kept until the edges begin. Graphs have a handful.
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
        let stream = InputStream::open(&self.path, self.compression, self.window_log_max)?;
        Ok(Document::new(&self.path, stream, self.size_max))
    }

    /// Visits the vertices in the order of the document.
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
                    let item = interpret(self.form, &element);
                    match item.map_err(|problem| element.fault(problem))? {
                        Item::Node { id } => {
                            check_name(&id).map_err(|problem| element.fault(problem))?;
                            visit(&id, At::Line(element.line))?;
                            nodes.add(element.depth);
                        }
                        Item::Graph { counts, .. } | Item::List(counts) => {
                            nodes.begin(&element, counts.nodes);
                        }
                        Item::Columns { .. } | Item::Column { .. } | Item::Edge { .. } => {}
                        Item::Value { .. } | Item::Nothing => {}
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

/// Where the weight of an edge is.
#[derive(Debug)]
pub(super) struct WeightPlace {
    /// Whether it may be an attribute of the edge's element.
    pub is_own: bool,
    /// The ids of the columns that may hold it.
    pub columns: Vec<String>,
    /// The weight of an edge without one.
    pub default: Option<f32>,
}

/// How the edges of a document are written.
#[derive(Debug)]
pub(in super::super) struct Layout {
    pub(super) source: Source,
    /// Whether an edge leads both ways.
    pub(super) is_undirected: bool,
    /// Where weights are, if they are read.
    pub(super) weight: Option<WeightPlace>,
    /// Whether different spellings of an integer, such as `7` and `007`, are one id.
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
            return Err(bad_file(&source.path, format!("this {what} has no element `graph`")));
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

    /// What the document says about its graph.
    pub fn preamble(&self) -> Preamble {
        Preamble { undirected: Some(self.is_undirected), ..Preamble::default() }
    }

    /// What the first id is; `None` if there is no vertex.
    pub fn ids(&self) -> Option<IdKind> {
        self.ids
    }

    /// What a user should know about how the document is read.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }
}

/// What the document says up to its first edge.
struct Head {
    /// The direction of the first edge, or else the default of the graph.
    direction: Option<Direction>,
    columns: Vec<Column>,
    /// The first id in the document.
    first_id: Option<String>,
    /// Whether the first edge has a weight as an attribute.
    has_own_weights: bool,
}

/// All columns of edges with one name. Some writers have a column for each type of values.
struct Column {
    name: String,
    /// Whether it may also be the attribute `weight` of an edge's element.
    is_own: bool,
    /// The ids by which values refer to the columns.
    ids: Vec<String>,
    /// The value of edges without one.
    default: Option<String>,
    /// Whether the document gives the default.
    is_default_told: bool,
}

impl Column {
    fn new(name: String) -> Column {
        let (is_own, is_default_told) = (false, false);
        Column { name, is_own, ids: Vec::new(), default: None, is_default_told }
    }

    /// Takes a default that the document gives; refuses a second, different one.
    fn tell_default(&mut self, text: String) -> Result<(), Diagnostic> {
        if self.is_default_told && self.default.as_deref().map(str::trim) != Some(text.trim()) {
            let name = self.name.escape_debug();
            return Err(
                format!("several columns are named `{name}`, with different defaults").into()
            );
        }
        (self.default, self.is_default_told) = (Some(text), true);
        Ok(())
    }
}

impl Head {
    fn read(source: &Source, cancel: &Cancel) -> Result<Head> {
        // In GEXF, the weight of an edge is 1 by default.
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
        // `open` is the column that has begun but not ended; `default` is its default as read so
        // far.
        let (mut are_of_edges, mut open, mut default): (_, _, Option<String>) = (true, None, None);
        loop {
            match document.next(cancel)? {
                Event::Start(element) => {
                    check_root(&element, source.form)?;
                    default = (open.is_some() && element.name() == "default").then(String::new);
                    let item = interpret(source.form, &element);
                    match item.map_err(|problem| element.fault(problem))? {
                        Item::Columns { are_of_edges: are } => are_of_edges = are,
                        Item::Column { id, name } if are_of_edges => {
                            let place = head.add_column(&id, &name);
                            let place = place.map_err(|problem| element.fault(problem))?;
                            open = Some((element.depth, place));
                        }
                        Item::Graph { direction, .. } => head.direction = Some(direction),
                        Item::Node { id } => {
                            head.first_id.get_or_insert_with(|| id.into_owned());
                        }
                        Item::Edge { source, direction, weight, .. } => {
                            head.first_id.get_or_insert_with(|| source.into_owned());
                            // An edge outside of a graph does not make up for the graph.
                            head.direction = head.direction.and(direction).or(head.direction);
                            head.has_own_weights = weight.is_some();
                            return Ok(head);
                        }
                        Item::Column { .. } | Item::Value { .. } => {}
                        Item::List(_) | Item::Nothing => {}
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

    /// Adds a column; returns the index of the columns with its name.
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

    /// Finds where weights are, if they are to be read.
    fn weight_place(&self, options: &InputOptions) -> Result<Option<WeightPlace>, Diagnostic> {
        if !options.weighted {
            return Ok(None);
        }
        let column = &self.columns[Columns::weight_among(&self.names(), options)?];
        let default = column.default.as_deref().map(|text| weight(text.trim().as_bytes()));
        let (is_own, columns) = (column.is_own, column.ids.clone());
        Ok(Some(WeightPlace { is_own, columns, default: default.transpose()? }))
    }

    /// Warns that there are weights which are not read.
    fn unread_weights(&self, options: &InputOptions) -> Option<Diagnostic> {
        let wanted = InputOptions { weighted: true, ..options.clone() };
        let found = Columns::weight_among(&self.names(), &wanted).ok()?;
        let are_told = !self.columns[found].ids.is_empty() || self.has_own_weights;
        let keep = Hint::set([WEIGHTED]).detail("to keep them");
        let remark = Diagnostic::from("the weights were not read").hint(keep);
        (!options.weighted && are_told).then_some(remark)
    }
}

/// Refuses a text that is too long to be kept for every column.
fn check_length(what: &str, length: usize) -> Result<(), Diagnostic> {
    if length > NAME_BYTES_MAX {
        return Err(format!("{what} is longer than {NAME_BYTES_MAX} bytes").into());
    }
    Ok(())
}

/// Refuses a document whose outermost element is not that of the form.
fn check_root(element: &Element<'_>, form: XmlForm) -> Result<()> {
    if element.depth > 1 || element.name() == form.root() {
        return Ok(());
    }
    let (form, found) = (form.name(), element.name().escape_debug());
    Err(element.fault(format!("this is XML, but not {form}: its outermost element is `{found}`")))
}
