//! What follows for a path.

use schemars::JsonSchema;
use serde::Serialize;

use super::because::Place;
use crate::egress::forecast::{Event, EventKind, Forecast, Sentence};
use crate::source::Sources;

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Event")]
pub(super) struct JsonEvent<'t> {
    event: EventKind,
    /// The answer in one sentence.
    headline: JsonSentence<'t>,
    details: Vec<JsonSentence<'t>>,
    /// Facts of the host, as the configuration spells them, that would make this sharper.
    missing: &'t [&'static str],
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Sentence")]
struct JsonSentence<'t> {
    text: &'t str,
    /// `measured E1`, `source` or `inferred`.
    evidence: String,
    because: Vec<Place>,
}

pub(super) fn events<'t>(forecast: &'t Forecast, sources: &Sources) -> Vec<JsonEvent<'t>> {
    let event = |event: &'t Event| JsonEvent {
        event: event.kind,
        headline: sentence(&event.headline, sources),
        details: event
            .details
            .iter()
            .map(|it| sentence(it, sources))
            .collect(),
        missing: &event.missing,
    };
    forecast.events.iter().map(event).collect()
}

fn sentence<'t>(said: &'t Sentence, sources: &Sources) -> JsonSentence<'t> {
    JsonSentence {
        text: &said.text,
        evidence: said.evidence.to_string(),
        because: said
            .because
            .iter()
            .map(|&span| Place::of(span, sources))
            .collect(),
    }
}
