//! A rank from its start to its exit code.

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use tegula_comm::{AbortOnPanic, Comm, Error, Result};
use tegula_machine::threads::{Cancel, start_in};

use crate::pump::Pump;
use crate::transport::Mpi;
use crate::wire::Wire;

/// How a rank behaves when others fail. All ranks need the same `silence`.
#[derive(Debug, Clone)]
pub struct Settings {
    /// A rank without any sign of life for this time counts as dead.
    pub silence: Duration,
    /// The time that ranks get to leave after a failure. Then the first rank whose work has
    /// returned ends the processes of all. If none has returned, they are ended after twice this
    /// time.
    pub farewell_max: Duration,
    /// The exit code if this rank ends the processes of all while its work goes on.
    pub exit_code: u8,
    /// Is set when the work of all ranks has ended, so that work stops which does not communicate.
    pub cancel: Cancel,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            silence: Duration::from_secs(60),
            farewell_max: Duration::from_secs(5),
            exit_code: 1,
            cancel: Cancel::default(),
        }
    }
}

/// What becomes of a rank's work.
pub struct Ended<R> {
    /// What the work returned.
    pub result: R,
    /// Why the work of all ranks was ended, if this rank has learnt of it. It may have been ended
    /// after the work of this rank was done.
    pub failure: Option<Error>,
    /// Ends the use of MPI.
    pub departure: Departure,
}

/// Ends the use of MPI, when `main` has said all that it has to say. If it is dropped instead, it
/// leaves with [`Settings::exit_code`].
#[must_use = "only `leave` ends the process with the right exit code"]
pub struct Departure {
    wire: Wire,
    is_orderly: bool,
    exit_code: u8,
}

impl Departure {
    /// Leaves, and returns the exit code. If all ranks have left in good order, this waits for
    /// `MPI_Finalize`. Otherwise some rank may be dead, so this ends the processes of all ranks,
    /// and does not return; what is not flushed is lost. In that case [`Settings::exit_code`] takes
    /// the place of a code of 0.
    pub fn leave(mut self, exit_code: u8) -> ExitCode {
        if exit_code != 0 {
            self.exit_code = exit_code;
        }
        drop(self);
        ExitCode::from(exit_code)
    }
}

impl Drop for Departure {
    fn drop(&mut self) {
        if !self.is_orderly {
            self.wire.abort(self.exit_code.into());
        }
    }
}

/// Ends the processes of all ranks if the pump panics. The work would wait for it forever.
struct EndOnPanic<'w>(&'w Wire, u8);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.abort(self.1.into());
        }
    }
}

/// Tells the pump that the work is done, even if it panics.
struct FinishOnDrop<'m>(&'m Mpi);

impl Drop for FinishOnDrop<'_> {
    fn drop(&mut self) {
        self.0.outbox.finish();
    }
}

impl Mpi {
    /// Runs the work of this rank on a thread of its own, while the calling thread exchanges
    /// messages. Call it once, on the main thread. It returns when the work of all ranks is done.
    ///
    /// The ranks are the processes that `mpirun` (or `srun`) started together. A process that was
    /// started by itself is the only rank: it is rank 0 of 1.
    ///
    /// After a failure, all ranks learn its reason, and leave once their work has returned. If that
    /// takes longer than [`Settings::farewell_max`], because a rank is dead or its work does not
    /// stop, `MPI_Abort` ends all processes: either here, or in [`Departure::leave`].
    ///
    /// # Errors
    /// [`Error::Transport`] if MPI cannot be used, or if the system starts no thread.
    ///
    /// # Panics
    /// If the work panics, after the others were told.
    pub fn run<R: Send>(
        settings: &Settings,
        work: impl FnOnce(&Mpi) -> R + Send,
    ) -> Result<Ended<R>> {
        let wire = Wire::open()?;
        let mpi = Mpi::new(&wire);
        let (worked, is_orderly) = thread::scope(|scope| {
            let _end = EndOnPanic(&wire, settings.exit_code);
            let working = start_in(scope, "tegula-rank", || {
                let _finish = FinishOnDrop(&mpi);
                let _abort = AbortOnPanic::new(&mpi);
                work(&mpi)
            });
            if let Err(error) = &working {
                // The pump tells the others, and then leaves as after any failure.
                mpi.abort(&error.to_string());
                mpi.outbox.finish();
            }
            let is_orderly = Pump::new(&mpi, &wire, settings).run();
            (working.map(|working| working.join()), is_orderly)
        });
        let departure = Departure { wire, is_orderly, exit_code: settings.exit_code };
        let worked = worked.map_err(|error| Error::Transport(error.to_string()))?;
        match worked {
            Ok(result) => Ok(Ended { result, failure: mpi.mailbox.check().err(), departure }),
            Err(panic) => {
                drop(departure);
                resume_unwind(panic)
            }
        }
    }
}
