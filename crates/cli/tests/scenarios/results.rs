//! The same table in every format.

use std::fs::File;
use std::io::Read;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use flate2::read::GzDecoder;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use tegula_testkit::EdgeList;

use crate::shop::{Lines, Shop, column, lines, numbers, numbers_with_gaps};

/// Returns a graph with gaps between ids; some vertices cannot be reached from 100.
fn graph() -> EdgeList {
    EdgeList::new(vec![(100, 7), (7, 8), (8, 100), (1 << 40, 8), (9, 9), (7, 1 << 41)])
}

fn parquet(shop: &Shop, name: &str) -> RecordBatch {
    let file = File::open(shop.path(name)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    assert_eq!(batches.len(), 1, "{name}");
    batches[0].clone()
}

#[test]
fn parquet_comes_back_with_types_and_nulls() {
    let shop = Shop::new();
    shop.import(&graph(), "");
    let text = shop.tegula("run bfs g.tegula --source 100 --parents").done().out;
    shop.tegula("run bfs g.tegula --source 100 --parents -o out.parquet").done();
    let rows = parquet(&shop, "out.parquet");
    let names: Vec<&str> = rows.schema_ref().fields().iter().map(|f| f.name().as_str()).collect();
    assert_eq!(names, ["vertex", "distance", "parent"]);
    let vertices = rows.column(0).as_primitive::<UInt64Type>();
    let distances = rows.column(1).as_primitive::<UInt32Type>().iter();
    let parents = rows.column(2).as_primitive::<UInt64Type>().iter();
    let vertices = || vertices.values().iter().copied();
    let found: Vec<_> = vertices().zip(distances.map(|d| d.map(u64::from))).collect();
    assert_eq!(found, numbers_with_gaps(&text, "distance"));
    let found: Vec<_> = vertices().zip(parents).collect();
    assert_eq!(found, numbers_with_gaps(&text, "parent"));

    shop.tegula("run pagerank g.tegula -o ranks.parquet").done();
    let rows = parquet(&shop, "ranks.parquet");
    let ranks = rows.column(1).as_primitive::<Float32Type>().values();
    let found: Vec<(u64, f32)> = vertices().zip(ranks.iter().copied()).collect();
    assert_eq!(found, numbers(&shop.tegula("run pagerank g.tegula").done().out, "rank"));
}

#[test]
fn parquet_holds_string_ids() {
    let shop = Shop::new();
    shop.write("g.tsv", "b\ta\nc\td\n");
    shop.tegula("import g.tsv -o g.tegula --no-header").done();
    shop.tegula("run wcc g.tegula -o out.parquet").done();
    let rows = parquet(&shop, "out.parquet");
    let strings = |index: usize| -> Vec<String> {
        let cells = rows.column(index).as_string::<i64>();
        assert_eq!(cells.null_count(), 0);
        cells.iter().map(|cell| cell.unwrap().to_owned()).collect()
    };
    assert_eq!((strings(0), strings(1)), (words("a b c d"), words("a a c c")));
}

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

#[test]
fn text_is_the_same_with_commas_tabs_and_compressed() {
    let shop = Shop::new();
    shop.import(&graph(), "");
    let expected: Lines = lines(&shop.tegula("run bfs g.tegula --source 100").done().out, '\t');
    assert_eq!(expected.0, ["vertex", "distance"]);
    for name in ["a.csv", "a.tsv", "a.csv.gz", "a.tsv.zst"] {
        let said = shop.tegula(&format!("run bfs g.tegula --source 100 -o {name}")).done();
        assert_eq!(said.out, "", "the table is in the file");
        assert!(said.err.contains(name), "{}", said.err);
        let mut text = String::new();
        let bytes = shop.read(name);
        let mut reader: Box<dyn Read + '_> = match name.rsplit_once('.') {
            Some((_, "gz")) => Box::new(GzDecoder::new(&bytes[..])),
            Some((_, "zst")) => Box::new(zstd::Decoder::new(&bytes[..]).unwrap()),
            _ => Box::new(&bytes[..]),
        };
        reader.read_to_string(&mut text).unwrap();
        let separator = if name.contains("csv") { ',' } else { '\t' };
        assert_eq!(lines(&text, separator), expected, "{name}");
    }
}

#[test]
fn npy_holds_records_with_the_names_of_the_columns() {
    let shop = Shop::new();
    shop.import(&graph(), "");
    let text = shop.tegula("run bfs g.tegula --source 100").done().out;
    shop.tegula("run bfs g.tegula --source 100 -o out.npy").done();
    let bytes = shop.read("out.npy");
    let header_end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8(bytes[10..header_end].to_vec()).unwrap();
    assert!(header.contains("('vertex', '<u8'), ('distance', '<i8')"), "{header}");
    assert!(header.contains("'shape': (6,)"), "{header}");
    let field = |bytes: &[u8]| <[u8; 8]>::try_from(bytes).unwrap();
    let records = bytes[header_end..].chunks_exact(16).map(|record| {
        let distance = i64::from_le_bytes(field(&record[8..]));
        (u64::from_le_bytes(field(&record[..8])), u64::try_from(distance).ok())
    });
    assert_eq!(records.collect::<Vec<_>>(), numbers_with_gaps(&text, "distance"));

    shop.write("strings.tsv", "b\ta\n");
    shop.tegula("import strings.tsv -o s.tegula --no-header").done();
    shop.tegula("run wcc s.tegula -o s.npy").failed(2, &[".npy", "string"]);
}

#[test]
fn lengths_of_paths_are_the_same_in_every_format() {
    let shop = Shop::new();
    // A single-precision weight such as 0.1 has many decimal digits as a double; 9 and 2^40 are not
    // reached.
    shop.write("g.wel", "100 7 0.1\n7 8 1e-3\n8 100 5\n9 9 1\n1099511627776 8 2\n");
    shop.tegula("import g.wel -o g.tegula --weighted --layouts tiles,rows").done();
    let near = f64::from(0.1f32);
    let far = near + f64::from(1e-3f32);
    let expected = [(7, Some(near)), (8, Some(far)), (9, None), (100, Some(0.0)), (1 << 40, None)];
    let words = "run sssp g.tegula --source 100";
    let text = shop.tegula(words).done().out;
    let parse = |cell: Option<String>| cell.map(|cell| cell.parse::<f64>().unwrap());
    let found: Vec<_> =
        column(&text, "distance").into_iter().map(|(vertex, cell)| (vertex, parse(cell))).collect();
    assert_eq!(found, expected);
    for (name, separator) in [("a.csv", ','), ("a.tsv", '\t')] {
        shop.tegula(&format!("{words} -o {name}")).done();
        let table = String::from_utf8(shop.read(name)).unwrap();
        assert_eq!(lines(&table, separator), lines(&text, '\t'), "{name}");
    }
    shop.tegula(&format!("{words} -o a.parquet")).done();
    let rows = parquet(&shop, "a.parquet");
    let vertices = rows.column(0).as_primitive::<UInt64Type>().values().iter().copied();
    let distances = rows.column(1).as_primitive::<Float64Type>().iter();
    assert_eq!(vertices.zip(distances).collect::<Vec<_>>(), expected);
    shop.tegula(&format!("{words} -o a.npy")).done();
    let bytes = shop.read("a.npy");
    let header_end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = String::from_utf8(bytes[10..header_end].to_vec()).unwrap();
    assert!(header.contains("('vertex', '<u8'), ('distance', '<f8')"), "{header}");
    let records = bytes[header_end..].chunks_exact(16).map(|record| {
        let (vertex, distance) = record.split_at(8);
        let distance = f64::from_le_bytes(distance.try_into().unwrap());
        let vertex = u64::from_le_bytes(vertex.try_into().unwrap());
        (vertex, Some(distance).filter(|distance| *distance < f64::INFINITY))
    });
    assert_eq!(records.collect::<Vec<_>>(), expected);
}

#[test]
fn an_empty_graph_has_an_empty_table() {
    let shop = Shop::new();
    shop.import(&EdgeList::default(), "");
    for name in ["a.csv", "a.parquet", "a.npy"] {
        shop.tegula(&format!("run wcc g.tegula -o {name}")).done();
        assert!(!shop.read(name).is_empty(), "{name}");
    }
    assert_eq!(shop.read("a.csv"), b"vertex,component\n");
    assert!(column(&shop.tegula("run pagerank g.tegula").done().out, "rank").is_empty());
}

#[test]
fn tables_longer_than_a_chunk_keep_every_row() {
    let shop = Shop::new();
    // Every vertex but the first has its predecessor as parent; ids are 3, 6, 9, ..
    let edges = (1..150_000).map(|v| (3 * v, 3 * v + 3)).collect();
    shop.import(&EdgeList::new(edges), "--order degree");
    // Shortest paths are as long as the graph: take components and a few levels from the end.
    let components = shop.tegula("run wcc g.tegula --memory 64MiB").done().out;
    let components: Vec<(u64, u64)> = numbers(&components, "component");
    assert_eq!(components.len(), 150_000);
    assert!(components.iter().zip(1..).all(|(&row, rank)| row == (3 * rank, 3)));
    let source = 3 * 149_990;
    let words = format!("run bfs g.tegula --source {source} --parents --memory 64MiB");
    let parents = numbers_with_gaps(&shop.tegula(&words).done().out, "parent");
    for (vertex, parent) in parents {
        let expected = (vertex >= source).then(|| vertex.saturating_sub(3).max(source));
        assert_eq!(parent, expected, "{vertex}");
    }
}

#[test]
fn a_stream_of_batches_has_the_same_bytes_for_every_budget() {
    let shop = Shop::new();
    shop.tegula("generate grid --width 400 --height 400 --weighted -o g.wel").done();
    shop.tegula("import g.wel -o g.tegula --undirected --weighted --layouts tiles,rows").done();
    for algorithm in ["mst", "wcc"] {
        for memory in ["64MiB", "256MiB"] {
            let words = format!("run {algorithm} g.tegula --memory {memory} -o {memory}.arrows");
            shop.tegula(&format!("{words} --force")).done();
        }
        let same = shop.read("64MiB.arrows") == shop.read("256MiB.arrows");
        assert!(same, "{algorithm}");
    }
}

#[test]
fn the_most_similar_pairs_come_first_and_equal_ones_as_they_are_given() {
    let shop = Shop::new();
    shop.import(&EdgeList::new((2..20).map(|leaf| (1, leaf)).collect()), "--undirected");
    // The centre is like no leaf, and the leaves are all alike.
    let pairs: Vec<(u64, u64)> = (2..16).rev().map(|leaf| (leaf, leaf + 1)).collect();
    let lines = pairs.iter().map(|(u, v)| format!("{u} {v}\n")).collect::<String>();
    shop.write("pairs.txt", format!("1 2\n{lines}1 3\n"));
    let summary = shop.tegula("run similarity g.tegula --pairs pairs.txt --json").done().json();
    let top = summary["summary"]["top"].as_array().unwrap();
    let expected =
        pairs.iter().map(|(u, v)| serde_json::json!({ "u": u, "v": v, "similarity": 1.0 }));
    assert_eq!(*top, expected.take(10).collect::<Vec<_>>());
}
