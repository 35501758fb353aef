//! The file of a baseline: JSON, sorted, one finding a line, so that its history can be read and branches seldom meet in it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Entry;
use crate::config;
use crate::diag::{Diagnostic, Severity};
use crate::source::{FileId, Spanned};

/// The version of the format.
const VERSION: u32 = 1;

/// The findings that were there when the baseline was written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "egress-lint baseline")]
struct File {
    /// The version of this format: 1.
    #[schemars(extend("const" = 1))]
    schema: Spanned<u32>,
    /// Ordered by path, rule, resource, field and text.
    findings: Vec<Finding>,
}

/// Findings that differ in nothing but their lines.
// As they are read: beside a flattened `Entry` serde would not refuse unknown keys.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Finding {
    /// The file, relative to the folder of the baseline, with `/`.
    path: String,
    rule: String,
    /// The kind and the name of the object: `ServiceEntry/partner`. Left out where the finding is about no object.
    resource: Option<String>,
    /// Where in the object, without the numbers of items: `spec.http[].retries.attempts`.
    field: Option<String>,
    /// The beginning of what is written there, each run of blanks and line breaks made one blank.
    text: String,
    /// How many there are; 1 if left out.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    count: usize,
}

impl From<Finding> for Entry {
    fn from(read: Finding) -> Self {
        Self {
            path: read.path,
            rule: read.rule,
            resource: read.resource,
            field: read.field,
            text: read.text,
        }
    }
}

/// The same, as they are written.
#[derive(Serialize)]
struct Line<'e> {
    #[serde(flatten)]
    entry: &'e Entry,
    #[serde(skip_serializing_if = "is_one")]
    count: usize,
}

fn one() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_one(count: &usize) -> bool {
    *count == 1
}

/// JSON Schema of the file.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(File).to_value()
}

/// Reads the text of a baseline.
///
/// # Errors
/// What is wrong with it; then nothing of it counts.
pub(super) fn parse(file: FileId, text: &str) -> Result<BTreeMap<Entry, usize>, Vec<Diagnostic>> {
    let told = |mut finding: Diagnostic| {
        finding.help.get_or_insert(HELP.into());
        finding
    };
    let all = |findings: Vec<_>| findings.into_iter().map(told).collect::<Vec<_>>();
    let value = config::document(file, text, "a baseline").map_err(all)?;
    let Some(value) = value else {
        return Ok(BTreeMap::new());
    };
    let read: File =
        config::read(&value).map_err(|fault| all(vec![fault.diagnostic(value.span)]))?;
    if read.schema.value != VERSION {
        let message = format!(
            "version {} of the format is not known here, but {VERSION}",
            read.schema.value
        );
        let finding = Diagnostic::new(config::RULE, Severity::Error, read.schema.span, message);
        return Err(all(vec![finding]));
    }
    let mut entries = BTreeMap::new();
    for finding in read.findings {
        let count = finding.count;
        let sum: &mut usize = entries.entry(finding.into()).or_default();
        *sum = sum.saturating_add(count);
    }
    Ok(entries)
}

const HELP: &str = "settle it by hand, or remove the file and let `--write-baseline` make it anew";

/// Writes it, the same for the same findings.
pub(super) fn render(entries: &BTreeMap<Entry, usize>) -> serde_json::Result<String> {
    let mut lines = Vec::with_capacity(entries.len());
    for (entry, &count) in entries {
        let line = Line { entry, count };
        lines.push(format!("\n    {}", serde_json::to_string(&line)?));
    }
    let end = if lines.is_empty() { "" } else { "\n  " };
    Ok(format!(
        "{{\n  \"schema\": {VERSION},\n  \"findings\": [{}{end}]\n}}\n",
        lines.join(",")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, field: Option<&str>) -> Entry {
        Entry {
            path: path.to_owned(),
            rule: "retries-disabled".to_owned(),
            resource: field.map(|_| "VirtualService/bank".to_owned()),
            field: field.map(str::to_owned),
            text: "attempts: \"0\"".to_owned(),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let entries = BTreeMap::from([
            (entry("b.yaml", None), 3),
            (entry("a.yaml", Some("spec.http[].retries")), 1),
        ]);
        let text = render(&entries).unwrap();
        assert_eq!(
            text,
            r#"{
  "schema": 1,
  "findings": [
    {"path":"a.yaml","rule":"retries-disabled","resource":"VirtualService/bank","field":"spec.http[].retries","text":"attempts: \"0\""},
    {"path":"b.yaml","rule":"retries-disabled","text":"attempts: \"0\"","count":3}
  ]
}
"#
        );
        assert_eq!(parse(FileId(0), &text).unwrap(), entries);
        let none = render(&BTreeMap::new()).unwrap();
        assert_eq!(none, "{\n  \"schema\": 1,\n  \"findings\": []\n}\n");
        assert!(parse(FileId(0), &none).unwrap().is_empty());
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, place, message) in [
            (
                "{\"schema\": 2, \"findings\": []}",
                "2",
                "version 2 of the format is not known here, but 1",
            ),
            (
                "{\"schema\": 1, \"findings\": [{\"path\": \"a\", \"rule\": \"b\", \"txt\": \"c\"}]}",
                "\"txt\"",
                "unknown option `txt`",
            ),
            (
                "{\"schema\": 1, \"findings\": 7}",
                "7",
                "a sequence is expected, not integer `7`",
            ),
        ] {
            let findings = parse(FileId(0), text).unwrap_err();
            assert_eq!(findings.len(), 1);
            let span = findings[0].span;
            assert_eq!(&text[span.start as usize..span.end as usize], place);
            assert_eq!(&*findings[0].message, message);
            assert!(findings[0].help.is_some());
        }
        let conflict = "{\n<<<<<<< ours\n  \"schema\": 1,\n=======\n>>>>>>> theirs\n";
        assert!(!parse(FileId(0), conflict).unwrap_err().is_empty());
    }
}
