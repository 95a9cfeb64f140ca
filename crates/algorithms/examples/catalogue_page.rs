//! Prints the page of all algorithms, `docs/ALGORITHMS.md`.

use std::io::{self, Write};

fn main() -> io::Result<()> {
    io::stdout().write_all(tegula_algorithms::catalogue::page().as_bytes())
}
