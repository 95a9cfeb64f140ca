//! What the simulated cluster does to messages and clocks.

use std::time::Duration;

use tegula_comm::{Comm, Link, Sim, SimConfig, SimStatistics, Tag};
use tegula_machine::threads::Cancel;

use super::harness::{disturbed, run_on};

/// Runs a program on each rank of a simulated cluster.
fn simulate<R: Send>(
    count: usize,
    config: &SimConfig,
    work: impl Fn(&Sim, &Cancel) -> R + Sync,
) -> Vec<R> {
    let done = run_on(Sim::ranks(count, config), work);
    done.into_iter().map(|joined| joined.unwrap()).collect()
}

/// Returns a cluster without random numbers.
fn calm() -> SimConfig {
    SimConfig { delay_max: Duration::ZERO, stall_share: 0.0, ..SimConfig::default() }
}

/// Rank 0 polls the others in turn, and returns the order in which their messages come.
fn arrivals(sim: &Sim) -> Vec<usize> {
    if sim.rank() > 0 {
        sim.send(0, Tag(0), Vec::new()).unwrap();
        return Vec::new();
    }
    let mut order = Vec::new();
    while order.len() < sim.size() - 1 {
        for from in 1..sim.size() {
            if sim.poll(from, Tag(0)).unwrap().is_some() {
                order.push(from);
            }
        }
    }
    order
}

#[test]
fn messages_of_different_ranks_overtake_each_other() {
    let order = |seed| simulate(5, &disturbed(seed), |sim, _| arrivals(sim)).swap_remove(0);
    let orders: Vec<Vec<usize>> = (0..10).map(order).collect();
    assert!(orders.iter().any(|order| *order != orders[0]), "{orders:?}");
    assert!(orders.iter().all(|order| {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        sorted == [1, 2, 3, 4]
    }));
}

#[test]
fn messages_with_different_tags_overtake_each_other() {
    let overtakes = |seed| {
        let first = simulate(2, &disturbed(seed), |sim, _| {
            if sim.rank() == 0 {
                sim.send(1, Tag(0), Vec::new()).unwrap();
                sim.send(1, Tag(1), Vec::new()).unwrap();
                return 0;
            }
            let mut tags = (0..2).cycle();
            tags.find(|&tag| sim.poll(0, Tag(tag)).unwrap().is_some()).unwrap()
        });
        first[1] == 1
    };
    let count = (0..20).filter(|&seed| overtakes(seed)).count();
    assert!(0 < count && count < 20, "{count}");
}

/// An exchange of long and short messages, in which polls decide what is sent.
fn mixed(sim: &Sim, cancel: &Cancel) -> SimStatistics {
    let (rank, size) = (sim.rank(), sim.size());
    let mut polls = 0_u8;
    for round in 0..5 {
        sim.advance(Duration::from_micros(10 * (rank as u64 + 1))).unwrap();
        let all = sim.all_gather(vec![polls; rank * 1000], Tag(0), cancel).unwrap();
        assert_eq!(all.len(), size);
        sim.send((rank + round) % size, Tag(1), vec![polls; usize::from(polls)]).unwrap();
        let from = (rank + size - round) % size;
        while sim.poll(from, Tag(1)).unwrap().is_none() {
            polls = polls.wrapping_add(1);
        }
    }
    sim.statistics()
}

#[test]
fn a_seed_decides_all_virtual_times() {
    for seed in 0..5 {
        let first = simulate(4, &disturbed(seed), mixed);
        for _ in 0..5 {
            assert_eq!(simulate(4, &disturbed(seed), mixed), first);
        }
        assert_ne!(simulate(4, &disturbed(seed + 100), mixed), first);
    }
}

#[test]
fn a_message_takes_the_time_of_its_link() {
    let config = SimConfig { bytes_per_second: 1e6, ..calm() };
    let done = simulate(3, &config, |sim, cancel| {
        match sim.rank() {
            0 => {
                sim.advance(Duration::from_micros(50)).unwrap();
                sim.send(1, Tag(0), vec![0; 100]).unwrap();
                sim.send(1, Tag(1), vec![0; 200]).unwrap();
                sim.send(2, Tag(0), vec![0; 400]).unwrap();
            }
            1 => {
                sim.receive(0, Tag(1), cancel).unwrap();
                sim.receive(0, Tag(0), cancel).unwrap();
            }
            _ => {
                sim.advance(Duration::from_micros(100)).unwrap();
                sim.receive(0, Tag(0), cancel).unwrap();
            }
        }
        sim.statistics()
    });
    let told = done.iter().map(|rank| (rank.clock.as_micros(), rank.waiting.as_micros()));
    // Rank 1 waits for 300 us of the link and 20 us of latency; the link to rank 2 is another one.
    assert_eq!(told.collect::<Vec<_>>(), [(50, 0), (370, 370), (470, 370)]);
    let links = [(0, 0), (2, 300), (1, 400)].map(|(messages, bytes)| Link { messages, bytes });
    assert_eq!(done[0].links, links);
    assert_eq!(done[1].links, [Link::default(); 3]);
}

#[test]
fn a_poll_sees_only_what_has_come_at_the_ranks_clock() {
    let done = simulate(2, &calm(), |sim, cancel| {
        if sim.rank() == 0 {
            sim.send(1, Tag(0), Vec::new()).unwrap();
            sim.receive(1, Tag(1), cancel).unwrap();
            return 0;
        }
        let polls = (0..).find(|_| sim.poll(0, Tag(0)).unwrap().is_some()).unwrap();
        sim.send(0, Tag(1), Vec::new()).unwrap();
        assert_eq!(sim.statistics().waiting, Duration::from_micros(polls));
        polls
    });
    // The latency in polls of 1 us each.
    assert_eq!(done[1], 20);
}

#[test]
fn stalls_delay_a_rank() {
    let clock = |stall_share| {
        let config = SimConfig { stall_share, ..calm() };
        let done = simulate(1, &config, |sim, _| {
            for _ in 0..100 {
                sim.send(0, Tag(0), Vec::new()).unwrap();
            }
            sim.statistics()
        });
        done[0].clock
    };
    assert_eq!(clock(0.0), Duration::ZERO);
    let (some, always) = (clock(0.1), clock(1.0));
    assert!(Duration::ZERO < some && some < Duration::from_millis(20), "{some:?}");
    assert!(Duration::from_millis(30) < always && always < Duration::from_millis(70), "{always:?}");
}
