//! Encoded edges come back, with every shape of block and every encoding.

use tegula_testkit::XorShift;
#[cfg(target_arch = "x86_64")]
use tegula_testkit::data::skip;

use super::*;

/// Decodes a tile into sorted (source, target, weight bits).
pub(crate) fn decode(tile: &EncodedTile, vertex_count: u32) -> Vec<(u32, u32, u32)> {
    let view = Tile::parse(&tile.bytes).unwrap();
    let mut edges = Vec::new();
    let entries = view.for_each_edge(&tile.summary, vertex_count, |entry, source, target| {
        let weight = tile.weights.get(entry).map_or(0, |weight| weight.to_bits());
        edges.push((source, target, weight));
    });
    let entries = entries.unwrap();
    assert!(tile.weights.is_empty() || tile.weights.len() == entries);
    edges
}

/// Asserts that tiles are the same in a cell that begins elsewhere, even far away.
fn assert_same_elsewhere<W: EdgeWeight>(edges: &[DenseEdge<u32, W>], tiles: &[EncodedTile]) {
    for origin in [
        Origin { source: 5 << 20, target: 7 << WINDOW_LOG2 },
        Origin { source: (1 << 40) - (1 << 24), target: 1 << 32 },
    ] {
        let moved = |edge: &DenseEdge<u32, W>| DenseEdge {
            source: u64::from(edge.source) + origin.source,
            target: u64::from(edge.target) + origin.target,
            weight: edge.weight,
        };
        let moved: Vec<DenseEdge<u64, W>> = edges.iter().map(moved).collect();
        let mut rest = tiles.iter();
        let same = &mut |tile: EncodedTile| {
            let expected = rest.next().unwrap();
            assert!(tile.bytes == expected.bytes && tile.summary == expected.summary);
            Ok(())
        };
        Encoder::new().encode_window(&[&moved], origin, same).unwrap();
        assert!(rest.next().is_none());
    }
}

/// Asserts that the encoder tells exactly the sources in its tiles.
fn assert_sources(sources: &WindowSources, tiles: &[EncodedTile], vertex_count: u32) {
    let mut told = SourceSet::new(vertex_count);
    told.add(sources);
    let mut decoded = SourceSet::new(vertex_count);
    let edges = tiles.iter().flat_map(|tile| decode(tile, vertex_count));
    edges.for_each(|(source, ..)| decoded.insert(source));
    assert_eq!(told.len(), decoded.len());
    assert!(told.take_list(vertex_count) == decoded.take_list(vertex_count));
}

fn round_trip<W: EdgeWeight>(edges: &[DenseEdge<u32, W>], vertex_count: u32) -> Vec<Encoding> {
    let mut tiles = Vec::new();
    let mut encoder = Encoder::new();
    let mut emit = |tile| {
        tiles.push(tile);
        Ok(())
    };
    encoder.encode_window(&[edges], Origin::default(), &mut emit).unwrap();
    assert_same_elsewhere(edges, &tiles);
    assert_sources(&encoder.sources(), &tiles, vertex_count);
    let bits = |w: W| if W::IS_WEIGHTED { w.to_f32().to_bits() } else { 0 };
    let mut expected: Vec<_> = edges.iter().map(|e| (e.source, e.target, bits(e.weight))).collect();
    let mut found: Vec<_> = tiles.iter().flat_map(|t| decode(t, vertex_count)).collect();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found.len(), expected.len());
    assert_eq!(found, expected);
    let mut encodings = Vec::new();
    for tile in &tiles {
        assert_eq!(decode(tile, vertex_count).len(), tile.summary.edge_count as usize);
        for (source, target, _) in decode(tile, vertex_count) {
            let summary = &tile.summary;
            assert!(summary.may_hold(source));
            assert!((summary.target_first..=summary.target_last).contains(&target));
            let covered = (0..64)
                .filter(|bit| summary.source_mask >> bit & 1 == 1)
                .any(|bit| summary.chunk(bit).contains(&source));
            assert!(covered);
        }
        let strips = Tile::parse(&tile.bytes).unwrap().strips(vertex_count);
        encodings.extend(strips.map(|strip| strip.unwrap().encoding()));
    }
    encodings
}

/// `count` edges, spread evenly over `sources` x `targets` by a fixed walk.
fn spread<W: EdgeWeight>(count: u64, sources: u64, targets: u64) -> Vec<DenseEdge<u32, W>> {
    let mut random = XorShift::new(1);
    (0..count)
        .map(|i| DenseEdge {
            source: random.below(sources) as u32,
            target: (WINDOW_SIZE as u64 + random.below(targets)) as u32,
            weight: W::from_f32(i as f32),
        })
        .collect()
}

#[test]
fn edges_of_every_density_come_back_and_use_every_encoding() {
    let mut met = std::collections::BTreeSet::new();
    for (count, sources, targets) in [
        (1, 1, 1),
        (5, 3_000_000_000, 65536),
        (1000, 65536, 65536),
        (3000, 4_000_000_000, 16),
        (2000, 4_000_000_000, 1),
        (40_000, 2_000_000_000, 256),
        (40_000, 2_000_000_000, 4096),
        (40_000, 500_000_000, 65536),
        (100_000, 200_000, 65536),
        (200_000, 20_000, 65536),
        (200_000, 5_000, 4096),
        (400_000, 65536, 256),
        (200_000, 3000, 64),
        (20_000, 100, 8),
        (300_000, 10, 3),
        (3_500, 65536, 16),
        (60_000, 65536, 8),
    ] {
        met.extend(round_trip(&spread::<()>(count, sources, targets), u32::MAX));
        round_trip(&spread::<f32>(count, sources, targets), u32::MAX);
    }
    // Every source has an edge to each of 16 targets.
    let complete = (0..16_000).map(|i| DenseEdge { source: i / 16, target: i % 16, weight: () });
    met.extend(round_trip(&complete.collect::<Vec<_>>(), u32::MAX));
    let missing: Vec<_> = ENCODINGS.iter().filter(|e| !met.contains(e)).collect();
    assert!(missing.is_empty(), "never chosen: {missing:?}");
}

#[test]
fn a_strip_with_too_many_edges_continues_in_another() {
    round_trip(&spread::<()>(300_000, 16_384, 1), 65536);
    round_trip(&spread::<()>(3_000_000, 16_384, 16), 65536);
    round_trip(&spread::<f32>(300_000, 16_384, 2), 65536);
}

#[test]
fn the_order_of_the_edges_does_not_matter() {
    let encode = |edges: &[&[DenseEdge<u32, f32>]]| {
        let mut bytes = Vec::new();
        let mut emit = |tile: EncodedTile| {
            bytes.extend(tile.bytes);
            bytes.extend(tile.weights.iter().flat_map(|w| w.to_le_bytes()));
            Ok(())
        };
        Encoder::new().encode_window(edges, Origin::default(), &mut emit).unwrap();
        bytes
    };
    let edges = spread::<f32>(100_000, 300, 200);
    let mut reversed = edges.clone();
    reversed.reverse();
    let expected = encode(&[&edges]);
    assert_eq!(encode(&[&reversed]), expected);
    let (some, others) = reversed.split_at(777);
    assert_eq!(encode(&[&[], others, some, &[]]), expected, "nor in how many slices they come");
}

#[test]
fn a_flipped_bit_never_leads_out_of_bounds() {
    let edges = spread::<()>(3_000, 70_000, 300);
    let mut tiles = Vec::new();
    let mut emit = |tile| {
        tiles.push(tile);
        Ok(())
    };
    Encoder::new().encode_window(&[&edges], Origin::default(), &mut emit).unwrap();
    let mut refused = 0;
    for tile in &tiles {
        for bit in 0..tile.bytes.len() * 8 {
            let mut bytes = tile.bytes.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(view) = Tile::parse(&bytes) else {
                refused += 1;
                continue;
            };
            let visited = view.for_each_edge(&tile.summary, 70_000, |_, source, target| {
                assert!(source < 70_000);
                assert_eq!(target >> WINDOW_LOG2, tile.summary.target_first >> WINDOW_LOG2);
            });
            refused += usize::from(visited.is_err());
        }
    }
    assert!(refused > 0);
}

#[test]
fn every_instruction_set_gives_the_same_sums() {
    #[cfg(target_arch = "x86_64")]
    let (avx2, avx512) = (Avx2::detect(), Avx512::detect());
    #[cfg(target_arch = "x86_64")]
    if avx2.is_none() || avx512.is_none() {
        skip("this processor has not both AVX2 and AVX-512");
    }
    let mut state = 1u32;
    for round in 0..1000 {
        let gaps: [u8; 16] = std::array::from_fn(|_| {
            state = state.wrapping_mul(1664525).wrapping_add(1013904223);
            if round % 2 == 0 { (state >> 24) as u8 } else { (state >> 30) as u8 * 85 }
        });
        let mut expected = [0; 16];
        let end = Portable.sums_of_bytes(&gaps, 1000, u32::MAX, &mut expected);
        #[cfg(target_arch = "x86_64")]
        {
            let mut found = [0; 16];
            if let Some(avx2) = &avx2 {
                assert_eq!(avx2.sums_of_bytes(&gaps, 1000, u32::MAX, &mut found), end);
                assert_eq!(found, expected);
            }
            if let Some(avx512) = &avx512 {
                assert_eq!(avx512.sums_of_bytes(&gaps, 1000, u32::MAX, &mut found), end);
                assert_eq!(found, expected);
            }
        }
    }
}
