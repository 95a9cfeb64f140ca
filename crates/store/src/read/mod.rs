//! The one door through which everything is read.
