//! Times the yardstick for an import, which runs PageRank along a grid of blocks of raw edges on
//! disk.
//!
//! `grid_stream PAIRS FOLDER VERTICES CONNECTED` partitions a file of pairs of 32-bit ids into an
//! empty folder, and prints the time. Ids are below `VERTICES`, and `CONNECTED` of them have an
//! edge. Then it reads a number of iterations from each line of standard input, and prints their
//! times and the result.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::time::Instant;

use tegula_testkit::GridStream;
use tegula_testkit::grid_stream::chunk_log2;

const DAMPING: f32 = 0.85;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [pairs, folder, vertices, connected] = arguments.as_slice() else {
        return Err("usage: grid_stream PAIRS FOLDER VERTICES CONNECTED".into());
    };
    let (vertices, connected) = (vertices.parse()?, connected.parse()?);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (pairs, folder) = (Path::new(pairs), Path::new(folder));
    let started = Instant::now();
    let chunk_log2 = chunk_log2(vertices);
    let mut grid = GridStream::build(pairs, folder, vertices, connected, chunk_log2, threads)?;
    let seconds = started.elapsed().as_secs_f64();
    say(&format!(r#"{{"threads":{threads},"build_seconds":{seconds}}}"#))?;
    let mut ranks = vec![0.0; vertices as usize];
    for line in io::stdin().lock().lines() {
        let mut seconds = Vec::new();
        let mut dangling = grid.start(&mut ranks);
        for _ in 0..line?.trim().parse()? {
            let started = Instant::now();
            dangling = grid.iterate(DAMPING, dangling, &mut ranks)?;
            seconds.push(started.elapsed().as_secs_f64());
        }
        let greatest = ranks.iter().copied().fold(0.0, f32::max);
        say(&format!(r#"{{"iteration_seconds":{seconds:?},"greatest":{greatest}}}"#))?;
    }
    Ok(())
}

fn say(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()
}
