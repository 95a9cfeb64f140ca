//! Names of columns.

/// Returns whether a column is the index of a data frame of pandas, which has no name there.
pub fn is_pandas_index(name: &str) -> bool {
    name.starts_with("__index_level_")
}

/// Returns a name in lower case and without the additions of Neo4j: `from:START_ID(Person)` becomes
/// `:start_id`, `weight:float` becomes `weight`.
pub fn usual_name(name: &str) -> String {
    let name = name.to_lowercase();
    for id in [":start_id", ":end_id"] {
        if name.contains(id) {
            return id.to_owned();
        }
    }
    name.split(':').next().unwrap_or_default().trim().to_owned()
}
