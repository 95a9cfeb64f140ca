//! What messages between ranks are for.

use tegula_comm::Tag;

pub const GRAPH: Tag = Tag(1);
pub const LISTS: Tag = Tag(2);
pub const MESSAGES: Tag = Tag(3);
pub const AGREEMENT: Tag = Tag(4);
pub const STATES: Tag = Tag(5);
pub const STATISTICS: Tag = Tag(6);
pub const PACKET_TAKEN: Tag = Tag(7);
pub const CHECKPOINTS: Tag = Tag(8);
