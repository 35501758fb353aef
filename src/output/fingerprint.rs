//! What identifies a finding while lines move: its rule, its file, its object and field, and the text it is about.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::diag::Diagnostic;
use crate::source::{Sources, Span};

/// Gives each finding of a run a fingerprint of its own.
#[derive(Default)]
pub(super) struct Fingerprints {
    seen: HashMap<u64, u32>,
}

impl Fingerprints {
    /// 32 hexadecimal digits. Findings that are otherwise alike are told apart by their order.
    pub(super) fn of(&mut self, finding: &Diagnostic, sources: &Sources) -> String {
        let mut hash = Fnv::default();
        hash.add(finding.rule);
        hash.add(&sources.get(finding.span.file).path);
        match (&finding.resource, &finding.extras().field) {
            (Some(resource), Some(field)) => {
                hash.add(resource.kind);
                hash.add(resource.namespace.as_deref().unwrap_or(""));
                hash.add(resource.name.as_deref().unwrap_or(""));
                hash.add(field);
            }
            _ => hash.add(line(finding.span, sources)),
        }
        hash.add(excerpt(sources.text(finding.span)));
        let nth = self.seen.entry(hash.0).or_default();
        *nth += 1;
        let mut out = String::with_capacity(32);
        let _ = write!(out, "{:016x}{nth:016x}", hash.0);
        out
    }
}

/// The beginning of the line, without its indentation.
fn line(span: Span, sources: &Sources) -> &str {
    let file = sources.get(span.file);
    let range = file.line_range(file.position(span.start).line as usize - 1);
    excerpt(file.text.get(range).unwrap_or("").trim())
}

fn excerpt(text: &str) -> &str {
    let end = (0..=text.len().min(256))
        .rev()
        .find(|&at| text.is_char_boundary(at));
    text.get(..end.unwrap_or(0)).unwrap_or("")
}

/// FNV-1a: the same on every machine and in every version of Rust.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}
