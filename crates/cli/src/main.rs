//! The tegula command.
fn main() {}
