//! What several algorithms share: ids, samples, sources, searches that run together, and sums.

pub mod original_ids;
pub mod vertex_list;

pub(crate) mod exact_sum;
pub(crate) mod find_vertex;
pub(crate) mod id_order;
pub(crate) mod random;
pub(crate) mod ranks;
pub(crate) mod redirected;
pub(crate) mod samples;
pub(crate) mod sources;
pub(crate) mod states_in_order;
pub(crate) mod tally;
pub(crate) mod together;
pub(crate) mod union_find;
