//! Temporary probe of the import; not to be committed.
#![expect(clippy::print_stdout, reason = "a probe")]
use std::path::PathBuf;
use tegula_generators::{Format, Rmat, write};
use tegula_store::import::input::InputOptions;
use tegula_store::import::{ImportConfig, VertexOrder, import};
use tegula_store::{Cancel, Progress, Unit, parse_size};

struct Watch;
fn hwm() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let get = |n: &str| {
        status
            .lines()
            .find(|l| l.starts_with(n))
            .unwrap()
            .split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
            / 1024
    };
    let text = format!("peak {} MiB, now {} MiB", get("VmHWM"), get("VmRSS"));
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    text
}
impl Progress for Watch {
    fn begin(&self, stage: &str, _: Option<u64>, _: Unit) {
        println!("{stage}: before {}", hwm());
    }
    fn advance(&self, _: u64) {}
    fn end(&self) {
        println!("   end {}", hwm());
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args[1] == "rmat" {
        let graph = Rmat::new(args[2].parse().unwrap(), 16, 1).unwrap();
        let mut out = std::io::BufWriter::new(std::fs::File::create(&args[3]).unwrap());
        write(&graph, Format::Binary32, None, &mut out, &mut |_| ()).unwrap();
        return;
    }
    let has = |name: &str| args.iter().any(|arg| arg == name);
    let value = |name: &str| args.iter().position(|arg| arg == name).map(|at| args[at + 1].clone());
    let config = ImportConfig {
        input: InputOptions { weighted: has("--weighted"), ..Default::default() },
        memory: parse_size(&value("--memory").unwrap_or("1GiB".into())).unwrap(),
        threads: value("--threads").map_or(2, |t| t.parse().unwrap()),
        undirected: has("--undirected"),
        drop_duplicates: has("--drop-duplicates"),
        order: match value("--order").as_deref() {
            Some("given") => Some(VertexOrder::Given),
            Some("degree") => Some(VertexOrder::Degree),
            _ => None,
        },
        replace: true,
        ..ImportConfig::default()
    };
    let start = std::time::Instant::now();
    let report = import(
        &[PathBuf::from(&args[1])],
        &PathBuf::from(&args[2]),
        &config,
        &Watch,
        &Cancel::default(),
    );
    let seconds = start.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    match report {
        Ok(report) => {
            let bytes: u64 =
                report.files.iter().filter(|f| f.name.starts_with("tiles")).map(|f| f.bytes).sum();
            println!("{report:#?}");
            println!(
                "{} edges, {seconds:.2} s, {:.1} M/s, {:.3} B/edge, {peak}",
                report.edges,
                report.edges as f64 / seconds / 1e6,
                bytes as f64 / report.edges as f64
            );
        }
        Err(error) => println!("error: {error}; {peak}"),
    }
}
