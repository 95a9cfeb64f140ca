//! Whole imports: the result is the graph of the input, for every budget and number of workers.

use std::collections::BTreeSet;
use std::fs;
use std::io::Cursor;

use tegula_machine::Error as MachineError;
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::Silent;
use tegula_store::graph::{Graph, IdType};
use tegula_store::tiles::Grid;
use tegula_store::{At, Error, OriginalId};
use tegula_testkit::XorShift;

use super::*;
use crate::count::census::Counters;
use crate::input::{Format, Input, InputOptions, Vertices};

/// An edge by the names of its ends, and the bits of its weight.
type NamedEdge = (String, String, u32);

/// Memory that holds a small graph, and memory so small that each pass goes through the disk.
const PLENTY: u64 = 1 << 30;
const SCARCE: u64 = 6 << 20;

fn text_input(text: &str, config: &ImportConfig) -> Input {
    let options = InputOptions { format: Format::Text, threads: 2, ..config.input.clone() };
    let reader = Box::new(Cursor::new(text.to_owned().into_bytes()));
    let mut input = Input::from_reader(reader, &options).unwrap();
    input.settle(config.vertices.as_ref(), config.undirected).unwrap();
    input
}

fn import_text(
    text: &str,
    output: &Path,
    memory: u64,
    threads: usize,
    config: &ImportConfig,
) -> Result<ImportReport> {
    let resources = Resources { memory, threads, short_max: SHORT_COUNT_MAX };
    let input = text_input(text, config);
    import_within(resources, &input, output, config, &Silent, &Cancel::default())
}

fn open(directory: &Path) -> Graph {
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    Graph::open(directory, &reader, Caching::PageCache).unwrap()
}

/// All edges of a graph, sorted.
fn edges_of(graph: &Graph) -> Vec<NamedEdge> {
    let mut names = vec![String::new(); graph.vertex_count() as usize];
    let ids = graph.original_ids().unwrap();
    ids.for_each_chunk(|ids, dense| -> Result<()> {
        dense
            .iter()
            .enumerate()
            .for_each(|(index, dense)| names[dense.index()] = ids.get(index).to_string());
        Ok(())
    })
    .unwrap();
    let mut edges = Vec::new();
    for index in 0..graph.tiles().len() {
        let read = graph.read_tiles(index..index + 1, true).wait().unwrap();
        let (tile, weights) = read.get(graph, index);
        let visited = graph.for_each_edge(index, tile, |entry, source, target| {
            let weight = weights.get(entry).map_or(0, |weight| weight.to_bits());
            let [source, target] = [source, target].map(|end| names[end as usize].clone());
            edges.push((source, target, weight));
        });
        visited.unwrap();
    }
    edges.sort();
    edges
}

/// Returns the edges of the graph that a text describes, sorted.
fn edges_in(text: &str, config: &ImportConfig) -> Vec<NamedEdge> {
    let mut edges = Vec::new();
    for line in text.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let weight = fields
            .get(2)
            .filter(|_| config.input.weighted)
            .map_or(0, |w| w.parse::<f32>().unwrap().to_bits());
        let (source, target) = (fields[0].to_owned(), fields[1].to_owned());
        if source == target && config.drop_loops {
            continue;
        }
        if source != target && config.undirected {
            edges.push((target.clone(), source.clone(), weight));
        }
        edges.push((source, target, weight));
    }
    edges.sort();
    if let Some(combine) = config.drop_duplicates {
        // Weights are small whole numbers, so their sums are exact.
        edges.dedup_by(|b, a| {
            let is_same = (&a.0, &a.1) == (&b.0, &b.1);
            if is_same {
                let [one, other] = [a.2, b.2].map(f32::from_bits);
                let weight = match combine {
                    Combine::Min => one.min(other),
                    Combine::Max => one.max(other),
                    Combine::Sum => one + other,
                };
                a.2 = weight.to_bits();
            }
            is_same
        });
    }
    edges
}

fn files_in(directory: &Path) -> BTreeSet<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap());
    entries.map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
}

/// Small numbers often, large ones seldom.
fn skewed(random: &mut XorShift, limit: u64) -> u64 {
    let most = random.below(limit) + 1;
    random.below(most)
}

/// Returns lines of edges. `name` makes their ends from small numbers.
fn text_of(count: usize, vertices: u64, name: impl Fn(u64) -> String) -> String {
    let mut random = XorShift::new(count as u64);
    let mut line = || {
        let (source, target, weight) =
            (skewed(&mut random, vertices), skewed(&mut random, vertices), random.below(9) + 1);
        format!("{} {} {weight}\n", name(source), name(target))
    };
    (0..count).map(|_| line()).collect()
}

/// Imports with several budgets, numbers of workers and widths of vertex numbers, which are known
/// beforehand or found on the way. The graphs must be the same to the byte and hold the text's
/// edges.
fn check(text: &str, config: &ImportConfig) -> ImportReport {
    let folder = tempfile::tempdir().unwrap();
    let mut first: Option<(ImportReport, BTreeSet<(String, Vec<u8>)>)> = None;
    let ways = [
        (PLENTY, 2, SHORT_COUNT_MAX),
        (PLENTY, 1, 100),
        (SCARCE, 3, 0),
        (SCARCE, 1, SHORT_COUNT_MAX),
    ];
    for (number, (memory, threads, short_max)) in ways.into_iter().enumerate() {
        let output = folder.path().join(number.to_string());
        let resources = Resources { memory, threads, short_max };
        let input = text_input(text, config);
        let report =
            import_within(resources, &input, &output, config, &Silent, &Cancel::default()).unwrap();
        let files = files_in(&output);
        if let Some((_, expected)) = &first {
            let differing: Vec<_> =
                files.symmetric_difference(expected).map(|(name, _)| name).collect();
            assert!(
                differing.is_empty(),
                "with {memory} bytes, {threads} workers, short_max {short_max} {differing:?} differ"
            );
            continue;
        }
        let graph = open(&output);
        graph.verify(&Silent, &Cancel::default()).unwrap();
        let (found, expected) = (edges_of(&graph), edges_in(text, config));
        assert_eq!(found.len(), expected.len());
        assert!(found == expected);
        assert_eq!(report.edges, expected.len() as u64);
        assert_eq!(
            report.loops,
            expected.iter().filter(|(source, target, _)| source == target).count() as u64
        );
        let mut ends: Vec<_> =
            expected.iter().map(|(source, target, _)| (source, target)).collect();
        ends.dedup();
        assert_eq!(report.duplicates, (expected.len() - ends.len()) as u64);
        first = Some((report, files));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4);
    first.unwrap().0
}

fn config(undirected: bool, weighted: bool, order: Option<VertexOrder>) -> ImportConfig {
    let input = InputOptions { weighted, ..InputOptions::default() };
    ImportConfig { input, undirected, order, allow_empty: true, ..ImportConfig::default() }
}

#[test]
fn small_integers_in_every_order() {
    let text = text_of(300_000, 40_000, |number| (number * 7919 % 40_000).to_string());
    let orders = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs].map(Some);
    for order in orders.into_iter().chain([None]) {
        let report = check(&text, &config(false, false, order));
        assert_eq!(report.order.name, order.unwrap_or(VertexOrder::Degree).name());
        assert_eq!(report.order.estimates.len(), if order.is_none() { 3 } else { 0 });
    }
}

#[test]
fn more_small_integers_than_scarce_memory_counts() {
    // Too many for the depth-first order in scarce memory.
    let text = text_of(400_000, 700_000, |number| number.to_string());
    for undirected in [false, true] {
        let report = check(&text, &config(undirected, true, Some(VertexOrder::Degree)));
        assert_eq!(report.ids, IdType::Integer);
    }
}

#[test]
fn sparse_integers() {
    let report = check(
        &text_of(200_000, 30_000, |n| (n * n * 1_000_003 + 7).to_string()),
        &config(true, true, None),
    );
    assert_eq!(report.ids, IdType::Integer);
    let large = |number: u64| if number == 17 { u64::MAX.to_string() } else { number.to_string() };
    check(&text_of(50_000, 3_000, large), &config(false, false, None));
}

#[test]
fn declared_vertices_are_counted_by_id_or_by_id_position() {
    let ids = 1_000_000;
    // Too many ids to be counted in scarce memory, and so few with an edge that id positions
    // replace them there.
    let counted = |memory| Counters::for_memory(shares::COUNTERS.of(memory), 0, 1).id_limit();
    assert!(counted(SCARCE) < ids - 100_000 && ids < counted(PLENTY));
    let text = text_of(30_000, 5_000, |number| (number * 1_999 % 900_000 + 50_000).to_string());
    let orders = [VertexOrder::Given, VertexOrder::Degree, VertexOrder::Dfs].map(Some);
    for order in orders.into_iter().chain([None]) {
        for (undirected, vertices) in [(false, ids), (true, 3 * ids)] {
            let config = ImportConfig {
                vertices: Some(Vertices::Count(vertices)),
                ..config(undirected, undirected, order)
            };
            let report = check(&text, &config);
            assert_eq!((report.vertices, report.ids), (vertices, IdType::Range));
        }
    }
}

#[test]
fn listed_vertices_are_integers_or_names_with_or_without_an_edge() {
    let folder = tempfile::tempdir().unwrap();
    // More ids than scarce memory sorts at once; those with an edge are among them.
    let integer = |number: u64| (number * 1_999 % 900_000 + 50_000).to_string();
    let name = |number: u64| format!("v{}", number * 1_999 % 900_000);
    let names: [&dyn Fn(u64) -> String; 2] = [&integer, &name];
    for (kind, id) in [IdType::Integer, IdType::String].into_iter().zip(names) {
        let text = text_of(30_000, 5_000, id);
        for ascends in [false, true] {
            let mut ids: Vec<String> = (0..300_000).map(id).collect();
            if ascends && kind == IdType::Integer {
                ids.sort_by_key(|id| id.parse::<u64>().unwrap());
            }
            ids.extend(ids[..1000].to_vec());
            let list = folder.path().join("list.v");
            std::fs::write(&list, format!("# vertices\n{}\n", ids.join("\n"))).unwrap();
            let vertices = Some(Vertices::Listed(list));
            for order in [VertexOrder::Given, VertexOrder::Degree].map(Some) {
                let report = check(
                    &text,
                    &ImportConfig { vertices: vertices.clone(), ..config(ascends, false, order) },
                );
                assert_eq!((report.vertices, report.ids), (300_000, kind));
            }
        }
    }
}

#[test]
fn strings() {
    let name = |number: u64| format!("{}{number}", "äbc-".repeat(number as usize % 7 + 1));
    let report = check(&text_of(150_000, 40_000, name), &config(false, true, None));
    assert_eq!(report.ids, IdType::String);
    check(
        &text_of(60_000, 20_000, |number| format!("v{number}")),
        &config(true, false, Some(VertexOrder::Degree)),
    );
}

#[test]
fn a_fault_of_listed_vertices_names_their_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("listed.txt");
    let refusal = |listed: &str, text: &str| {
        fs::write(&path, listed).unwrap();
        let vertices = Some(Vertices::Listed(path.clone()));
        let config = ImportConfig { vertices, ..config(false, false, None) };
        let error = import_text(text, &folder.path().join("g"), 64 << 20, 2, &config).unwrap_err();
        error.to_string().replace(&*path.to_string_lossy(), "PATH")
    };
    for (listed, text, says) in [
        ("1\n007\n", "1 2\n", "PATH, line 2: `007` would be"),
        ("1\nx\n", "1 2\n", "PATH, line 2: the id `x` is not an integer"),
        ("1\n3\n", "1 2\n", "ends at the vertex 2 that is not listed in PATH"),
        ("ann\n", "ann bob\n", "ends at a vertex that is not listed in PATH"),
    ] {
        let said = refusal(listed, text);
        assert!(said.contains(says), "{said}");
    }
}

#[test]
fn ids_that_often_mark_a_missing_value_are_counted() {
    let nulls = |text: &str, undirected| {
        let folder = tempfile::tempdir().unwrap();
        let (output, config) = (folder.path().join("g"), config(undirected, false, None));
        let report = import_text(text, &output, 64 << 20, 2, &config).unwrap();
        let warnings = report.warnings.into_iter().map(|warning| warning.message);
        warnings.filter(|warning| warning.contains("a missing value")).collect::<Vec<_>>()
    };
    for undirected in [false, true] {
        let found = nulls("ann bob\nNA ann\nbob NA\nbob \\N\nNAN na\n", undirected);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("edges): `NA` (2), `\\N` (1); "), "{}", found[0]);
        assert!(nulls("ann bob\nNAN na\n", undirected).is_empty());
    }
}

#[test]
#[ignore = "long"]
fn loops_and_duplicates_are_dropped_when_asked_for() {
    for name in
        [(|n| n.to_string()) as fn(u64) -> String, |n| (n << 40).to_string(), |n| format!("n{n}")]
    {
        let text = text_of(100_000, 500, name);
        for (drop_loops, drop_duplicates, undirected) in [
            (true, None, false),
            (false, Some(Combine::Min), false),
            (true, Some(Combine::Min), true),
            (false, Some(Combine::Max), true),
            (true, Some(Combine::Sum), true),
            (false, Some(Combine::Sum), false),
        ] {
            let config =
                ImportConfig { drop_loops, drop_duplicates, ..config(undirected, true, None) };
            let report = check(&text, &config);
            assert_eq!(report.dropped_loops > 0, drop_loops);
            assert_eq!(report.dropped_duplicates > 0, drop_duplicates.is_some());
        }
    }
}

#[test]
fn an_edge_given_a_million_times() {
    let report = check(&"5 5 1\n".repeat(700_000), &config(false, false, None));
    assert_eq!((report.vertices, report.duplicates), (1, 699_999));
    let text = text_of(600_000, 1, |_| "many".to_owned());
    check(&(text + &"one one 3\nmany one 4\n".repeat(20)), &config(false, true, None));
}

#[test]
fn two_edges_given_half_a_million_times_with_weights() {
    // One bit tells the ends apart. What is cut there is no duplicate.
    let text: String = (0..1_100_000)
        .map(|number| format!("{} 0 {}\n", number % 2, (number / 2) % 5 - 2))
        .collect();
    check(&text, &config(false, true, Some(VertexOrder::Given)));
}

#[test]
#[ignore = "long"]
fn cells_of_every_size() {
    let near: String = (0..90_000)
        .map(|number| format!("{} {} 1\n", number % 3000, (number * 7 + number % 13) % 3000))
        .collect();
    let by_chance = text_of(60_000, 5_000, |number| number.to_string());
    // Edges along the diagonal, and none elsewhere.
    let diagonal: String = (0..700_000u64)
        .map(|number| format!("{} {} 2\n", number % 1000, number % 1000 / 64 * 64 + number % 61))
        .collect();
    for (segment_log2, column_log2) in [(6, 6), (8, 7), (6, 24), (24, 7), (10, 16)] {
        let grid = Grid { segment_log2, column_log2 };
        for order in [VertexOrder::Given, VertexOrder::Degree] {
            let mut config = config(false, true, Some(order));
            config.tuning.grid = grid;
            check(&by_chance, &config);
            check(&near, &ImportConfig { undirected: true, ..config.clone() });
        }
        let mut config = config(false, false, Some(VertexOrder::Given));
        config.tuning.grid = grid;
        check(&diagonal, &config);
        check(&"5 5 1\n".repeat(600_000), &config);
    }
}

#[test]
fn a_star_of_one_target() {
    let text: String = (0..900_000).map(|source| format!("{source} 3\n")).collect();
    let report = check(&text, &config(false, false, Some(VertexOrder::Given)));
    assert_eq!((report.vertices, report.ids), (900_000, IdType::Range));
}

#[test]
fn no_edge_at_all() {
    for order in [None, Some(VertexOrder::Degree)] {
        for count in [None, Some(0), Some(1), Some(300_000)] {
            let vertices = count.map(Vertices::Count);
            let report = check("", &ImportConfig { vertices, ..config(false, false, order) });
            assert_eq!((report.vertices, report.edges), (count.unwrap_or(0), 0));
        }
    }
}

#[test]
fn the_degree_order_is_descending_and_stable() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("g");
    import_text(
        "9 4\n4 9\n7 4\n8 2\n",
        &output,
        PLENTY,
        1,
        &config(false, false, Some(VertexOrder::Degree)),
    )
    .unwrap();
    let graph = open(&output);
    let dense =
        |id| graph.original_ids().unwrap().find(&OriginalId::Integer(id)).unwrap().unwrap().0;
    assert_eq!([4, 9, 2, 7, 8].map(dense), [0, 1, 2, 3, 4]);
}

#[test]
fn the_depth_first_order_takes_edges_of_every_kind() {
    let dfs = |undirected, weighted| config(undirected, weighted, Some(VertexOrder::Dfs));
    check(&text_of(90_000, 30_000, |number| (number << 40).to_string()), &dfs(true, true));
    check(&text_of(90_000, 30_000, |number| format!("v{number}")), &dfs(false, false));
    check(&"5 5 1\n".repeat(400_000), &dfs(false, false));
    check(
        &(0..200_000).map(|source| format!("{source} 3\n")).collect::<String>(),
        &dfs(false, false),
    );
    check(&"8 9\n9 8\n".repeat(300_000), &dfs(true, false));
    check("", &dfs(false, false));
}

#[test]
fn the_depth_first_order_of_too_many_vertices_is_refused_or_not_weighed() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..300_000).map(|source| format!("{source} 3\n")).collect();
    let asked_for = config(false, false, Some(VertexOrder::Dfs));
    let result = import_text(&text, &folder.path().join("g"), SCARCE, 1, &asked_for);
    assert!(
        matches!(result, Err(Error::Machine(MachineError::OverBudget { needed, budget: SCARCE, .. })) if needed > SCARCE)
    );
    let auto = config(false, false, None);
    let report = import_text(&text, &folder.path().join("g"), SCARCE, 1, &auto).unwrap();
    assert!(report.order.reason.ends_with("; dfs not tried: too little memory"));
    assert_eq!(report.order.estimates.len(), 2);
}

#[test]
fn a_fault_in_the_input_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let text = text_of(50_000, 1_000, |number| number.to_string()) + "7 seven\n";
    let result =
        import_text(&text, &folder.path().join("g"), SCARCE, 2, &config(false, false, None));
    assert!(matches!(result, Err(Error::BadInput { place, .. }) if place.at == At::Line(50_001)));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Cancels at the n-th report of progress.
struct CancelAt<'a> {
    cancel: &'a Cancel,
    left: std::sync::atomic::AtomicI64,
}

impl Progress for CancelAt<'_> {
    fn begin(&self, _stage: &str, _total: Option<u64>, _unit: ProgressUnit) {
        self.advance(0);
    }
    fn advance(&self, _done: u64) {
        if self.left.fetch_sub(1, std::sync::atomic::Ordering::Relaxed) == 0 {
            self.cancel.cancel();
        }
    }
    fn end(&self) {
        self.advance(0);
    }
}

#[test]
fn an_import_cancelled_at_any_report_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let text = text_of(100_000, 30_000, |number| (number << 33).to_string());
    let mut cancelled = 0;
    for left in (0..60).step_by(3) {
        let cancel = Cancel::default();
        let progress = CancelAt { cancel: &cancel, left: left.into() };
        let replacing = ImportConfig { force: true, ..config(false, false, None) };
        let (input, output) = (text_input(&text, &replacing), folder.path().join("g"));
        let resources = Resources { memory: SCARCE, threads: 2, short_max: SHORT_COUNT_MAX };
        let result = import_within(resources, &input, &output, &replacing, &progress, &cancel);
        let expected = match result {
            Err(Error::Machine(MachineError::Cancelled)) => {
                cancelled += 1;
                0
            }
            result => {
                result.unwrap();
                1
            }
        };
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), expected, "at report {left}");
        fs::remove_dir_all(output).unwrap_or_default();
    }
    assert!(cancelled > 5, "{cancelled}");
}

#[test]
fn a_full_or_missing_spill_directory_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let gone = folder.path().join("gone");
    let text = text_of(400_000, 30_000, |number| number.to_string());
    let spilling =
        ImportConfig { spill_directory: Some(gone.clone()), ..config(false, false, None) };
    match import_text(&text, &folder.path().join("g"), SCARCE, 2, &spilling) {
        Err(Error::Machine(MachineError::Io { path, .. })) => assert_eq!(path, gone),
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_budget_that_is_too_small_is_refused_with_both_numbers() {
    let config = ImportConfig { memory: 1 << 20, ..ImportConfig::default() };
    let result = import(&[], Path::new("/nowhere/g"), &config, &Silent, &Cancel::default());
    let needed = ImportConfig::MEMORY_MIN;
    assert!(
        matches!(result, Err(Error::Machine(MachineError::OverBudget { needed: n, budget, .. })) if n == needed && budget == 1 << 20)
    );
}
