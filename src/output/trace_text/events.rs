//! What follows at the three events.

use super::columns::{Columns, Look};
use crate::egress::forecast::{EventKind, Forecast};

/// The question that an event is.
pub(super) fn question(kind: EventKind) -> &'static str {
    match kind {
        EventKind::PlannedSwitch => "the GSLB moves the address, the old one still serves",
        EventKind::AddressDies => "the address dies: who rescues the request?",
        EventKind::DnsFails => "DNS fails",
    }
}

pub(super) fn draw(out: &mut String, forecast: &Forecast, columns: &Columns<'_>) {
    columns.heading(out, "=", "what follows when");
    for event in &forecast.events {
        out.push_str(&format!(
            "    {}\n",
            columns.look(Look::Name, question(event.kind))
        ));
        let evidence = event.headline.evidence.to_string();
        columns.sentence(out, "      ", &event.headline.text, Look::Title, &evidence);
        for detail in &event.details {
            columns.sentence(
                out,
                "      - ",
                &detail.text,
                Look::Plain,
                &detail.evidence.to_string(),
            );
        }
        if !event.missing.is_empty() {
            let facts: Vec<String> = event
                .missing
                .iter()
                .map(|fact| format!("`{fact}`"))
                .collect();
            let text = format!(
                "sharper with {} of the host in egress-lint.yaml",
                facts.join(", ")
            );
            columns.sentence(out, "      ? ", &text, Look::Dim, "not known");
        }
    }
}
