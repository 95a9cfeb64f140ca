//! Tables with a row for each edge: Parquet files, and tables that are in no file.

mod batch;
mod given;
pub(super) mod parquet;

use arrow_schema::{Schema, SchemaRef};
use tegula_store::{Diagnostic, Hint};
use tegula_tables::read::parquet::is_string;

use super::columns::{Columns, ColumnsTaken};
use super::options::{IdKind, InputOptions};
use crate::settings::IDS_STRING;
use batch::Batch;
pub use given::EdgeTables;
pub(super) use given::{Given, GivenReader};

/// The columns of a table that are read as edges.
#[derive(Debug)]
pub(super) struct TableColumns {
    schema: SchemaRef,
    columns: Columns,
    taken: ColumnsTaken,
    remarks: Vec<Diagnostic>,
    ids: IdKind,
}

impl TableColumns {
    /// Finds the columns by their names.
    ///
    /// # Errors
    /// The column that is missing, or has the wrong type.
    pub fn find(schema: &SchemaRef, options: &InputOptions) -> Result<TableColumns, Diagnostic> {
        let names = names(schema);
        let columns = Columns::by_name(&names, options)?;
        let remarks = columns.unread_weight(&names).into_iter().collect();
        Ok(TableColumns { remarks, ..TableColumns::chosen(schema, columns)? })
    }

    /// Takes the columns that were chosen.
    ///
    /// # Errors
    /// The column that has the wrong type.
    pub fn chosen(schema: &SchemaRef, columns: Columns) -> Result<TableColumns, Diagnostic> {
        let schema = SchemaRef::clone(schema);
        let taken = columns.named(&names(&schema));
        let mut chosen =
            TableColumns { schema, columns, taken, remarks: Vec::new(), ids: IdKind::Integer };
        chosen.check_types(&chosen.schema)?;
        if chosen.ends().iter().any(|&end| is_string(chosen.schema.field(end).data_type())) {
            chosen.ids = IdKind::String;
        }
        Ok(chosen)
    }

    /// The columns that are read.
    pub fn taken(&self) -> &ColumnsTaken {
        &self.taken
    }

    /// What a user should know about how the table is read.
    pub fn remarks(&self) -> &[Diagnostic] {
        &self.remarks
    }

    /// What the ids are, according to the types of their columns.
    pub fn ids(&self) -> IdKind {
        self.ids
    }

    /// The positions of the columns that are read, ascending.
    fn roots(&self) -> Vec<usize> {
        let mut roots: Vec<usize> = self.ends().into_iter().chain(self.columns.weight).collect();
        roots.sort_unstable();
        roots
    }

    /// Refuses ids that are neither integers nor strings, and weights that are no numbers.
    fn check_types(&self, schema: &Schema) -> Result<(), Diagnostic> {
        for end in self.ends() {
            let (name, kind) = (self.name(end), schema.field(end).data_type());
            if !is_string(kind) && !kind.is_integer() {
                let hint =
                    if kind.is_floating() { "; write it with a type of integers" } else { "" };
                let problem =
                    format!("column `{name}` is {kind}; ids are integers or strings{hint}");
                return Err(problem.into());
            }
        }
        if let Some(weight) = self.columns.weight {
            let (name, kind) = (self.name(weight), schema.field(weight).data_type());
            if !kind.is_numeric() {
                return Err(format!("column `{name}` is {kind}; weights are numbers").into());
            }
        }
        Ok(())
    }

    /// Refuses a later table that has other columns, or strings where ids are integers.
    fn check_alike(&self, schema: &Schema, are_strings: bool) -> Result<(), Diagnostic> {
        let (here, wanted) = (names(schema), names(&self.schema));
        if here != wanted {
            let (here, wanted) = (here.join("`, `"), wanted.join("`, `"));
            let problem =
                format!("this table has the columns `{here}`, but the first one has `{wanted}`");
            return Err(problem.into());
        }
        self.check_types(schema)?;
        let is_other = |&end: &usize| is_string(schema.field(end).data_type());
        match self.ends().into_iter().find(is_other).filter(|_| !are_strings) {
            None => Ok(()),
            Some(end) => {
                let (name, kind) = (self.name(end), schema.field(end).data_type());
                let problem =
                    format!("column `{name}` is {kind}; ids of the first table are integers");
                Err(Diagnostic::from(problem).hint(Hint::set([IDS_STRING])))
            }
        }
    }

    fn ends(&self) -> [usize; 2] {
        [self.columns.source, self.columns.target]
    }

    fn name(&self, column: usize) -> &str {
        self.schema.field(column).name()
    }
}

/// Returns the names of the columns.
fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}
