//! What was measured, beside what is said of it.

use std::fmt;

/// One thing that was measured.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) what: String,
    /// What the pages of the rules and `trace` say.
    pub(crate) said: String,
    pub(crate) measured: String,
    pub(crate) holds: bool,
}

impl Row {
    pub(crate) fn new(
        what: impl Into<String>,
        said: impl Into<String>,
        measured: impl Into<String>,
        holds: bool,
    ) -> Self {
        Self {
            what: what.into(),
            said: said.into(),
            measured: measured.into(),
            holds,
        }
    }

    /// Something that must be measured as it is said.
    pub(crate) fn same(
        what: impl Into<String>,
        said: impl Into<String>,
        measured: impl Into<String>,
    ) -> Self {
        let (said, measured) = (said.into(), measured.into());
        let holds = said == measured;
        Self::new(what, said, measured, holds)
    }
}

/// One experiment on one Envoy.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// Such as `1.38.3`.
    pub(crate) envoy: String,
    pub(crate) rows: anyhow::Result<Vec<Row>>,
}

impl Section {
    pub(crate) fn holds(&self) -> bool {
        let rows = self.rows.as_ref();
        rows.is_ok_and(|rows| !rows.is_empty() && rows.iter().all(|row| row.holds))
    }
}

/// As Markdown.
impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "## {}, Envoy {}\n", self.title, self.envoy)?;
        let rows = match &self.rows {
            Ok(rows) => rows,
            Err(error) => return writeln!(f, "**failed**: {error:#}"),
        };
        writeln!(f, "| | said | measured | |\n|---|---|---|---|")?;
        for row in rows {
            let mark = if row.holds { "" } else { "**differs**" };
            let Row {
                what,
                said,
                measured,
                ..
            } = row;
            writeln!(f, "| {what} | {said} | {measured} | {mark} |")?;
        }
        Ok(())
    }
}
