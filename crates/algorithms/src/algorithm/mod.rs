//! What an algorithm offers to a face: a name, options, needs, a run, an answer.
//!
//! An algorithm implements [`Algorithm`] for the struct of its options. A face (the command line, a
//! service, a language) takes an [`Entry`] of the catalogue, and makes a [`Request`] of the options
//! that it is given. It then reads the files that options name, asks for the [`Needs`], and runs
//! what is [`Prepared`]. It never knows which algorithm it runs.

mod abilities;
#[cfg(feature = "clap")]
mod arguments;
mod description;
mod direction;
mod entry;
mod family;
mod field_names;
mod fusing;
mod interface;
mod needs;
mod number;
mod request;
mod schema;
mod work;

pub use abilities::{Abilities, FindsGraph, HasSmallerRun, MakesLists, TakesModel};
#[cfg(feature = "clap")]
pub(crate) use arguments::one_of;
pub use description::{Column, ColumnType, Description};
pub use direction::EdgeDirection;
pub use entry::Entry;
pub(crate) use entry::table_option_names;
pub use family::Family;
pub(crate) use field_names::field_names;
pub use fusing::{
    AnyMember, Entrance, Fusing, Member, MemberOutcome, OpenFusing, Width, options_of,
};
pub(crate) use fusing::{
    LANES, early_results_size, estimate_joining, estimate_lanes, members, run_lanes, run_open_lanes,
};
pub use interface::{
    Algorithm, Checkpointing, Edges, Found, LessMemory, ModelFile, Options, SideFiles, Weights,
};
pub use needs::{Needs, StreamedLayout, rows_size_expected};
pub use number::{Bias, Factor, NotNegative, Positive, Probability};
pub use request::{AnyAlgorithm, AnyPrepared, Prepared, Request};
pub(crate) use work::degree_sum;
pub use work::{Iterations, Rate, Work};
