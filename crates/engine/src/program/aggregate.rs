//! Sums of an iteration over all vertices.

/// Sums over vertices. The engine folds the sums of vertex ranges in ascending order, so rounding
/// does not depend on the number of threads.
pub trait Aggregate: Default + Send + Sync {
    /// Adds the sums of the vertices that follow those already in `self`.
    fn merge(&mut self, next: Self);

    /// Returns the sums as bytes, for a checkpoint.
    fn to_bytes(&self) -> Vec<u8>;

    /// Returns the sums with these bytes, or `None` if the bytes are invalid.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;

    /// Returns the total of sums, which come in ascending order of their vertices.
    fn sum(sums: impl Iterator<Item = Self>) -> Self {
        sums.fold(Self::default(), |mut all, next| {
            all.merge(next);
            all
        })
    }
}

/// No sums.
impl Aggregate for () {
    fn merge(&mut self, (): ()) {}

    fn to_bytes(&self) -> Vec<u8> {
        Vec::new()
    }

    fn from_bytes(bytes: &[u8]) -> Option<()> {
        bytes.is_empty().then_some(())
    }
}
