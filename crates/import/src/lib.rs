//! From an edge list to a graph directory.
//!
//! ```text
//!  input --read--> [ids?] --relabel--> edges between id positions --estimate--> order
//!                                             |                                   |
//!                                             +----------- dense ids <------------+
//!                                                           |
//!                              sorted by bins <-------------+
//!                                     |
//!                             portions --encode--> tiles --> graph directory
//! ```
//!
//! 1. `count`: `intake` reads the input once. It counts degrees by id while the ids are small
//!    integers, and keeps the edges unless the input is as quick to read again.
//! 2. `relabel` replaces ids that are not small integers, which `count` has sorted (`distinct`,
//!    `names`), by their id positions.
//! 3. `order` chooses the vertex order (`estimate`). The degrees give the dense ids (only `dfs`
//!    needs the edges too), the plan of the batches (`batch_plan`) and the files with an entry per
//!    vertex.
//! 4. `sort`: the edges get their dense ids (`relabel::mapping`) and go to `bins`, which the
//!    degrees determine.
//! 5. `encode`: [`mod@encode::build`] joins bins to portions, or cuts them into portions, and
//!    encodes these.
//!
//! A stage uses earlier stages and what all share (`edge`, `source`, `piles`, `import_run`), but
//! no later one. `known` and this file join them.
//!
//! An import keeps within its memory budget: each pass has shares of it. Where a table exceeds its
//! share, the pass works section by section, and edges beyond theirs go through `piles` on disk.
//! That takes more passes, but gives the same graph, byte for byte. (One exception: where the
//! tables of `dfs` do not fit, that order is not tried.)

pub mod input;
pub mod settings;

mod combine;
mod config;
mod count;
mod edge;
mod encode;
mod import_run;
mod known;
mod order;
mod parallel_sort;
mod piles;
mod relabel;
mod report;
mod shares;
mod sort;
mod source;
#[cfg(test)]
mod tests;
mod vertex_files;

use std::path::{Path, PathBuf};
use std::time::Instant;

use tegula_machine::Bytes;
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Progress, ProgressUnit, Workers, join};
use tegula_store::commit::UnfinishedGraph;
use tegula_store::graph::{FORMAT_VERSION, Graph, GraphWriter, Manifest, OrderChoice, VertexOrder};
use tegula_store::rows::{self, ChunkCut, Direction, RowEncoding, RowsConfig};
use tegula_store::tiles::VertexNumber;
use tegula_store::{Result, SHORT_COUNT_MAX};

pub use combine::Combine;
pub use config::{ImportConfig, Tuning};
use count::census::DegreeSummary;
use count::intake::{ArcCounts, Intake};
use count::{declared, intake};
use edge::{ArcRule, Key, Weight};
use encode::build::{Sorted, Sorter, build};
use import_run::{ImportRun, Needs, Resources};
use input::{EdgeTables, Input, InputOptions, VertexSet};
use known::Known;
use order::batch_plan::{BatchPlan, plan_and_write_degrees};
use order::estimate;
use order::{DeclaredRows, DenseIds, Numbered};
use piles::space::with_room_needed;
use relabel::NullVertex;
use relabel::mapping::{Mapping, replace_ends};
use report::report;
pub use report::{ImportReport, StageSeconds};
use source::{EdgeSource, changed};

/// Imports files, or the files of folders, as one graph into the new directory `output`, which
/// appears only once it is complete.
///
/// ```
/// use tegula_import::{ImportConfig, import};
/// use tegula_machine::threads::{Cancel, Silent};
///
/// # let folder = tegula_testkit::Scratch::new();
/// # let (input, output) = (folder.join("roads.csv"), folder.join("roads.tegula"));
/// std::fs::write(&input, "from,to\nRome,Pisa\nPisa,Lucca\n")?;
///
/// let config = ImportConfig { memory: 64 << 20, undirected: true, ..ImportConfig::default() };
/// let report = import(&[input], &output, &config, &Silent, &Cancel::default())?;
/// assert_eq!((report.vertices, report.edges), (3, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Errors of reading and writing; [`Error::AlreadyExists`](tegula_machine::Error::AlreadyExists) if
/// `output` exists and is not to be replaced;
/// [`Error::OverBudget`](tegula_machine::Error::OverBudget) if the memory is below the minimum, or
/// too little even with passes over the disk; [`Error::Limit`](tegula_machine::Error::Limit) for
/// more vertices than there may be; [`Error::BadInput`](tegula_store::Error::BadInput) for input
/// that cannot be read, and for ids that are not among the declared vertices. An error leaves
/// nothing behind.
///
/// # Panics
/// When `config.tuning.grid` is not sound.
pub fn import(
    inputs: &[PathBuf],
    output: &Path,
    config: &ImportConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<ImportReport> {
    let open = |options: &InputOptions| Input::resolve(inputs, options);
    import_opened(open, output, config, progress, cancel)
}

/// Imports tables that are in no file, as [`import`] imports files. The tables say which columns
/// are read, and so whether edges have weights; of `config.input`, only `ids` counts.
///
/// ```
/// use std::sync::Arc;
///
/// use arrow_array::{ArrayRef, RecordBatch, StringArray};
/// use tegula_import::input::{Columns, EdgeTables};
/// use tegula_import::{ImportConfig, import_tables};
/// use tegula_machine::threads::{Cancel, Silent};
///
/// # let folder = tegula_testkit::Scratch::new();
/// # let output = folder.join("roads.tegula");
/// let from: ArrayRef = Arc::new(StringArray::from(vec!["Rome", "Pisa"]));
/// let to: ArrayRef = Arc::new(StringArray::from(vec!["Pisa", "Lucca"]));
/// let roads = RecordBatch::try_from_iter([("from", from), ("to", to)])?;
///
/// let columns = Columns { source: 0, target: 1, weight: None };
/// let tables = EdgeTables::held("roads", roads.schema(), columns, vec![roads]);
/// let config = ImportConfig { memory: 64 << 20, undirected: true, ..ImportConfig::default() };
/// let report = import_tables(tables, &output, &config, &Silent, &Cancel::default())?;
/// assert_eq!((report.vertices, report.edges), (3, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Besides the errors of [`import`], the first error of a stream.
///
/// # Panics
/// When `config.tuning.grid` is not sound.
pub fn import_tables(
    tables: EdgeTables,
    output: &Path,
    config: &ImportConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<ImportReport> {
    let mut config = config.clone();
    // How the memory is divided depends on this, and that happens before the tables are opened.
    config.input.weighted = tables.weighted();
    let open = |options: &InputOptions| Input::from_tables(tables, options);
    import_opened(open, output, &config, progress, cancel)
}

/// Imports the input that `open` returns.
fn import_opened(
    open: impl FnOnce(&InputOptions) -> Result<Input>,
    output: &Path,
    config: &ImportConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<ImportReport> {
    assert!(config.tuning.grid.is_sound(), "unsound grid {:?}", config.tuning.grid);
    let needs = |set: &VertexSet, weighted| {
        let count = declared::Declared::of(set).count();
        declared::check_count(count, config.has_rows(), config.tuning.grid)?;
        Ok(Needs {
            weighted,
            wide: count.is_some_and(|vertices| vertices > SHORT_COUNT_MAX),
            vertices: count.unwrap_or(0),
            batches: count
                .map_or(0, |vertices| declared::batch_bytes(vertices, config.tuning.grid)),
        })
    };
    let mut set = VertexSet::default();
    config.vertices.iter().for_each(|vertices| set.add(vertices));
    let divide = |needs: Result<Needs>| ImportRun::divide(config.memory, config.threads, needs?);
    // Before the input is opened, only the options are known. The files may declare more vertices,
    // or weights. So the memory is divided again below.
    let resources = divide(needs(&set, config.input.weighted))?;
    let Resources { memory, threads, .. } = resources;
    let input = config.input.clone();
    let options =
        InputOptions { memory: shares::INPUT.of(memory), threads, cancel: cancel.clone(), ..input };
    let mut input = open(&options)?;
    input.settle(config.vertices.as_ref(), config.undirected)?;
    let resources = divide(needs(input.vertices(), input.weighted()))?;
    tracing::info!(
        "memory: {} allowed; workers: {}; {} for tables, piles and buffers",
        Bytes(config.memory),
        resources.threads,
        Bytes(resources.memory)
    );
    import_within(resources, &input, output, config, progress, cancel)
        .map_err(|error| error.of_whole(config.memory))
}

/// Imports with the given resources.
fn import_within(
    Resources { memory, threads, short_max }: Resources,
    input: &Input,
    output: &Path,
    config: &ImportConfig,
    progress: &dyn Progress,
    cancel: &Cancel,
) -> Result<ImportReport> {
    // Before the edges are read, which may take hours: an output that exists is refused here.
    let unfinished = UnfinishedGraph::create(output, config.force)?;
    let folder = config.spill_directory.clone().unwrap_or_else(|| unfinished.path().to_owned());
    let rule = ArcRule { undirected: input.is_undirected(), drop_loops: config.drop_loops };
    let directory = unfinished.path();
    let report = Workers::scope(threads, |workers| {
        let run = ImportRun { memory, workers, folder, rule, progress, cancel, short_max };
        let mut report = match input.weighted() {
            true => import_weighted::<f32>(&run, input, directory, config),
            false => import_weighted::<()>(&run, input, directory, config),
        }?;
        let wanted = [(Direction::Forward, config.rows), (Direction::Reverse, config.reverse)];
        for (direction, encoding) in wanted {
            if let Some(encoding) = encoding {
                build_rows(
                    &run,
                    directory,
                    (direction, encoding),
                    config.tuning.row_cut,
                    &mut report,
                )?;
            }
        }
        Ok::<_, tegula_store::Error>(report)
    })?;
    // Asked last, because a graph that is committed stays.
    cancel.check()?;
    unfinished.commit()?;
    Ok(report)
}

/// Builds the rows of a graph whose tiles are complete.
fn build_rows(
    run: &ImportRun<'_>,
    directory: &Path,
    (direction, encoding): (Direction, RowEncoding),
    cut: ChunkCut,
    report: &mut ImportReport,
) -> Result<()> {
    let mut clock = Clock(Instant::now());
    // The memory for reading tiles comes out of the same budget.
    let reader = Reader::open(Backend::Auto, Pool::new(run.share(shares::TILES_READ)))?;
    let graph = Graph::open(directory, &reader, Caching::PageCache)?;
    // A graph with rows has 32-bit numbers of vertices: `check_count` has refused others.
    let needs = Needs { weighted: graph.is_weighted(), wide: false, vertices: 0, batches: 0 };
    // The building of rows starts workers of its own. The workers of the import are idle then, so
    // it also gets their memory.
    let workers = run.workers.count() as u64 * needs.worker_bytes();
    let memory = run.memory - run.share(shares::TILES_READ) + workers;
    let config = RowsConfig { direction, encoding, memory, threads: run.workers.count(), cut };
    let manifest = rows::build(&graph, &config, run.progress, run.cancel)?;
    report.files = manifest.files;
    report.seconds.rows += clock.lap();
    Ok(())
}

/// Measures the seconds since its last lap.
struct Clock(Instant);

impl Clock {
    fn lap(&mut self) -> f64 {
        let seconds = self.0.elapsed().as_secs_f64();
        self.0 = Instant::now();
        seconds
    }
}

/// Imports edges with weights `W`.
fn import_weighted<W: Weight>(
    run: &ImportRun<'_>,
    input: &Input,
    directory: &Path,
    config: &ImportConfig,
) -> Result<ImportReport> {
    let mut clock = Clock(Instant::now());
    let mut seconds = StageSeconds::default();
    let vertices = declared::Declared::of(input.vertices());
    let mut intake = intake::read::<W>(run, input, vertices.listed(), config.drop_duplicates)?;
    seconds.reading = clock.lap();
    let line_notes = std::mem::take(&mut intake.line_notes);
    let counts = intake.counts;
    if counts.arcs + counts.dropped_loops == 0 && !config.allow_empty {
        return Err(input.no_edge(&line_notes));
    }

    if let Some(vertices) = vertices.count() {
        declared::check_ids(vertices, input.ids(), intake.largest_id)?;
    }
    let needed = intake.room_needed(run);
    let (manifest, nulls) = arrange(run, input, intake, directory, config, (clock, &mut seconds))
        .map_err(|error| with_room_needed(error, needed))?;
    Ok(report(manifest, input, &counts, &line_notes, &nulls, seconds))
}

/// Orders the vertices that were read, and writes the graph. Also returns the vertices whose names
/// often mark a missing value.
fn arrange<W: Weight>(
    run: &ImportRun<'_>,
    input: &Input,
    intake: Intake<'_, W>,
    directory: &Path,
    config: &ImportConfig,
    (mut clock, seconds): (Clock, &mut StageSeconds),
) -> Result<(Manifest, Vec<NullVertex>)> {
    let counts = intake.counts;
    let declared = declared::Declared::of(input.vertices());
    let mut known = Known::of(run, input, intake, config.order, &declared, directory)?;
    let nulls = std::mem::take(&mut known.nulls);
    let summary = known.summary(counts.arcs)?;
    seconds.relabeling = clock.lap();

    let vertices = known.declared.unwrap_or(summary.vertices);
    declared::check_count(Some(vertices), config.has_rows(), config.tuning.grid)?;
    let arranged = |run| Arranging { run, directory, config, counts, summary, clock };
    let manifest = match run.is_wide(vertices.max(summary.id_end)) {
        false => arranged(run).import::<u32, W>(known, seconds),
        // Declared vertices told so before the input was read, and the memory is set aside.
        true if run.short_max == 0 => arranged(run).import::<u64, W>(known, seconds),
        true => {
            let batches = declared::batch_bytes(vertices, config.tuning.grid);
            arranged(&run.widened(vertices, batches)?).import::<u64, W>(known, seconds)
        }
    };
    Ok((manifest?, nulls))
}

/// An import whose vertices are known, but not their dense ids.
struct Arranging<'a> {
    run: &'a ImportRun<'a>,
    directory: &'a Path,
    config: &'a ImportConfig,
    counts: ArcCounts,
    summary: DegreeSummary,
    clock: Clock,
}

impl Arranging<'_> {
    /// Gives the vertices their dense ids, of type `N`, and writes the graph.
    fn import<N: VertexNumber + Key, W: Weight>(
        mut self,
        known: Known<'_, W>,
        seconds: &mut StageSeconds,
    ) -> Result<Manifest> {
        let Arranging { run, directory, config, summary, .. } = self;
        let (edges, degrees) = (&known.edges, &known.degrees);
        let ids = known.ids_by_row.as_ref();
        let declared = known.declared.map(|count| DeclaredRows { count, ids });
        let passes = ordering_passes(run, &summary, config.order);
        run.progress.begin("ordering vertices", Some(passes * summary.edges), ProgressUnit::Edges);
        let (numbered, order) = match config.order {
            Some(order) => {
                (Numbered::new(run, edges, degrees, summary, declared, order)?, asked_for(order))
            }
            None => estimate::choose::<N, W>(run, edges, degrees, summary, declared)?,
        };
        let ((ids, mut files), (plan, degree_files)) = join(
            run.workers,
            run.cancel,
            &|| known.write_ids_and_order(&numbered, directory),
            &|| plan_and_write_degrees(run, &numbered, directory, config),
        )?;
        files.extend(degree_files);
        seconds.ordering = self.clock.lap();

        let sorted = bring_to_bins::<N, W>(run, &known.edges, &numbered, &plan)?;
        drop(numbered);
        drop(known);
        seconds.sorting = self.clock.lap();

        let (weighted, vertices) = (W::IS_WEIGHTED, plan.vertices);
        let mut writer = GraphWriter::create(
            directory,
            weighted,
            vertices,
            config.tuning.grid,
            plan.all_batches(),
        )?;
        let duplicates = build(run, &plan, sorted, &mut writer)?;
        // The tiles may be of a later pass over the input than the degrees.
        if writer.edge_count() != summary.edges {
            return Err(changed());
        }
        files.into_iter().for_each(|(name, summary)| writer.add_block_file(name, summary));
        let manifest = Manifest {
            format_version: FORMAT_VERSION,
            vertices,
            edges: summary.edges,
            undirected: run.rule.undirected,
            weighted,
            equal_weight: None,
            loops: self.counts.loops,
            duplicates,
            ids,
            order,
            grid: config.tuning.grid,
            batches: 0,
            cells: 0,
            tiles: 0,
            rows: None,
            reverse: None,
            partition: None,
            files: Vec::new(),
        };
        let manifest = manifest.with_equal_weight(writer.equal_weight());
        let manifest = writer.finish(manifest)?;
        seconds.building = self.clock.lap();
        Ok(manifest)
    }
}

/// Returns how often the edges are read before they have their dense ids.
fn ordering_passes(
    run: &ImportRun<'_>,
    summary: &DegreeSummary,
    order: Option<VertexOrder>,
) -> u64 {
    match order {
        None => 2 + u64::from(estimate::unweighed(run, summary).is_none()),
        Some(order) => 1 + u64::from(order == VertexOrder::Dfs),
    }
}

/// Gives the edges their dense ids and brings them to their bins.
fn bring_to_bins<N: VertexNumber + Key, W: Weight>(
    run: &ImportRun<'_>,
    edges: &EdgeSource<'_, W>,
    numbered: &Numbered<'_>,
    plan: &BatchPlan,
) -> Result<Sorted<N, W>> {
    // Where the edges are read from the input again, no kept edges take memory.
    let dense_ids = DenseIds::<N>::new(numbered, run.share(shares::DENSE_IDS));
    let is_alone = matches!(edges, EdgeSource::Input(_)) && dense_ids.sections() == 1;
    let held = if is_alone { shares::SORTED_ALONE } else { shares::SORTED };
    let held = run.share(held).saturating_sub(TILE_BYTES).max(run.share(shares::SORTED_MIN));
    let sorter = Sorter::new(run, plan, held);
    replace_ends(run, edges, &dense_ids, &|edges| sorter.add(edges))?;
    run.progress.end();
    sorter.finish()
}

fn asked_for(order: VertexOrder) -> OrderChoice {
    OrderChoice {
        name: order.name().to_owned(),
        reason: "it was asked for".to_owned(),
        estimates: Vec::new(),
    }
}

/// Bytes that the building of tiles needs with any budget, besides its shares.
const TILE_BYTES: u64 = 16 << 20;
