//! Synthetic graphs. A seed determines the graph, with any number of threads.
//!
//! Every generator is a function of the edge's number: edge `i` depends only on the parameters, the
//! seed and `i`, never on earlier edges. So any thread can make any range of edges at any time, and
//! graphs larger than memory are streamed ([`write()`]).
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
