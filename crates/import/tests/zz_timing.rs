use std::fs;
use std::time::Instant;
use tegula_import::{ImportConfig, import};
use tegula_machine::disk::{Backend, Caching, Pool, Reader};
use tegula_machine::threads::{Cancel, Silent};
use tegula_store::graph::{Graph, VertexOrder};
use tegula_testkit::{Scratch, XorShift};
fn rss() -> String {
    let s = fs::read_to_string("/proc/self/status").unwrap();
    s.lines().filter(|l| l.starts_with("VmHWM")).collect::<String>()
}
#[test]
fn timing() {
    let n: u64 = std::env::var("N").map_or((1 << 40) - 1, |s| s.parse().unwrap());
    let e: usize = std::env::var("E").map_or(10, |s| s.parse().unwrap());
    let order = match std::env::var("O").as_deref() {
        Ok("degree") => Some(VertexOrder::Degree),
        Ok("auto") => None,
        _ => Some(VertexOrder::Given),
    };
    let mut random = XorShift::new(40);
    let mut bytes = Vec::new();
    for _ in 0..2 * e {
        bytes.extend(random.below(n).to_le_bytes());
    }
    let scratch = Scratch::new();
    let input = scratch.join("g.bin64");
    fs::write(&input, &bytes).unwrap();
    let memory: u64 = std::env::var("M").map_or(1 << 30, |s| s.parse::<u64>().unwrap() << 20);
    let config =
        ImportConfig { memory, threads: 2, order, vertices: Some(n), ..Default::default() };
    let t = Instant::now();
    let r = import(&[input], &scratch.join("g"), &config, &Silent, &Cancel::default()).unwrap();
    eprintln!("n {n} e {e}: {:.2} s {:?} {}", t.elapsed().as_secs_f64(), r.seconds, rss());
    for f in &r.files {
        eprintln!("{f:?}");
    }
    let t = Instant::now();
    let reader = Reader::open(Backend::Auto, Pool::new(64 << 20)).unwrap();
    let graph = Graph::open(&scratch.join("g"), &reader, Caching::PageCache).unwrap();
    eprintln!(
        "open {:.2} s, {} tiles {} cells",
        t.elapsed().as_secs_f64(),
        graph.tiles().len(),
        graph.vertex_count()
    );
    let t = Instant::now();
    graph.verify(&Silent, &Cancel::default()).unwrap();
    eprintln!("verify {:.2} s {}", t.elapsed().as_secs_f64(), rss());
}
