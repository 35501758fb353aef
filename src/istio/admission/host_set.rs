//! The hosts of one `VirtualService`, to be asked in constant time.

use std::collections::HashMap;

use crate::source::Spanned;

pub(super) struct HostSet<'h> {
    hosts: &'h [Spanned<String>],
    /// Names without a wildcard, and where they stand first.
    names: HashMap<&'h str, usize>,
    /// What stands behind the `*` of the others, and where it stands first.
    suffixes: HashMap<&'h str, usize>,
}

impl<'h> HostSet<'h> {
    pub(super) fn new(hosts: &'h [Spanned<String>]) -> Self {
        let (mut names, mut suffixes) = (HashMap::new(), HashMap::new());
        for (index, host) in hosts.iter().enumerate() {
            match host.strip_prefix('*') {
                Some(suffix) => suffixes.entry(suffix).or_insert(index),
                None => names.entry(host.as_str()).or_insert(index),
            };
        }
        Self {
            hosts,
            names,
            suffixes,
        }
    }

    pub(super) fn first(&self) -> Option<&'h Spanned<String>> {
        self.hosts.first()
    }

    /// Whether one of the hosts is the name or stands for all of it.
    pub(super) fn covers(&self, name: &str) -> bool {
        match name.strip_prefix('*') {
            Some(suffix) => self.wildcard_over(suffix, usize::MAX).is_some(),
            None => self.names.contains_key(name) || self.wildcard_over(name, usize::MAX).is_some(),
        }
    }

    /// A wildcard that stands for all names that end so, other than the one at `except`.
    fn wildcard_over(&self, text: &str, except: usize) -> Option<usize> {
        // Longer texts are no host names; they have been refused.
        if self.suffixes.is_empty() || text.len() > 255 {
            return None;
        }
        let ends = text
            .char_indices()
            .map(|(at, _)| at)
            .chain(std::iter::once(text.len()));
        ends.filter_map(|at| self.suffixes.get(text.get(at..)?).copied())
            .find(|index| *index != except)
    }

    /// Hosts that one before them, or a wildcard, stands for already; the later of the two first.
    pub(super) fn overlaps(&self) -> Vec<(&'h Spanned<String>, &'h Spanned<String>)> {
        let mut out = Vec::new();
        for (index, host) in self.hosts.iter().enumerate() {
            let other = match host.strip_prefix('*') {
                Some(suffix) => self.wildcard_over(suffix, index),
                None => {
                    let same = self
                        .names
                        .get(host.as_str())
                        .copied()
                        .filter(|first| *first != index);
                    same.or_else(|| self.wildcard_over(host, index))
                }
            };
            if let Some(other) = other
                && let (Some(late), Some(early)) = (
                    self.hosts.get(index.max(other)),
                    self.hosts.get(index.min(other)),
                )
            {
                out.push((late, early));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};

    fn hosts(names: &[&str]) -> Vec<Spanned<String>> {
        let span = Span::new(FileId(0), 0, 0);
        names
            .iter()
            .map(|name| Spanned::new((*name).to_owned(), span, span))
            .collect()
    }

    #[test]
    fn wildcards_and_doubles_overlap() {
        for (names, count) in [
            (vec!["a.b", "c.b"], 0),
            (vec!["a.b", "a.b"], 1),
            (vec!["a.b", "*.b"], 1),
            (vec!["*.b", "a.b", "c.b"], 2),
            (vec!["*.b", "*.a.b"], 1),
            (vec!["*.b", "*.b"], 1),
            (vec!["*", "a"], 1),
            (vec!["*.a.b", "a.b"], 0),
        ] {
            assert_eq!(
                HostSet::new(&hosts(&names)).overlaps().len(),
                count,
                "{names:?}"
            );
        }
    }

    #[test]
    fn names_are_covered() {
        let list = hosts(&["*.b.c", "x"]);
        let set = HostSet::new(&list);
        assert!(
            set.covers("a.b.c") && set.covers("*.a.b.c") && set.covers("*.b.c") && set.covers("x")
        );
        assert!(!set.covers("b.c") && !set.covers("*.c") && !set.covers("y") && !set.covers("*x"));
    }
}
