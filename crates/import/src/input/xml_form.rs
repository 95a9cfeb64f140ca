//! Which forms of XML are read.

use super::options::Format;

/// A form of XML in which graphs are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum XmlForm {
    GraphMl,
    Gexf,
}

impl XmlForm {
    const ALL: [XmlForm; 2] = [XmlForm::GraphMl, XmlForm::Gexf];

    /// The form of a file or text that begins so, if it is one of them.
    pub fn of_content(head: &[u8]) -> Option<XmlForm> {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let is_xml = text.trim_ascii_start().starts_with(b"<");
        let has_root = |form: &XmlForm| {
            let root = [b"<", form.root().as_bytes()].concat();
            memchr::memmem::find(head, &root).is_some()
        };
        XmlForm::ALL.into_iter().find(has_root).filter(|_| is_xml)
    }

    /// The format whose files have it.
    pub fn format(self) -> Format {
        match self {
            XmlForm::GraphMl => Format::GraphMl,
            XmlForm::Gexf => Format::Gexf,
        }
    }

    /// The name of the outermost element.
    pub fn root(self) -> &'static str {
        match self {
            XmlForm::GraphMl => "graphml",
            XmlForm::Gexf => "gexf",
        }
    }

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            XmlForm::GraphMl => "GraphML",
            XmlForm::Gexf => "GEXF",
        }
    }
}
