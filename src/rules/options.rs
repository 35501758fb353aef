//! What the configuration says under `rules.<name>` beside `level` and `ignore`.

use crate::config::{self, Value, ValueKind};
use crate::diag::{Diagnostic, Severity};

/// A rule's own options, as they are written.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    rule: &'a str,
    value: Option<&'a Value>,
}

impl<'a> Options<'a> {
    pub fn new(rule: &'a str, value: Option<&'a Value>) -> Self {
        Self { rule, value }
    }

    /// For a rule without options: a `config` diagnostic for each one that is written all the same.
    pub fn none(self) -> Result<(), Vec<Diagnostic>> {
        let Some(value) = self.value else {
            return Ok(());
        };
        let spans: Vec<_> = match &value.kind {
            ValueKind::Null => Vec::new(),
            ValueKind::Map(entries) => entries
                .iter()
                .map(|(name, _)| (name.span, format!("unknown option `{}`", name.value)))
                .collect(),
            _ => vec![(value.span, "unknown options".to_owned())],
        };
        let findings: Vec<_> = spans
            .into_iter()
            .map(|(span, what)| {
                let message = format!("{what} of the rule `{}`", self.rule);
                Diagnostic::new(config::RULE, Severity::Error, span, message)
                    .help("this rule takes only `level` and `ignore`")
            })
            .collect();
        if findings.is_empty() {
            Ok(())
        } else {
            Err(findings)
        }
    }
}
