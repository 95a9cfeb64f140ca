//! Measures messages between two ranks: `mpirun -n 2 ping_pong`. Prints a JSON object: the median
//! and the 90th percentile of round trips of 8 bytes in microseconds, bytes per second by the size
//! of messages, and the share of a core that a rank takes while it does nothing.
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tegula_comm::{Comm, Error, MESSAGE_SIZE_MAX, Result, Tag};
use tegula_machine::threads::Cancel;
use tegula_mpi::{Mpi, Settings};

const ROUND_TRIPS: usize = 20_000;
/// The most messages that may be under way at the same time.
const IN_FLIGHT_MAX: usize = 4;

fn main() -> ExitCode {
    let settings = Settings::default();
    let ended = match Mpi::run(&settings, |mpi| measure(mpi, &settings.cancel)) {
        Ok(ended) => ended,
        Err(error) => {
            println!("{{\"error\": {:?}}}", error.to_string());
            return ExitCode::FAILURE;
        }
    };
    match &ended.result {
        Ok(Some(figures)) => println!("{figures}"),
        Ok(None) => {}
        Err(error) => println!("{{\"error\": {:?}}}", error.to_string()),
    }
    ended.departure.leave(u8::from(ended.result.is_err()))
}

/// Returns the figures on rank 0.
fn measure(mpi: &Mpi, cancel: &Cancel) -> Result<Option<String>> {
    if mpi.size() != 2 {
        return Err(Error::Transport("this measures two ranks".to_owned()));
    }
    let mut trips = round_trips(mpi, cancel)?;
    trips.sort_unstable_by(f64::total_cmp);
    let mut rates = Vec::new();
    for (size, count) in [(64 << 10, 4000), (1 << 20, 1000), (16 << 20, 64), (MESSAGE_SIZE_MAX, 16)]
    {
        mpi.barrier(Tag(2), cancel)?;
        let began = Instant::now();
        stream(mpi, size, count, cancel)?;
        let rate = (size * count) as f64 / began.elapsed().as_secs_f64();
        rates.push(format!("\"{size}\": {rate:.3e}"));
    }
    let idle = idle_share(mpi, cancel)?;
    let [median, percentile] = [trips.len() / 2, trips.len() * 9 / 10].map(|at| trips[at]);
    Ok((mpi.rank() == 0).then(|| {
        format!(
            "{{\"round_trip_us\": {median:.2}, \"round_trip_us_90\": {percentile:.2}, \
             \"bytes_per_second\": {{{}}}, \"idle_share\": {idle:.4}}}",
            rates.join(", ")
        )
    }))
}

/// Returns the times of round trips in microseconds.
fn round_trips(mpi: &Mpi, cancel: &Cancel) -> Result<Vec<f64>> {
    let other = 1 - mpi.rank();
    let mut trips = Vec::with_capacity(ROUND_TRIPS);
    for _ in 0..ROUND_TRIPS {
        let began = Instant::now();
        if mpi.rank() == 0 {
            mpi.send(other, Tag(0), vec![0; 8])?;
            mpi.receive(other, Tag(0), cancel)?;
        } else {
            let message = mpi.receive(other, Tag(0), cancel)?;
            mpi.send(other, Tag(0), message)?;
        }
        trips.push(began.elapsed().as_secs_f64() * 1e6);
    }
    Ok(trips)
}

/// Sends messages from rank 0 to rank 1, which allows one more after each.
fn stream(mpi: &Mpi, size: usize, count: usize, cancel: &Cancel) -> Result<()> {
    for number in 0..count {
        if mpi.rank() == 0 {
            if number >= IN_FLIGHT_MAX {
                mpi.receive(1, Tag(1), cancel)?;
            }
            mpi.send(1, Tag(0), vec![number as u8; size])?;
        } else {
            let message = mpi.receive(0, Tag(0), cancel)?;
            assert_eq!((message.len(), message[size - 1]), (size, number as u8));
            mpi.send(0, Tag(1), Vec::new())?;
        }
    }
    for _ in 0..IN_FLIGHT_MAX.min(count) * usize::from(mpi.rank() == 0) {
        mpi.receive(1, Tag(1), cancel)?;
    }
    Ok(())
}

/// Returns the share of a core that this process takes while its work waits for something else.
fn idle_share(mpi: &Mpi, cancel: &Cancel) -> Result<f64> {
    mpi.barrier(Tag(2), cancel)?;
    let (before, began) = (process_time(), Instant::now());
    let (_open, nothing) = channel::<()>();
    assert!(nothing.recv_timeout(Duration::from_secs(1)).is_err(), "nobody sends");
    let share = (process_time() - before).as_secs_f64() / began.elapsed().as_secs_f64();
    mpi.barrier(Tag(2), cancel)?;
    Ok(share)
}

fn process_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
