//! Hubs and authorities as a table and as a summary.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph};
use tegula_store::Diagnostic;

use crate::answer::{
    self, Answer, Columns, Convergence, Facts, Figures, List, TableRows, TotalOrder, greatest,
};
use crate::error::Result;
use crate::shared::original_ids::Name;

/// The hub and authority value of each vertex.
pub(super) struct HubsAndAuthorities {
    pub(super) hubs: Vec<f64>,
    pub(super) authorities: Vec<f64>,
    pub(super) figures: Convergence,
}

/// The summary of both values.
#[derive(Debug, Serialize)]
pub struct Summary {
    #[serde(flatten)]
    figures: Convergence,
    /// The vertices with the greatest hub values.
    top_hubs: Vec<Hub>,
    /// The vertices with the greatest authority values.
    top_authorities: Vec<Authority>,
}

/// A vertex and its hub value.
#[derive(Debug, Serialize)]
pub struct Hub {
    vertex: Name,
    hub: f64,
}

/// A vertex and its authority value.
#[derive(Debug, Serialize)]
pub struct Authority {
    vertex: Name,
    authority: f64,
}

impl Columns for HubsAndAuthorities {
    fn fields(&self, _id: DataType) -> Vec<Field> {
        ["hub", "authority"].map(|name| Field::new(name, DataType::Float64, false)).into()
    }

    fn arrays(
        &self,
        _graph: &Graph,
        rows: &TableRows<'_>,
        _cancel: &Cancel,
    ) -> Result<Vec<ArrayRef>> {
        let column = |values: &[f64]| -> ArrayRef {
            let values = rows.vertices.iter().map(|vertex| values[vertex.index()]);
            Arc::new(values.collect::<Float64Array>())
        };
        Ok(vec![column(&self.hubs), column(&self.authorities)])
    }
}

impl Answer for HubsAndAuthorities {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let greatest_of = |values: &[f64]| {
            let key = |index: usize| Some(TotalOrder(values[index]));
            let keys = |rows: &TableRows<'_>| {
                Ok(rows.vertices.iter().map(|vertex| key(vertex.index())).collect())
            };
            greatest(graph, top, keys, cancel)
        };
        let hubs = greatest_of(&self.hubs)?.into_iter();
        let authorities = greatest_of(&self.authorities)?.into_iter();
        Ok(Box::new(Summary {
            figures: self.figures,
            top_hubs: hubs.map(|(vertex, hub)| Hub { vertex, hub: hub.0 }).collect(),
            top_authorities: authorities
                .map(|(vertex, authority)| Authority { vertex, authority: authority.0 })
                .collect(),
        }))
    }

    fn warning(&self) -> Option<Diagnostic> {
        self.figures.warning()
    }
}

impl answer::Summary for Summary {
    fn facts(&self) -> Facts {
        self.figures.facts()
    }

    fn list(&self) -> List {
        let mut list = List::new(["hub vertex", "hub", "authority vertex", "authority"]);
        for (hub, authority) in self.top_hubs.iter().zip(&self.top_authorities) {
            let [hubs, authorities] = [hub.hub, authority.authority].map(answer::decimal);
            list.add([&hub.vertex, &hubs, &authority.vertex, &authorities]);
        }
        list
    }
}
