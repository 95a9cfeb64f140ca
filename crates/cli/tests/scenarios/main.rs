//! What users do, by calling the built command in scratch folders.

mod checkpoints;
mod compatibility;
mod completions;
mod conformance;
mod damage;
mod declared;
mod disks;
mod export;
mod failures;
mod generate;
mod import;
mod inputs;
mod interrupts;
mod kills;
mod look;
mod memory;
mod paths;
mod probe;
mod results;
mod rows;
mod run;
mod shop;
mod side_tables;
mod spmv;
mod streams;
mod traversals;
