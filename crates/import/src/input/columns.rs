//! Finds the columns of sources, targets and weights in a table of edges.

use std::str::FromStr;

use tegula_store::{Diagnostic, Hint, Setting};
use tegula_tables::read::{is_pandas_index, usual_name};

use super::options::InputOptions;
use crate::settings::{SOURCE_COLUMN, TARGET_COLUMN, WEIGHT_COLUMN, WEIGHTED};

/// Positions of the columns to read, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Columns {
    /// The column of sources.
    pub source: usize,
    /// The column of targets.
    pub target: usize,
    /// The column of weights, if weights are read.
    pub weight: Option<usize>,
}

/// The column that a user chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnChoice {
    /// The one with this name. Case is ignored if no column has exactly this name.
    Name(String),
    /// The one at this position, from 1.
    Position(usize),
}

impl FromStr for ColumnChoice {
    type Err = String;

    /// Takes digits as a position, and anything else or anything in double quotes as a name.
    fn from_str(text: &str) -> Result<ColumnChoice, String> {
        if let Some(name) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            return Ok(ColumnChoice::Name(name.to_owned()));
        }
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(ColumnChoice::Name(text.to_owned()));
        }
        match text.parse() {
            Ok(position) if position > 0 => Ok(ColumnChoice::Position(position)),
            _ => Err(format!("column {text} does not exist; columns are counted from 1")),
        }
    }
}

/// The columns of a file that are read as edges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnsTaken {
    /// Columns by their positions, from 1, in a file without names.
    Positions {
        /// The column of sources.
        source: usize,
        /// The column of targets.
        target: usize,
        /// The column of weights, if weights are read.
        weight: Option<usize>,
    },
    /// Columns by their names in the first line of a text, or in the schema of a table.
    Named {
        /// The column of sources.
        source: String,
        /// The column of targets.
        target: String,
        /// The column of weights, if weights are read.
        weight: Option<String>,
    },
}

/// Usual names of columns, as [`usual_name`] returns them.
const SOURCE_NAMES: [&str; 5] = ["src", "source", "from", ":start_id", "u"];
const TARGET_NAMES: [&str; 5] = ["dst", "target", "to", ":end_id", "v"];
const WEIGHT_NAMES: [&str; 3] = ["weight", "w", "value"];

impl InputOptions {
    /// Usual names of the column of sources, in lower case. They also count with `id` or `node`
    /// after them, as in `FromNodeId`.
    pub const SOURCE_NAMES: &[&str] = &SOURCE_NAMES;
    /// Usual names of the column of targets, with the same endings.
    pub const TARGET_NAMES: &[&str] = &TARGET_NAMES;
    /// Usual names of the column of weights.
    pub const WEIGHT_NAMES: &[&str] = &WEIGHT_NAMES;

    /// Whether the user chose a column by its name, so that the first line of a text has names.
    pub fn names_columns(&self) -> bool {
        let weight = self.weight_column.as_ref().filter(|_| self.weighted);
        let choices = [self.source_column.as_ref(), self.target_column.as_ref(), weight];
        choices.into_iter().flatten().any(|choice| matches!(choice, ColumnChoice::Name(_)))
    }
}

impl Columns {
    /// The first two columns, without weights.
    pub(super) const FIRST: Columns = Columns { source: 0, target: 1, weight: None };

    /// Returns the columns of a table without names: those at the positions that the user gave,
    /// else the first ones. The error says which position is missing.
    pub(super) fn by_position(options: &InputOptions) -> Result<Columns, Diagnostic> {
        let at = |choice: &Option<ColumnChoice>| match choice {
            Some(ColumnChoice::Position(position)) => Some(position - 1),
            Some(ColumnChoice::Name(_)) | None => None,
        };
        let weight = at(&options.weight_column).filter(|_| options.weighted);
        match (at(&options.source_column), at(&options.target_column)) {
            (None, None) => {
                // A column that the user chose for the weights is not an end, even if it is among
                // the first.
                let mut rest = (0..).filter(|&index| Some(index) != weight);
                let mut next = || rest.next().unwrap_or_default();
                let (source, target) = (next(), next());
                Ok(Columns { source, target, weight: weight.or(options.weighted.then(next)) })
            }
            (Some(_), Some(_)) if options.weighted && weight.is_none() => {
                Err(WEIGHT.without_position())
            }
            (Some(source), Some(target)) => {
                Columns { source, target, weight }.each_once(|column| (column + 1).to_string())
            }
            (Some(_), None) => Err(TARGET.without_position()),
            (None, Some(_)) => Err(SOURCE.without_position()),
        }
    }

    /// Finds the columns that the user chose, else those with usual names. Ends that are not found
    /// so are the columns that are left besides weights, if their number fits.
    ///
    /// # Errors
    /// What is missing, and which columns there are.
    pub fn by_name(names: &[String], options: &InputOptions) -> Result<Columns, Diagnostic> {
        let source = SOURCE.find(names, options.source_column.as_ref())?;
        let target = TARGET.find(names, options.target_column.as_ref())?;
        let weight = match &options.weight_column {
            choice if options.weighted => WEIGHT.find(names, choice.as_ref())?,
            _ => None,
        };
        let is_weight = |at: usize| {
            weight == Some(at) || WEIGHT_NAMES.contains(&usual_name(&names[at]).as_str())
        };
        // What may be a weight is not taken for an end, even if weights are not read.
        let is_left = |at: &usize| {
            let is_end = [source, target].contains(&Some(*at));
            !is_end && !is_weight(*at) && !is_pandas_index(&names[*at])
        };
        let left: Vec<usize> = (0..names.len()).filter(is_left).collect();
        let (source, target) = match (source, target, &left[..]) {
            (Some(source), Some(target), _) => (source, target),
            (Some(source), None, &[target]) => (source, target),
            (None, Some(target), &[source]) => (source, target),
            (None, None, &[source, target]) => (source, target),
            (None, None, _) => return Err(unknown(&[SOURCE, TARGET], names)),
            (None, Some(_), _) => return Err(unknown(&[SOURCE], names)),
            (Some(_), None, _) => return Err(unknown(&[TARGET], names)),
        };
        if options.weighted && weight.is_none() {
            let ends = Columns { source, target, weight };
            let ends = ends.each_once(|column| format!("`{}`", names[column]))?;
            if (0..names.len()).all(|column| [ends.source, ends.target].contains(&column)) {
                let message =
                    format!("no column has weights; the only columns are {}", list(names));
                let hint = Hint::leave_out(WEIGHTED.option).detail("if there are no weights");
                return Err(Diagnostic::from(message).hint(hint));
            }
            return Err(unknown(&[WEIGHT], names));
        }
        Columns { source, target, weight }.each_once(|column| format!("`{}`", names[column]))
    }

    /// Refuses a column that is read twice; the error writes it as `shown` does.
    fn each_once(self, shown: impl Fn(usize) -> String) -> Result<Columns, Diagnostic> {
        let Columns { source, target, weight } = self;
        let (first, second, column) = match weight {
            _ if source == target => (SOURCE, TARGET, source),
            Some(weight) if weight == source => (SOURCE, WEIGHT, weight),
            Some(weight) if weight == target => (TARGET, WEIGHT, weight),
            Some(_) | None => return Ok(self),
        };
        let message = format!(
            "column {} would be both the {} and the {}; choose another one",
            shown(column),
            first.name,
            second.name
        );
        let hints = [first, second].map(|role| Hint::set([role.setting])).into();
        Err(Diagnostic { message, hints })
    }

    /// Finds the column of weights in a format whose ends are not columns.
    pub(super) fn weight_among(
        names: &[String],
        options: &InputOptions,
    ) -> Result<usize, Diagnostic> {
        if names.is_empty() {
            let problem = Diagnostic::from("its edges have no weights");
            return Err(problem.hint(Hint::leave_out(WEIGHTED.option)));
        }
        let found = WEIGHT.find(names, options.weight_column.as_ref())?;
        found.ok_or_else(|| unknown(&[WEIGHT], names))
    }

    /// Whether `names` has usual names for both ends.
    pub(super) fn are_usual(names: &[String]) -> bool {
        [SOURCE, TARGET].iter().all(|role| !matches!(role.find(names, None), Ok(None)))
    }

    /// Warns that a column with a usual name for weights is not read.
    pub(super) fn unread_weight(self, names: &[String]) -> Option<Diagnostic> {
        let message = format!("column `{}` was not read", self.unread_weight_name(names)?);
        Some(Diagnostic::from(message).hint(Hint::set([WEIGHTED]).detail("to keep it")))
    }

    /// Returns the name of a column with a usual name for weights that is not read.
    pub fn unread_weight_name(self, names: &[String]) -> Option<&String> {
        let found = WEIGHT.find(names, None).ok().flatten().filter(|_| self.weight.is_none())?;
        (found != self.source && found != self.target).then(|| &names[found])
    }

    /// Returns these columns by their names in `names`.
    pub(super) fn named(self, names: &[String]) -> ColumnsTaken {
        let name = |index: usize| names.get(index).cloned().unwrap_or_default();
        ColumnsTaken::Named {
            source: name(self.source),
            target: name(self.target),
            weight: self.weight.map(name),
        }
    }

    /// Returns these columns by their positions from 1.
    pub(super) fn numbered(self) -> ColumnsTaken {
        ColumnsTaken::Positions {
            source: self.source + 1,
            target: self.target + 1,
            weight: self.weight.map(|weight| weight + 1),
        }
    }

    /// The position of the last column that is read.
    pub(super) fn last(self) -> usize {
        self.source.max(self.target).max(self.weight.unwrap_or(0))
    }
}

/// What a column holds, and its usual names.
#[derive(Debug, Clone, Copy)]
struct Role {
    name: &'static str,
    known: &'static [&'static str],
    /// The setting by which a user chooses the column.
    setting: Setting,
}

const SOURCE: Role = Role { name: "source", known: &SOURCE_NAMES, setting: SOURCE_COLUMN };
const TARGET: Role = Role { name: "target", known: &TARGET_NAMES, setting: TARGET_COLUMN };
const WEIGHT: Role = Role { name: "weight", known: &WEIGHT_NAMES, setting: WEIGHT_COLUMN };

impl Role {
    /// Finds the column that the user chose, else the one with a usual name, if any. A name with
    /// `id` or `node` after it counts only if there is none without.
    fn find(
        self,
        names: &[String],
        choice: Option<&ColumnChoice>,
    ) -> Result<Option<usize>, Diagnostic> {
        if let Some(choice) = choice {
            return Ok(Some(chosen(names, choice)?));
        }
        for spell in [usual_name, without_id] {
            for known in self.known {
                let found = indices(names, |name| spell(name) == *known);
                match found[..] {
                    [] => {}
                    [only] => return Ok(Some(only)),
                    [first, second, ..] => {
                        let message = format!(
                            "`{}` and `{}` are both known as the {}",
                            names[first], names[second], self.name
                        );
                        let choose = Hint::set([self.setting]);
                        let choose = choose.detail("with one of them, or its position");
                        return Err(Diagnostic::from(message).hint(choose));
                    }
                }
            }
        }
        Ok(None)
    }

    /// The error if there are no names, and only the other columns have positions.
    fn without_position(self) -> Diagnostic {
        let message = format!("without a header, the {} needs a position", self.name);
        let choose = Hint::set([self.setting]).detail("with the position of the column");
        Diagnostic::from(message).hint(choose)
    }
}

/// Finds the column that the user chose.
fn chosen(names: &[String], choice: &ColumnChoice) -> Result<usize, String> {
    let wanted = match choice {
        ColumnChoice::Position(position) if *position <= names.len() => return Ok(position - 1),
        ColumnChoice::Position(position) => {
            return Err(format!(
                "column {position} does not exist; the columns are {}",
                list(names)
            ));
        }
        ColumnChoice::Name(wanted) => wanted,
    };
    let mut found = indices(names, |name| name == wanted);
    if found.is_empty() {
        found = indices(names, |name| name.to_lowercase() == wanted.to_lowercase());
    }
    match found[..] {
        [only] => Ok(only),
        [] => Err(format!("column `{wanted}` does not exist; the columns are {}", list(names))),
        [first, second, ..] => Err(format!(
            "`{wanted}` may be column {} or {}; give the position instead",
            first + 1,
            second + 1
        )),
    }
}

fn unknown(roles: &[Role], names: &[String]) -> Diagnostic {
    let message =
        format!("no column is known as the {}; the columns are {}", roles[0].name, list(names));
    let settings: Vec<Setting> = roles.iter().map(|role| role.setting).collect();
    let detail = if roles.len() == 1 { "with one of them" } else { "with two of them" };
    Diagnostic::from(message).hint(Hint::set(settings).detail(detail))
}

fn list(names: &[String]) -> String {
    format!("`{}`", names.join("`, `"))
}

fn indices(names: &[String], is_meant: impl Fn(&String) -> bool) -> Vec<usize> {
    (0..names.len()).filter(|&index| is_meant(&names[index])).collect()
}

/// Returns a [`usual_name`] without what may follow the name of an end: `FromNodeId` and `from_id`
/// become `from`. A rest of one letter does not count: `uid` is not `u`.
fn without_id(name: &str) -> String {
    const SUFFIXES: [&str; 4] = ["nodeid", "vertexid", "node", "id"];
    let name = usual_name(name).replace(['_', '-', ' ', '.'], "");
    let rest = SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix));
    rest.filter(|rest| rest.len() > 1).map_or(String::new(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use tegula_store::Action;

    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    fn ends(text: &str, options: &InputOptions) -> Result<(usize, usize), Diagnostic> {
        Columns::by_name(&names(text), options).map(|columns| (columns.source, columns.target))
    }

    #[test]
    fn ends_with_usual_names_are_found_in_any_column() {
        for (text, expected) in [
            ("src,dst", (0, 1)),
            ("id,u,v", (1, 2)),
            (",u,v,length", (1, 2)),
            ("Target,note,Source", (2, 0)),
            ("FromNodeId,ToNodeId", (0, 1)),
            ("target_id,source_id", (1, 0)),
            ("source_id,source,target,target_id", (1, 2)),
            ("friend,src", (1, 0)),
            ("a,b", (0, 1)),
            ("w,a,b", (1, 2)),
        ] {
            assert_eq!(ends(text, &InputOptions::default()), Ok(expected), "{text}");
        }
        let both = [SOURCE_COLUMN, TARGET_COLUMN];
        for (text, columns) in [
            ("a,b,c", &both[..]),
            ("id,a,b", &both),
            ("uid,vid,x", &both),
            ("src,a,b", &[TARGET_COLUMN]),
            ("SRC,src,dst", &[SOURCE_COLUMN]),
            ("from_id,from_node,to", &[SOURCE_COLUMN]),
        ] {
            let refused = ends(text, &InputOptions::default()).unwrap_err();
            let actions: Vec<Action> = refused.hints.into_iter().map(|hint| hint.action).collect();
            assert_eq!(actions, [Action::Set(columns.into())], "{text}");
        }
    }

    #[test]
    fn a_chosen_name_matches_exactly_or_else_in_any_case() {
        let with = |name: &str| InputOptions {
            source_column: Some(ColumnChoice::Name(name.to_owned())),
            target_column: Some(ColumnChoice::Name("to".to_owned())),
            ..InputOptions::default()
        };
        assert_eq!(ends("X,Who,To", &with("who")), Ok((1, 2)));
        assert_eq!(ends("who,Who,To", &with("Who")), Ok((1, 2)));
        let refused = |text: &str, name: &str| ends(text, &with(name)).unwrap_err().message;
        assert!(refused("who,Who,To", "WHO").contains("column 1 or 2"));
        assert!(refused("a,b,To", "who").contains("the columns are `a`, `b`, `To`"));
    }

    #[test]
    fn no_column_is_read_twice() {
        let with = |source: &str, target: &str, weight: Option<&str>| InputOptions {
            source_column: source.parse().ok(),
            target_column: target.parse().ok(),
            weight_column: weight.and_then(|weight| weight.parse().ok()),
            weighted: weight.is_some(),
            ..InputOptions::default()
        };
        for (options, says) in [
            (with("src", "SRC", None), "column `src` would be both the source and the target"),
            (with("3", "w", None), "column `w` would be both the source and the target"),
            (with("w", "dst", Some("w")), "column `w` would be both the source and the weight"),
            (with("src", "2", Some("dst")), "column `dst` would be both the target and the weight"),
        ] {
            let refused = ends("src,dst,w", &options).unwrap_err();
            assert!(refused.message.contains(says), "{refused}");
        }
        for (options, says) in [
            (with("2", "2", None), "column 2 would be both the source and the target"),
            (with("1", "2", Some("1")), "column 1 would be both the source and the weight"),
        ] {
            let refused = Columns::by_position(&options).unwrap_err();
            assert!(refused.message.contains(says), "{refused}");
        }
        let known = InputOptions { source_column: "dst".parse().ok(), ..InputOptions::default() };
        let refused = ends("src,dst", &known).unwrap_err();
        assert!(refused.message.contains("`dst` would be both"), "{refused}");
        let choices = [SOURCE_COLUMN, TARGET_COLUMN].map(|column| Hint::set([column]));
        assert_eq!(refused.hints, choices);
    }

    #[test]
    fn digits_are_a_position_unless_they_are_quoted() {
        assert_eq!("2".parse(), Ok(ColumnChoice::Position(2)));
        assert_eq!("\"2\"".parse(), Ok(ColumnChoice::Name("2".into())));
        assert_eq!("2nd".parse(), Ok(ColumnChoice::Name("2nd".into())));
        assert!("0".parse::<ColumnChoice>().is_err());
        let options = InputOptions {
            source_column: "\"2\"".parse().ok(),
            target_column: "2".parse().ok(),
            ..InputOptions::default()
        };
        assert_eq!(ends("2,b,c", &options), Ok((0, 1)));
    }
}
