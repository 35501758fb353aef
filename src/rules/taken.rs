//! What the routes before one have taken.

use std::collections::BTreeSet;

use foldhash::HashMap;

use super::asked::{Asked, Conditions};
use crate::istio::route::StringMatch;
use crate::source::Span;

/// The paths that are taken, by all other conditions.
#[derive(Debug, Default)]
pub(super) struct Taken<'v>(HashMap<Conditions, Paths<'v>>);

impl<'v> Taken<'v> {
    /// The line of what takes all that is asked for: under the same conditions, or under none.
    pub(super) fn taker(&self, asked: &Asked<'_>) -> Option<Span> {
        let under = |conditions: &Conditions| self.0.get(conditions)?.taker(asked.path);
        under(&asked.conditions).or_else(|| under(&Conditions::new()))
    }

    /// Adds those of which that holds.
    pub(super) fn extend(&mut self, asked: Vec<Asked<'v>>, holds: impl Fn(&Asked<'_>) -> bool) {
        for it in asked.into_iter().filter(holds) {
            self.0
                .entry(it.conditions)
                .or_default()
                .add(it.path, it.line);
        }
    }
}

/// The paths that are taken already, and by what.
#[derive(Debug, Default)]
struct Paths<'v> {
    all: Option<Span>,
    exact: HashMap<&'v str, Span>,
    prefix: HashMap<&'v str, Span>,
    regex: HashMap<&'v str, Span>,
    /// The lengths of the prefixes.
    lengths: BTreeSet<usize>,
}

impl<'v> Paths<'v> {
    /// Prefixes of more lengths than this are not compared with other paths, to stay linear.
    const LENGTHS: usize = 64;

    fn taker(&self, path: Option<&StringMatch>) -> Option<Span> {
        let own = match path.map(|path| (&path.exact, &path.prefix, &path.regex)) {
            Some((Some(exact), _, _)) => {
                let same = self.exact.get(exact.as_str()).copied();
                same.or_else(|| self.prefix_of(exact))
            }
            Some((_, Some(prefix), _)) => self.prefix_of(prefix),
            Some((_, _, Some(regex))) => self.regex.get(regex.as_str()).copied(),
            _ => None,
        };
        own.or(self.all)
    }

    fn prefix_of(&self, path: &str) -> Option<Span> {
        let lengths = self.lengths.range(..=path.len());
        let starts = lengths.filter_map(|length| path.get(..*length));
        let shorter = starts.filter_map(|start| self.prefix.get(start)).next();
        shorter.or_else(|| self.prefix.get(path)).copied()
    }

    fn add(&mut self, path: Option<&'v StringMatch>, span: Span) {
        let Some(path) = path else {
            self.all.get_or_insert(span);
            return;
        };
        match (&path.exact, &path.prefix, &path.regex) {
            (Some(exact), _, _) => {
                self.exact.entry(exact).or_insert(span);
            }
            // Every path begins so; Istio ends the list of routes here.
            (_, Some(prefix), _) if prefix.value == "/" => {
                self.all.get_or_insert(span);
            }
            (_, Some(prefix), _) => {
                self.prefix.entry(prefix).or_insert(span);
                if self.lengths.len() < Self::LENGTHS {
                    self.lengths.insert(prefix.len());
                }
            }
            (_, _, Some(regex)) if regex.value == ".*" => {
                self.all.get_or_insert(span);
            }
            (_, _, Some(regex)) => {
                self.regex.entry(regex).or_insert(span);
            }
            _ => {}
        }
    }
}
