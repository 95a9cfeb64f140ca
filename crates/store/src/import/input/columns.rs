//! Which columns of a table are the source, the target and the weight.

use super::InputOptions;

/// Positions of the wanted columns, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub source: usize,
    pub target: usize,
    pub weight: Option<usize>,
}

/// Which columns of a file are read as edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnsTaken {
    /// The file has no names: the first two, or three with weights.
    First,
    /// Those with these names in the first line of a text, or in the schema of a table.
    Named {
        /// The column of sources.
        source: String,
        /// The column of targets.
        target: String,
        /// The column of weights, if weights are wanted.
        weight: Option<String>,
    },
}

/// Names by which a column is known without being told, after [`usual`].
const SOURCE_NAMES: [&str; 4] = ["src", "source", "from", ":start_id"];
const TARGET_NAMES: [&str; 4] = ["dst", "target", "to", ":end_id"];
const WEIGHT_NAMES: [&str; 3] = ["weight", "w", "value"];

impl InputOptions {
    /// Names by which a column of sources is known without being told, in lower case.
    pub const SOURCE_NAMES: &[&str] = &SOURCE_NAMES;
    /// Names by which a column of targets is known without being told.
    pub const TARGET_NAMES: &[&str] = &TARGET_NAMES;
    /// Names by which a column of weights is known without being told.
    pub const WEIGHT_NAMES: &[&str] = &WEIGHT_NAMES;
}

impl Columns {
    /// The columns of a table without names.
    pub fn by_position(weighted: bool) -> Columns {
        Columns { source: 0, target: 1, weight: weighted.then_some(2) }
    }

    /// Finds the columns by the names that the user gave, else by their usual names. The error says
    /// what is missing and which columns there are.
    pub fn by_name(names: &[String], options: &InputOptions) -> Result<Columns, String> {
        let source = find(names, "source", options.source_column.as_deref(), &SOURCE_NAMES)?;
        let target = find(names, "target", options.target_column.as_deref(), &TARGET_NAMES)?;
        let weight = Columns::weight_by_name(names, options)?;
        Ok(Columns { source, target, weight })
    }

    /// Finds the column of weights, if weights are wanted.
    pub fn weight_by_name(
        names: &[String],
        options: &InputOptions,
    ) -> Result<Option<usize>, String> {
        let given = options.weight_column.as_deref();
        options.weighted.then(|| find(names, "weight", given, &WEIGHT_NAMES)).transpose()
    }

    /// Whether the names include usual ones for both ends.
    pub fn are_usual(names: &[String]) -> bool {
        [SOURCE_NAMES, TARGET_NAMES].iter().all(|known| position(names, known).is_some())
    }

    /// These columns by their names in `names`.
    pub fn named(self, names: &[String]) -> ColumnsTaken {
        let name = |index: usize| names.get(index).cloned().unwrap_or_default();
        ColumnsTaken::Named {
            source: name(self.source),
            target: name(self.target),
            weight: self.weight.map(name),
        }
    }

    /// The position of the last wanted column.
    pub fn last(self) -> usize {
        self.source.max(self.target).max(self.weight.unwrap_or(0))
    }
}

fn find(
    names: &[String],
    role: &str,
    given: Option<&str>,
    known: &[&str],
) -> Result<usize, String> {
    let found = match given {
        Some(given) => names.iter().position(|name| name == given),
        None => position(names, known),
    };
    found.ok_or_else(|| {
        let there = names.join("`, `");
        match given {
            Some(given) => format!("there is no column `{given}`; there are `{there}`"),
            None => format!(
                "no column is known as the {role}; pass --{role}-column with one of `{there}`"
            ),
        }
    })
}

pub(super) fn position(names: &[String], known: &[&str]) -> Option<usize> {
    known.iter().find_map(|known| names.iter().position(|name| usual(name) == *known))
}

/// A name without case and without what Neo4j puts around it: `from:START_ID(Person)` is
/// `:start_id`, `weight:float` is `weight`.
fn usual(name: &str) -> String {
    let name = name.to_lowercase();
    for id in [":start_id", ":end_id"] {
        if name.contains(id) {
            return id.to_owned();
        }
    }
    name.split(':').next().unwrap_or_default().to_owned()
}
