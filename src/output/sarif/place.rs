//! Where a finding stands: in a file, and in an object.

use std::fmt::Write as _;

use serde::Serialize;

use super::Text;
use crate::diag::{Diagnostic, Label};
use crate::output::visible;
use crate::source::{FileId, Sources, Span};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) logical_locations: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    artifact_location: Artifact,
    region: Region,
}

#[derive(Serialize)]
pub(super) struct Artifact {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LogicalLocation {
    fully_qualified_name: String,
    kind: &'static str,
}

impl Location {
    pub(super) fn new(span: Span, sources: &Sources) -> Self {
        Self {
            id: None,
            physical_location: PhysicalLocation {
                artifact_location: Artifact::new(span.file, sources),
                region: Region::new(span, sources),
            },
            logical_locations: Vec::new(),
            message: None,
        }
    }

    /// That of a label, which is one of several and so has a number.
    pub(super) fn of(label: &Label, number: usize, sources: &Sources) -> Self {
        Self {
            id: Some(number),
            message: Some(Text {
                text: visible::sentence(&label.message).into_owned(),
            }),
            ..Self::new(label.span, sources)
        }
    }
}

impl LogicalLocation {
    pub(super) fn new(finding: &Diagnostic) -> Option<Self> {
        let resource = finding.resource.as_ref()?;
        let namespace = resource
            .namespace
            .as_ref()
            .map_or(String::new(), |name| format!("{name}/"));
        let name = resource.name.as_deref().unwrap_or("");
        let field = finding
            .extras()
            .field
            .as_ref()
            .map_or(String::new(), |field| format!(" {field}"));
        Some(Self {
            fully_qualified_name: format!("{} {namespace}{name}{field}", resource.kind),
            kind: "resource",
        })
    }
}

impl Region {
    pub(super) fn new(span: Span, sources: &Sources) -> Self {
        let (start, end) = (sources.start(span), sources.end(span));
        Self {
            start_line: start.line,
            start_column: start.column,
            end_line: end.line,
            end_column: end.column,
        }
    }
}

impl Artifact {
    pub(super) fn new(file: FileId, sources: &Sources) -> Self {
        let mut uri = String::new();
        for byte in sources.get(file).path.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                    uri.push(char::from(byte))
                }
                _ => {
                    let _ = write!(uri, "%{byte:02X}");
                }
            }
        }
        Self { uri }
    }
}
