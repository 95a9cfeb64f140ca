//! Synthetic graphs, deterministic for a seed whatever the number of threads.
//!
//! Every generator is a function of an edge's number: edge `i` depends on the parameters, the seed and
//! `i` alone, never on the edges before it. So any range of edges can be made at any time, on any thread,
//! and graphs larger than memory are streamed, not held ([`write()`]).
//!
//! | generator | model | source |
//! | --- | --- | --- |
//! | [`Rmat`] | recursive matrix, skewed degrees | Chakrabarti et al., SDM 2004; Graph500 parameters |
//! | [`ErdosRenyi`] | G(n, m): uniform, distinct arcs | Erdos and Renyi, 1959 |
//! | [`WattsStrogatz`] | ring lattice with rewired ends | Watts and Strogatz, Nature 1998 |
//! | [`ScaleFree`] | preferential attachment | Barabasi and Albert, Science 1999 |
//! | [`Grid`], [`Path`], [`Star`] | regular graphs with known answers | |
//! | [`Listed`] | edges already in memory | |

mod error;
mod generator;
mod random;

mod erdos_renyi;
mod grid;
mod listed;
mod path;
mod rmat;
mod scale_free;
mod scramble;
mod star;
mod text;
mod watts_strogatz;
mod write;

pub use erdos_renyi::ErdosRenyi;
pub use error::ParameterError;
pub use generator::{BLOCK_EDGES, Edge, Generator, edges, for_each_block};
pub use grid::Grid;
pub use listed::Listed;
pub use path::Path;
pub use random::weight;
pub use rmat::{Probabilities, Rmat};
pub use scale_free::ScaleFree;
pub use scramble::Scramble;
pub use star::Star;
pub use watts_strogatz::WattsStrogatz;
pub use write::{Format, write};
