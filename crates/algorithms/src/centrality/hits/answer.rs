//! Hubs and authorities as a table and as a summary.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{DataType, Field};
use serde::Serialize;
use tegula_engine::{Cancel, Graph};
use tegula_store::Diagnostic;

use super::values::HubAndAuthority;
use crate::answer::{
    self, Answer, Columns, Convergence, Facts, Figures, List, TableRows, TotalOrder, Values,
    greatest,
};
use crate::error::Result;
use crate::shared::original_ids::Name;

/// The hub and authority value of each vertex.
pub(super) struct HubsAndAuthorities {
    pub(super) values: Found,
    pub(super) figures: Convergence,
}

/// The values as a method has left them.
pub(super) enum Found {
    /// By dense id.
    AlongRows {
        hubs: Vec<f64>,
        authorities: Vec<f64>,
    },
    InPasses(Values<HubAndAuthority>),
}

impl Found {
    /// Returns the hub values of some rows.
    fn hubs(&self, rows: &TableRows<'_>) -> Result<Vec<f64>> {
        match self {
            Found::AlongRows { hubs, .. } => Ok(of_rows(hubs, rows)),
            Found::InPasses(values) => {
                Ok(values.at(rows)?.into_iter().map(|value| value.hub).collect())
            }
        }
    }

    /// Returns the authority values of some rows.
    fn authorities(&self, rows: &TableRows<'_>) -> Result<Vec<f64>> {
        match self {
            Found::AlongRows { authorities, .. } => Ok(of_rows(authorities, rows)),
            Found::InPasses(values) => {
                Ok(values.at(rows)?.into_iter().map(|value| value.authority).collect())
            }
        }
    }
}

fn of_rows(values: &[f64], rows: &TableRows<'_>) -> Vec<f64> {
    rows.vertices.iter().map(|vertex| values[vertex.index()]).collect()
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
        let column = |values: Vec<f64>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
        Ok(vec![column(self.values.hubs(rows)?), column(self.values.authorities(rows)?)])
    }
}

impl Answer for HubsAndAuthorities {
    fn summary(
        &self,
        graph: &Graph,
        top: usize,
        cancel: &Cancel,
    ) -> Result<Box<dyn answer::Summary>> {
        let keys = |values: Vec<f64>| values.into_iter().map(|value| Some(TotalOrder(value)));
        let of_hubs = |rows: &TableRows<'_>| Ok(keys(self.values.hubs(rows)?).collect());
        let of_authorities =
            |rows: &TableRows<'_>| Ok(keys(self.values.authorities(rows)?).collect());
        let hubs = greatest(graph, top, of_hubs, cancel)?.into_iter();
        let authorities = greatest(graph, top, of_authorities, cancel)?.into_iter();
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
