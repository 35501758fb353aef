//! What stays of a finding while the lines around it move.

use crate::config::Place;
use crate::diag::{Diagnostic, ResourceRef};
use crate::source::Sources;

/// Characters of the offending text that are kept.
const LONGEST: usize = 120;

/// A finding without its line. Two that are equal in all of this differ only in their number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Entry {
    /// The file, relative to the folder of the baseline, with `/`.
    pub path: String,
    pub rule: String,
    /// See [`Entry::resource`]; `None` where the finding is about no object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
    /// Where in the object, without the numbers of items: `spec.http[].retries.attempts`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// The beginning of what is written there, each run of blanks and line breaks made one blank.
    pub text: String,
}

impl Entry {
    pub(super) fn of(finding: &Diagnostic, sources: &Sources, place: &Place) -> Self {
        let path = &sources.get(finding.span.file).path;
        Self {
            path: place.relative(path).into_owned(),
            rule: finding.rule.to_owned(),
            resource: finding.resource.as_deref().map(Self::resource),
            field: finding.extras().field.as_deref().map(without_numbers),
            text: excerpt(offending(finding, sources)),
        }
    }

    /// `ServiceEntry/partner`: the namespace may come from elsewhere, and differ from run to run.
    pub fn resource(object: &ResourceRef) -> String {
        format!("{}/{}", object.kind, object.name.as_deref().unwrap_or(""))
    }
}

/// What is written at the place of the finding. One about an item that lacks something points at the item's first character:
/// then it is the rest of the line, which tells items apart.
fn offending<'s>(finding: &Diagnostic, sources: &'s Sources) -> &'s str {
    let span = finding.span;
    if finding.extras().absent.is_none() || span.end - span.start > 1 {
        return sources.text(span);
    }
    let rest = sources.get(span.file).text.get(span.start as usize..);
    let line = rest.unwrap_or_default().lines().next().unwrap_or_default();
    line.split(" #").next().unwrap_or(line)
}

/// `spec.http[0].route[1]` as `spec.http[].route[]`: an item that is put before the others must not make them new.
fn without_numbers(field: &str) -> String {
    let mut parts = field.split('[');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push('[');
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

fn excerpt(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if let Some((end, _)) = out.char_indices().nth(LONGEST) {
            out.truncate(end);
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_items_are_left_out() {
        let field = "spec.http[0].route[12].weight";
        assert_eq!(without_numbers(field), "spec.http[].route[].weight");
        let field = "metadata.annotations[egress-lint/ignore]";
        assert_eq!(without_numbers(field), field);
    }

    #[test]
    fn blanks_do_not_count() {
        assert_eq!(excerpt("a:\r\n      b: 0\n"), "a: b: 0");
        assert_eq!(excerpt(&"한 ".repeat(200)).chars().count(), LONGEST);
    }
}
