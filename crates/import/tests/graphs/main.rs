//! The files that an import writes: what they hold, and what damage, other processes and lost power do.

mod resealed;
mod rows_support;

mod arrays;
mod bins;
mod pieces;
mod power_loss;
mod progress;
mod replaced;
mod reverse;
mod rows;
mod rows_damage;
mod verify;
