//! The forms of XML that are read.

use super::format::Format;

/// A form of XML for graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XmlForm {
    /// GraphML.
    GraphMl,
    /// GEXF.
    Gexf,
}

impl XmlForm {
    const ALL: [XmlForm; 2] = [XmlForm::GraphMl, XmlForm::Gexf];

    /// Finds the form of a file or text from its first bytes.
    pub fn of_content(head: &[u8]) -> Option<XmlForm> {
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let is_xml = text.trim_ascii_start().starts_with(b"<");
        let has_root = |form: &XmlForm| {
            // A declaration, comments and a document type may stand before the root.
            let root = [b"<", form.root().as_bytes()].concat();
            memchr::memmem::find(head, &root).is_some()
        };
        XmlForm::ALL.into_iter().find(has_root).filter(|_| is_xml)
    }

    /// The format of files in this form.
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

    /// The name for messages.
    pub fn name(self) -> &'static str {
        match self {
            XmlForm::GraphMl => "GraphML",
            XmlForm::Gexf => "GEXF",
        }
    }
}
