//! Which lines made which fact.

use schemars::JsonSchema;
use serde::Serialize;

use crate::egress::facts::{Because, Traced};
use crate::output::visible::sentence;
use crate::source::{Position, Sources, Span};

/// A line that made a fact, or what holds without one.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Because")]
pub(super) struct JsonBecause {
    /// The path of the fact in the result; `clusters[0].type` is a fact of the cluster of that place.
    fact: String,
    /// Null where no line says it.
    path: Option<String>,
    start: Option<Position>,
    end: Option<Position>,
    /// What stands there, or the default that holds.
    text: String,
}

/// A range of a file.
#[derive(Serialize, JsonSchema)]
pub(super) struct Place {
    path: String,
    start: Position,
    end: Position,
}

impl Place {
    pub(super) fn of(span: Span, sources: &Sources) -> Self {
        Self {
            path: sources.get(span.file).path.clone(),
            start: sources.start(span),
            end: sources.end(span),
        }
    }
}

/// As much of a line as is shown.
const LONGEST: usize = 160;

/// Collects reasons while facts are written down.
pub(super) struct Reasons<'s> {
    sources: &'s Sources,
    list: Vec<JsonBecause>,
}

impl<'s> Reasons<'s> {
    pub(super) fn new(sources: &'s Sources) -> Self {
        Self {
            sources,
            list: Vec::new(),
        }
    }

    pub(super) fn into_list(self) -> Vec<JsonBecause> {
        self.list
    }

    /// Notes why a fact is what it is, and gives its value.
    pub(super) fn take<'v, T>(&mut self, fact: &str, value: &'v Traced<T>) -> &'v T {
        match &value.because {
            Because::Lines(spans) => {
                for span in spans {
                    self.line(fact, *span);
                }
            }
            Because::Default(reason) if !reason.is_empty() => self.list.push(JsonBecause {
                fact: fact.to_owned(),
                path: None,
                start: None,
                end: None,
                text: (*reason).to_owned(),
            }),
            Because::Default(_) => {}
        }
        &value.value
    }

    /// The same of a fact that may be absent.
    pub(super) fn maybe<'v, T>(
        &mut self,
        fact: &str,
        value: &'v Option<Traced<T>>,
    ) -> Option<&'v T> {
        value.as_ref().map(|value| self.take(fact, value))
    }

    /// Notes a line.
    pub(super) fn line(&mut self, fact: &str, span: Span) {
        let file = self.sources.get(span.file);
        let start = self.sources.start(span);
        let line = (start.line as usize).saturating_sub(1);
        let text = file.text.get(file.line_range(line)).unwrap_or_default();
        let text: String = text.trim().chars().take(LONGEST).collect();
        self.list.push(JsonBecause {
            fact: fact.to_owned(),
            path: Some(file.path.clone()),
            start: Some(start),
            end: Some(self.sources.end(span)),
            text: sentence(&text).into_owned(),
        });
    }
}
