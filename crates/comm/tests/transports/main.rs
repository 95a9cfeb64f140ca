//! What every transport promises, tested on each of them.

mod collectives;
mod disturbance;
mod failures;
mod harness;
mod messages;
