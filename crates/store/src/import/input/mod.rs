//! Readers of edge lists: one format a file.
