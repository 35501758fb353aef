//! STRICT and LOGICAL against L7 and L4: the field's two-by-two view of one destination.

use super::super::text::wrap::{width, wrap};
use super::super::visible::visible;
use super::columns::{Columns, Look};
use super::events;
use crate::egress::forecast::{Event, EventKind, Matrix};

const ROWS: [&str; 2] = ["L7 (HTTP)", "L4 (TLS, TCP)"];
const COLUMNS: [&str; 2] = ["DNS = STRICT_DNS", "DNS_ROUND_ROBIN = LOGICAL_DNS"];
/// Stands before the cell of the destination.
const CHOSEN: &str = "> ";
/// The columns of the left edge.
const EDGE: usize = 4;

pub(super) fn draw(out: &mut String, matrix: &Matrix, columns: &Columns<'_>) {
    columns.heading(
        out,
        "#",
        &format!("the four cells for this destination; {CHOSEN}is the one it is in"),
    );
    let cell = (columns.width() - EDGE - 3) / 2;
    for (row, name) in ROWS.iter().enumerate() {
        rule(out, cell);
        let heads: Vec<String> = COLUMNS
            .iter()
            .enumerate()
            .map(|(column, kind)| {
                let is_chosen = matrix.chosen == Some((row, column));
                let mark = if is_chosen { CHOSEN } else { "" };
                format!("{mark}{name}, {kind}")
            })
            .collect();
        let [left, right] = heads.as_slice() else {
            continue;
        };
        side_by_side(out, left, right, cell, columns, Look::Title);
        let Some([strict, logical]) = matrix.cells.get(row) else {
            continue;
        };
        for (one, other) in strict.events.iter().zip(&logical.events) {
            let said = |event: &Event| format!("{}: {}", short(event.kind), event.headline.text);
            side_by_side(out, &said(one), &said(other), cell, columns, Look::Plain);
        }
    }
    rule(out, cell);
}

fn short(kind: EventKind) -> &'static str {
    match kind {
        EventKind::PlannedSwitch => "switch",
        EventKind::AddressDies => "death",
        EventKind::DnsFails => events::question(kind),
    }
}

fn rule(out: &mut String, cell: usize) {
    let line = "-".repeat(cell);
    out.push_str(&format!("{}{line}-+-{line}\n", " ".repeat(EDGE)));
}

fn side_by_side(
    out: &mut String,
    left: &str,
    right: &str,
    cell: usize,
    columns: &Columns<'_>,
    look: Look,
) {
    let (left, right) = (
        wrap(&visible(left), cell, cell),
        wrap(&visible(right), cell, cell),
    );
    for at in 0..left.len().max(right.len()) {
        let one = left.get(at).map_or("", String::as_str);
        let other = right.get(at).map_or("", String::as_str);
        let gap = " ".repeat(cell.saturating_sub(width(one)));
        let line = format!(
            "{}{}{gap} | {}",
            " ".repeat(EDGE),
            columns.look(look, one),
            columns.look(look, other)
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
}
