//! Edge list files hold the edges of the generator.

use std::io::{self, ErrorKind, Write};

use tegula_generators::{BLOCK_EDGES, ErdosRenyi, Format, Generator, Path, edges, weight, write};

fn written(generator: &dyn Generator, format: Format, weights: Option<u64>) -> Vec<u8> {
    let (mut out, mut reported) = (Vec::new(), 0);
    write(generator, format, weights, &mut out, &mut |more| reported += more).unwrap();
    assert_eq!(reported, generator.edge_count());
    out
}

/// More than one group of blocks.
fn graph() -> ErdosRenyi {
    ErdosRenyi::new(70_000, 33 * BLOCK_EDGES + 5, 1).unwrap()
}

#[test]
fn text_has_a_line_per_edge() {
    let text = String::from_utf8(written(&graph(), Format::Text, None)).unwrap();
    let read = text.lines().map(|line| {
        let (source, target) = line.split_once(' ').unwrap();
        (source.parse().unwrap(), target.parse().unwrap())
    });
    assert!(read.eq(edges(&graph())));
}

#[test]
fn weights_read_back_exactly() {
    let text =
        String::from_utf8(written(&Path { vertex_count: 100_000 }, Format::Text, Some(7))).unwrap();
    let weights = text.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<f32>().unwrap());
    assert!(weights.eq((0..99_999).map(|edge| weight(7, edge))));
}

#[test]
fn a_binary_file_has_little_endian_pairs() {
    let narrow = written(&graph(), Format::Binary32, None);
    let (ids, _) = narrow.as_chunks::<4>();
    let pairs = ids
        .chunks(2)
        .map(|pair| (u32::from_le_bytes(pair[0]).into(), u32::from_le_bytes(pair[1]).into()));
    assert!(pairs.eq(edges(&graph())));

    let wide = written(&graph(), Format::Binary64, None);
    let (ids, _) = wide.as_chunks::<8>();
    let pairs =
        ids.chunks(2).map(|pair| (u64::from_le_bytes(pair[0]), u64::from_le_bytes(pair[1])));
    assert!(pairs.eq(edges(&graph())));
}

#[test]
fn a_graph_that_the_format_cannot_hold_is_refused() {
    let refused = |generator: &dyn Generator, format, weights| {
        let mut out = Vec::new();
        let error = write(generator, format, weights, &mut out, &mut |_| {}).unwrap_err();
        assert!(out.is_empty());
        error.kind()
    };
    let small = Path { vertex_count: 3 };
    let large = Path { vertex_count: (1 << 32) + 1 };
    assert_eq!(refused(&small, Format::Binary64, Some(1)), ErrorKind::InvalidInput);
    assert_eq!(refused(&large, Format::Binary32, None), ErrorKind::InvalidInput);
}

#[test]
fn a_full_disk_is_reported() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let error = write(&graph(), Format::Text, None, &mut Full, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
}
