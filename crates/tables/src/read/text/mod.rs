//! Text: a stream is cut into blocks of whole lines (`blocks`), and a line into fields (`fields`).
//! The first lines show how all lines are built (`first_bytes`).

mod blocks;
mod delimiter;
mod fields;
mod first_bytes;

pub use blocks::{Blocks, Start, TextBlock};
pub use delimiter::Delimiter;
pub use fields::{
    Excerpt, Field, Fields, Separator, is_blank, is_comment, is_passed_over, line_at,
    quote_between_blanks, unsigned, width_of,
};
pub use first_bytes::{FirstBytes, Line, lines};
