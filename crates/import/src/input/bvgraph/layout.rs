//! What the properties of a BVGraph say.

use std::path::{Path, PathBuf};

use tegula_store::{Diagnostic, Hint, Result};
use tegula_tables::read::{Properties, RepeatedKey, bad_file};

use super::super::options::InputOptions;
use super::super::preamble::Preamble;
use super::bits::Code;
use crate::settings::WEIGHTED;

/// How the adjacency lists of a graph are coded.
#[derive(Debug)]
pub(in super::super) struct Layout {
    /// The number of vertices; ids are below it.
    pub(super) vertices: u64,
    pub(super) arcs: u64,
    /// How many vertices back a list may refer to another list.
    pub(super) window: u64,
    /// The shortest interval of consecutive ids; if 0, there are no intervals.
    pub(super) interval_min: u64,
    pub(super) codes: Codes,
    /// The declared number of bits of all lists, if any.
    pub(super) bits: Option<u64>,
    /// The most neighbours that may be held at once.
    pub(super) neighbours_max: u64,
}

/// The codes of the numbers of a list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Codes {
    /// The number of neighbours.
    pub outdegree: Code,
    /// How many vertices back the reference is, the list from which neighbours are copied.
    pub reference: Code,
    /// The number of copy blocks in the reference, and their lengths.
    pub block: Code,
    /// The number of intervals of ids, their starts and their lengths.
    pub interval: Code,
    /// All other neighbours.
    pub residual: Code,
}

/// The largest window that is read, because each place in it holds a list.
const WINDOW_MAX: u64 = 1 << 12;

impl Layout {
    /// The lists that are held may take one part in `MEMORY_SHARE` of the readers' memory.
    pub(super) const MEMORY_SHARE: u64 = 4;
    /// Bytes of a neighbour in the lists that are held.
    pub(super) const NEIGHBOUR_BYTES: u64 = size_of::<u64>() as u64;

    /// The path of the lists that a file of properties describes.
    pub fn lists_of(properties: &Path) -> PathBuf {
        properties.with_extension("graph")
    }

    /// Reads the layout of a file of `bytes` bytes from the properties beside it.
    pub fn of(path: &Path, bytes: u64, options: &InputOptions) -> Result<Layout> {
        let beside = Properties::path_of(path);
        if !beside.exists() {
            let name = beside.display();
            return Err(bad_file(
                path,
                format!(
                    "a BVGraph has its properties in the same folder, but {name} does not exist"
                ),
            ));
        }
        let layout = PropertyReader(&Properties::read(&beside)?).layout(options);
        let layout = layout.map_err(|problem| bad_file(&beside, problem))?;
        // A list takes at least one bit.
        let bits = u128::from(bytes) * 8;
        if u128::from(layout.vertices) > bits
            || layout.bits.is_some_and(|told| u128::from(told) > bits)
        {
            let vertices = layout.vertices;
            let problem = format!(
                "it is cut off, or its properties belong to another file: {bits} bits for {vertices} lists"
            );
            return Err(bad_file(path, problem));
        }
        if options.weighted {
            let problem = Diagnostic::from("its edges have no weights");
            return Err(bad_file(path, problem.hint(Hint::leave_out(WEIGHTED.option))));
        }
        Ok(layout)
    }

    /// What the properties say about the graph.
    pub fn preamble(&self) -> Preamble {
        Preamble {
            vertices: Some(0..self.vertices),
            edges: vec![self.arcs],
            undirected: Some(false),
            ..Preamble::default()
        }
    }
}

/// Interprets properties.
struct PropertyReader<'a>(&'a Properties);

impl PropertyReader<'_> {
    fn layout(&self, options: &InputOptions) -> Result<Layout, String> {
        let class = self.value("graphclass")?.unwrap_or_default();
        if !class.ends_with("webgraph.BVGraph") {
            return Err(format!(
                "only WebGraph graphs of class BVGraph are read, not `{}`",
                class.escape_debug()
            ));
        }
        if self.value("endianness")?.is_some_and(|order| order != "big") {
            return Err("only big-endian BVGraphs are read; write it as one".to_owned());
        }
        // This default and those below are WebGraph's own.
        let window = self.number("windowsize")?.unwrap_or(7);
        if window > WINDOW_MAX {
            return Err(format!("windowsize is {window}; up to {WINDOW_MAX} is supported"));
        }
        let required =
            |name| self.number(name)?.ok_or_else(|| format!("the line `{name}=..` is missing"));
        Ok(Layout {
            vertices: required("nodes")?,
            arcs: required("arcs")?,
            window,
            interval_min: self.number("minintervallength")?.unwrap_or(4),
            codes: self.codes()?,
            bits: self.number("length")?,
            neighbours_max: options.memory / Layout::MEMORY_SHARE / Layout::NEIGHBOUR_BYTES,
        })
    }

    fn value(&self, name: &str) -> Result<Option<&str>, String> {
        let several = |RepeatedKey| format!("it has several lines `{name}=..`");
        self.0.only(|key| key == name).map_err(several)
    }

    fn number(&self, name: &str) -> Result<Option<u64>, String> {
        let number = |text: &str| {
            text.parse().map_err(|_| format!("{name} is `{}`, not a number", text.escape_debug()))
        };
        self.value(name)?.map(number).transpose()
    }

    /// The codes that flags such as `RESIDUALS_GAMMA|REFERENCES_UNARY` name, else the usual ones.
    fn codes(&self) -> Result<Codes, String> {
        let zeta = self.number("zetak")?.unwrap_or(3);
        let zeta = u32::try_from(zeta).ok().filter(|step| (1..=16).contains(step));
        let zeta = Code::Zeta(zeta.ok_or("zetak must be from 1 to 16")?);
        let mut codes = Codes {
            outdegree: Code::Gamma,
            reference: Code::Unary,
            block: Code::Gamma,
            interval: Code::Gamma,
            residual: zeta,
        };
        let flags = self.value("compressionflags")?.unwrap_or_default();
        for flag in flags.split('|').map(str::trim).filter(|flag| !flag.is_empty()) {
            let unknown = || format!("the code `{}` is not supported", flag.escape_debug());
            let (what, name) = flag.rsplit_once('_').ok_or_else(unknown)?;
            let code = match name {
                "UNARY" => Code::Unary,
                "GAMMA" => Code::Gamma,
                "DELTA" => Code::Delta,
                "ZETA" => zeta,
                _ => {
                    let step = name.strip_prefix("ZETA").and_then(|step| step.parse().ok());
                    Code::Zeta(step.filter(|step| (1..=16).contains(step)).ok_or_else(unknown)?)
                }
            };
            match what {
                "OUTDEGREES" => codes.outdegree = code,
                "REFERENCES" => codes.reference = code,
                "INTERVALS" => codes.interval = code,
                "RESIDUALS" => codes.residual = code,
                // Some writers mean only the lengths of blocks, others their number too.
                "BLOCKS" | "BLOCK_COUNT" if code == Code::Gamma => {}
                // The file of offsets is not read.
                "OFFSETS" => {}
                _ => return Err(unknown()),
            }
        }
        Ok(codes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROPERTIES: &str = "#BVGraph properties\ngraphclass=it.unimi.dsi.webgraph.BVGraph\nversion=0\nnodes=5\narcs=7\n";

    fn layout(more: &str) -> Result<Layout, String> {
        PropertyReader(&Properties::parse(&format!("{PROPERTIES}{more}")))
            .layout(&InputOptions::default())
    }

    #[test]
    fn missing_properties_have_the_usual_values() {
        let usual = layout("").unwrap();
        assert_eq!((usual.vertices, usual.arcs, usual.window, usual.interval_min), (5, 7, 7, 4));
        assert_eq!((usual.codes.residual, usual.bits), (Code::Zeta(3), None));
        let told = "zetak=5\nwindowsize = 0\nlength=40\n\
                    compressionflags=OUTDEGREES_DELTA|REFERENCES_GAMMA|BLOCKS_GAMMA|INTERVALS_ZETA4\n";
        let told = layout(told).unwrap();
        assert_eq!((told.window, told.bits, told.codes.residual), (0, Some(40), Code::Zeta(5)));
        assert_eq!((told.codes.outdegree, told.codes.reference), (Code::Delta, Code::Gamma));
        assert_eq!(told.codes.interval, Code::Zeta(4));
    }

    #[test]
    fn unreadable_properties_are_refused_by_name() {
        for (more, says) in [
            ("nodes=6\n", "several lines `nodes"),
            ("windowsize=x\n", "windowsize is `x`"),
            ("windowsize=5000\n", "up to 4096"),
            ("zetak=0\n", "zetak"),
            ("endianness=little\n", "big-endian"),
            ("compressionflags=RESIDUALS_NIBBLE\n", "RESIDUALS_NIBBLE"),
            ("compressionflags=BLOCKS_DELTA\n", "BLOCKS_DELTA"),
            ("compressionflags=LABELS_GAMMA\n", "LABELS_GAMMA"),
        ] {
            let told = layout(more).expect_err(more);
            assert!(told.contains(says), "{told}");
        }
        let class = PROPERTIES.replace("BVGraph\nversion", "EFGraph\nversion");
        let told = PropertyReader(&Properties::parse(&class)).layout(&InputOptions::default());
        assert!(told.is_err_and(|told| told.contains("EFGraph")));
    }
}
