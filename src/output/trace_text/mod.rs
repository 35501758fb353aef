//! The trace that people read: the hops of each way, the facts that matter with their lines, and what follows.

mod columns;
mod events;
mod hop;
mod matrix;

use std::io::{self, Write};

pub use self::columns::WIDEST as WIDEST_TRACE;
use self::columns::{Columns, Row};
use super::format::Options;
use crate::egress::client::Client;
use crate::egress::facts::Because;
use crate::egress::forecast::Outlook;
use crate::source::Sources;

/// Ways of one destination that differ in nothing but the client.
struct Group<'t> {
    first: &'t Outlook<'t>,
    clients: Vec<&'t Client>,
    body: String,
}

/// Writes the ways in their order. No line is wider than 100 columns.
pub fn write_paths(
    outlooks: &[Outlook<'_>],
    sources: &Sources,
    options: &Options,
    folder: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = Columns::new(sources, options, folder);
    let mut groups: Vec<Group<'_>> = Vec::new();
    for outlook in outlooks {
        let body = body(outlook, &columns);
        let client = outlook.path.hops.first().map(|hop| hop.client());
        let same = |group: &&mut Group<'_>| {
            let path = group.first.path;
            (&path.host, path.port) == (&outlook.path.host, outlook.path.port) && group.body == body
        };
        match groups.iter_mut().rev().take(64).find(same) {
            Some(group) => group.clients.extend(client),
            None => groups.push(Group {
                first: outlook,
                clients: client.into_iter().collect(),
                body,
            }),
        }
    }
    let mut preface = String::new();
    if !groups.is_empty() {
        columns.preface(&mut preface);
    }
    out.write_all(preface.as_bytes())?;
    for (at, group) in groups.iter_mut().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        group.clients.dedup();
        out.write_all(head(group, &columns).as_bytes())?;
        out.write_all(group.body.as_bytes())?;
    }
    Ok(())
}

/// Destination and clients.
fn head(group: &Group<'_>, columns: &Columns<'_>) -> String {
    let path = group.first.path;
    let mut out = String::new();
    let title = match path.host.contains(':') {
        true => format!("[{}]:{}", path.host, path.port),
        false => format!("{}:{}", path.host, path.port),
    };
    columns.title(&mut out, &title, hop::spoken(path.speaks));
    let clients: Vec<String> = group.clients.iter().map(|it| client(it)).collect();
    let because = match &path.declared {
        Some(declared) => Because::Lines([declared.host, declared.port].into_iter().collect()),
        None => Because::Default(""),
    };
    columns.row(&mut out, &Row::new("from", clients.join(", "), &because));
    if path.declared.is_none() {
        let text = format!(
            "on port {} by no ServiceEntry of these files; asked as {}",
            path.port,
            hop::spoken(path.speaks)
        );
        columns.row(&mut out, &Row::new("defined", text, &because));
    }
    for known in &group.first.known {
        let because = match known.line {
            Some(line) => Because::Lines([line].into_iter().collect()),
            None => Because::Default("built in"),
        };
        columns.row(
            &mut out,
            &Row::new(known.name, known.value.clone(), &because),
        );
    }
    out
}

fn client(client: &Client) -> String {
    let namespace = client
        .namespace()
        .unwrap_or("a namespace that no file names");
    let labels: Vec<String> = client
        .labels
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    match labels.is_empty() {
        true => namespace.to_owned(),
        false => format!("{namespace} ({})", labels.join(", ")),
    }
}

fn body(outlook: &Outlook<'_>, columns: &Columns<'_>) -> String {
    let mut out = String::new();
    for (at, hop) in outlook.path.hops.iter().enumerate() {
        hop::draw(&mut out, at, hop, columns);
    }
    if let Some(forecast) = &outlook.forecast {
        events::draw(&mut out, forecast, columns);
    }
    if let Some(matrix) = &outlook.matrix {
        matrix::draw(&mut out, matrix, columns);
    }
    out
}
