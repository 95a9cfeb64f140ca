//! What an iteration sums up over all vertices.

/// Sums over vertices. The engine folds the sums of ranges of vertices in ascending order, so that rounding
/// does not depend on the number of threads.
pub trait Aggregate: Default + Send + Sync {
    /// Adds the sums of the vertices behind those that are in `self` already.
    fn merge(&mut self, next: Self);

    /// Its bytes, for a checkpoint.
    fn to_bytes(&self) -> Vec<u8>;

    /// The sums with these bytes, if they are any.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;

    /// The sum of sums in ascending order of their vertices.
    fn sum(sums: impl Iterator<Item = Self>) -> Self {
        sums.fold(Self::default(), |mut all, next| {
            all.merge(next);
            all
        })
    }
}

/// Nothing is summed up.
impl Aggregate for () {
    fn merge(&mut self, (): ()) {}

    fn to_bytes(&self) -> Vec<u8> {
        Vec::new()
    }

    fn from_bytes(bytes: &[u8]) -> Option<()> {
        bytes.is_empty().then_some(())
    }
}
