//! Checks the numbers of nodes and edges that elements declare against those that they have.

use tegula_store::Diagnostic;

use super::document::Element;

/// The numbers of nodes and edges that an element declares.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub nodes: Option<u64>,
    pub edges: Option<u64>,
}

impl Counts {
    /// Parses the number in the attribute `name`, if it is present.
    pub fn number(name: &str, text: Option<&str>) -> Result<Option<u64>, Diagnostic> {
        let number = |text: &str| {
            let refuse = |_| format!("`{name}` is `{}`, not a number", text.escape_debug()).into();
            text.trim().parse().map_err(refuse)
        };
        text.map(number).transpose()
    }
}

/// Counts items of one kind within the elements that declare how many they have.
pub(super) struct ItemCounter {
    /// The plural of the items' name.
    items: &'static str,
    /// The open elements that declare a number, outermost first: at most one at each depth.
    open: Vec<Open>,
}

struct Open {
    element: String,
    depth: usize,
    line: u64,
    declared: u64,
    /// Items that begin directly in the element.
    direct: u64,
    /// Items that begin in the element or anywhere below it.
    all: u64,
}

impl ItemCounter {
    pub fn new(items: &'static str) -> ItemCounter {
        ItemCounter { items, open: Vec::new() }
    }

    /// Begins an element, which may declare how many items it has.
    pub fn begin(&mut self, element: &Element<'_>, declared: Option<u64>) {
        let open = declared.map(|declared| Open {
            element: element.name().to_owned(),
            depth: element.depth,
            line: element.line,
            declared,
            direct: 0,
            all: 0,
        });
        self.open.extend(open);
    }

    /// Counts an item that begins at this depth.
    pub fn add(&mut self, depth: usize) {
        for open in &mut self.open {
            open.all += 1;
            open.direct += u64::from(open.depth + 1 == depth);
        }
    }

    /// Ends the element at this depth. The declared number may or may not include items within
    /// items.
    ///
    /// # Errors
    /// The line of the element, if it has another number of items than it declares.
    pub fn end(&mut self, depth: usize) -> Result<(), (u64, Diagnostic)> {
        let Some(ended) = self.open.pop_if(|open| open.depth == depth) else { return Ok(()) };
        let Open { element, line, declared, direct, all, .. } = ended;
        if declared == direct || declared == all {
            return Ok(());
        }
        let items = self.items;
        let problem = format!("`{element}` declares {declared} {items} but has {all}");
        Err((line, problem.into()))
    }
}
