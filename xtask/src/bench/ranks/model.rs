//! A model of 2 to 64 machines: what was measured on one, with links and disks of given rates.

use super::cut::Cut;
use super::mpi::iteration;
use super::traffic::Traffic;
use crate::bench::figure::{Figure, Ratio, Unit, median};
use crate::bench::lab::{Lab, text};
use crate::tegula::{Result, units};

const RANKS: [usize; 5] = [2, 4, 8, 16, 64];
/// Bytes a second of a link of 25 Gbit/s, in each direction.
const LINK: f64 = 25e9 / 8.0;
/// Bytes a second of a disk.
const DISK: f64 = 2e9;
/// Iterations of the runs that measure how fast a rank computes.
const ITERATIONS: u64 = 10;
/// How many times as fast as one machine DFOGraph is on several.
const DFOGRAPH: [(usize, f64); 4] = [(2, 1.42), (4, 3.01), (8, 6.56), (16, 21.3)];
const AXIS: &str = "ranks";

/// Computes the time of an iteration of PageRank on several machines.
pub fn all(lab: &mut Lab<'_>) -> Result<Vec<Figure>> {
    let graph = lab.rmat(lab.settings.scale)?;
    let alone = lab.cut(&graph.graph, 1)?;
    let rates = edges_per_second(lab, &alone)?;
    let rate = median(&rates);
    let compute =
        Figure::new("edges a second of one rank, measured", Unit::EdgesPerSecond, rates.clone());
    let one = Machines::new(&alone, rate, 0.0);
    alone.discard()?;
    let name = format!("R-MAT {}", graph.scale);
    let mut figures = Vec::new();
    for ranks in RANKS {
        let cut = lab.cut(&graph.graph, ranks)?;
        let traffic = match Traffic::count(lab, &cut) {
            Ok(traffic) => traffic,
            Err(refusal) => {
                cut.discard()?;
                lab.leave_out(&format!("{ranks} ranks. The command says: {refusal}"));
                continue;
            }
        };
        let several = Machines::new(&cut, rate, traffic.busiest);
        let unevenness = cut.unevenness();
        cut.discard()?;
        figures.push(
            several
                .figure(&format!("iteration, {name}, {ranks} machines{}", reported(ranks)))
                .compared_with("one machine", vec![one.seconds()], Ratio::TimesAsFast)
                .on_curve("model", ranks as f64, AXIS)
                .note(format!("{}; {unevenness}", several.parts())),
        );
    }
    let one = one.figure(&format!("iteration, {name}, one machine")).note(one.parts());
    figures.extend([one, compute]);
    lab.remarks.push(description());
    Ok(figures)
}

fn description() -> String {
    format!(
        "This is a model, and no run on several machines. Only the edges a second of one rank and the bytes \
         between ranks are measured, on one machine. A machine has one rank. Its time is that of its link, and \
         then that of its processors or of its disk, whichever is longer. The processors are those of this \
         machine. The link takes the bytes of the busiest rank in its busier direction at {}B/s. The disk \
         reads all tiles of a rank at {}B/s in each iteration. The model leaves out the latency of links, and \
         that tiles may stay in memory. DFOGraph's machines and graphs are others.",
        units::decimal(LINK),
        units::decimal(DISK)
    )
}

fn reported(ranks: usize) -> String {
    let found = DFOGRAPH.iter().find(|(machines, _)| *machines == ranks);
    found.map_or_else(String::new, |(_, times)| format!(" (DFOGraph: {times}×)"))
}

/// Measures how many edges a second one rank processes in memory, with all threads.
fn edges_per_second(lab: &Lab<'_>, cut: &Cut) -> Result<Vec<f64>> {
    let iterations = ITERATIONS.to_string();
    let run = ["run", "pagerank", text(&cut.folder)?, "--ranks", "1", "--iterations", &iterations];
    let rate = |_| Ok(cut.edges / iteration(&lab.tegula.json(&run)?)?);
    (0..lab.settings.rounds).map(rate).collect()
}

/// Seconds of an iteration on machines with a rank each.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Machines {
    compute: f64,
    link: f64,
    disk: f64,
}

impl Machines {
    /// The times of the rank with the most edges, of that with the most tiles, and of the busiest
    /// link, which carries `link_bytes`.
    fn new(cut: &Cut, edges_per_second: f64, link_bytes: f64) -> Machines {
        Machines {
            compute: cut.most(|shard| shard.edges) / edges_per_second,
            link: link_bytes / LINK,
            disk: cut.most(|shard| shard.tile_bytes) / DISK,
        }
    }

    /// Ranks exchange messages before they process edges, and read tiles meanwhile.
    fn seconds(&self) -> f64 {
        self.link + self.compute.max(self.disk)
    }

    /// Returns the part that takes longest.
    fn limit(&self) -> &'static str {
        let Machines { compute, link, disk } = *self;
        if link >= compute.max(disk) {
            "the link"
        } else if disk > compute {
            "the disk"
        } else {
            "the processors"
        }
    }

    fn figure(&self, title: &str) -> Figure {
        let title = format!("{title}, limited by {}", self.limit());
        Figure::new(title, Unit::Seconds, vec![self.seconds()])
    }

    /// Returns the parts in words.
    fn parts(&self) -> String {
        let Machines { compute, link, disk } = *self;
        let [compute, link, disk] = [compute, link, disk].map(units::seconds);
        format!("processors {compute}, link {link}, disk {disk}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::cut::Shard;
    use super::*;

    #[test]
    fn the_dearest_rank_and_the_longest_part_count() {
        let shard = |edges: f64| Shard { vertices: 1.0, edges, tile_bytes: edges };
        let cut = Cut {
            folder: "cut".into(),
            vertices: 2.0,
            edges: 3e9,
            shards: vec![shard(1e9), shard(2e9)],
        };
        let machines = Machines::new(&cut, 4e9, LINK / 4.0);
        assert_eq!(machines, Machines { compute: 0.5, link: 0.25, disk: 1.0 });
        assert_eq!((machines.seconds(), machines.limit()), (1.25, "the disk"));
        assert_eq!(Machines { link: 2.0, ..machines }.limit(), "the link");
        assert_eq!(Machines { compute: 2.0, ..machines }.limit(), "the processors");
    }
}
