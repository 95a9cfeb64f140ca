//! Inputs of all formats, good and bad, and the graphs that they become.

#[path = "../input_support/mod.rs"]
mod input_support;

mod both_lists;
mod both_ways;
mod bvgraph;
mod cut_off;
mod declared;
mod graph_formats;
mod input_doubts;
mod input_faults;
mod input_formats;
mod input_hints;
mod input_text;
mod tables;
mod told_counts;
mod xml_formats;
