//! The hosts of one `VirtualService`, to be asked in constant time.

use std::collections::{BTreeMap, HashMap};

use smol_str::SmolStr;

use crate::source::Spanned;

pub(super) struct HostSet<'h> {
    hosts: &'h [Spanned<SmolStr>],
    /// Names without a wildcard, and where they stand first.
    names: HashMap<&'h str, usize>,
    /// What stands behind the `*` of the others, and where it stands first.
    suffixes: HashMap<&'h str, usize>,
}

impl<'h> HostSet<'h> {
    pub(super) fn new(hosts: &'h [Spanned<SmolStr>]) -> Self {
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

    pub(super) fn first(&self) -> Option<&'h Spanned<SmolStr>> {
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

    /// Groups of hosts of which one, the same or a wildcard, stands for the others, each in the order of the list.
    pub(super) fn overlaps(&self) -> Vec<Overlap<'h>> {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (index, host) in self.hosts.iter().enumerate() {
            let other = match host.strip_prefix('*') {
                Some(suffix) => self.wildcard_over(suffix, index),
                None => {
                    let same = self.names.get(host.as_str()).copied();
                    let same = same.filter(|first| *first != index);
                    same.or_else(|| self.wildcard_over(host, index))
                }
            };
            if let Some(other) = other {
                groups.entry(other).or_default().push(index);
            }
        }
        let groups = groups.into_iter().filter_map(|(other, mut members)| {
            members.push(other);
            members.sort_unstable();
            let hosts = members.iter().filter_map(|at| self.hosts.get(*at));
            Some(Overlap {
                widest: self.hosts.get(other)?,
                hosts: hosts.collect(),
            })
        });
        groups.collect()
    }
}

/// Hosts of which one stands for all others.
pub(super) struct Overlap<'h> {
    pub(super) widest: &'h Spanned<SmolStr>,
    /// With the widest.
    pub(super) hosts: Vec<&'h Spanned<SmolStr>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};

    fn hosts(names: &[&str]) -> Vec<Spanned<SmolStr>> {
        let span = Span::new(FileId(0), 0, 0);
        names
            .iter()
            .map(|name| Spanned::new((*name).into(), span, span))
            .collect()
    }

    #[test]
    fn wildcards_and_doubles_overlap() {
        for (names, count) in [
            (vec!["a.b", "c.b"], 0),
            (vec!["a.b", "a.b"], 1),
            (vec!["a.b", "*.b"], 1),
            (vec!["*.b", "a.b", "c.b"], 1),
            (vec!["a.b", "c.b", "*.b"], 1),
            (vec!["*.b", "a.b", "x", "x"], 2),
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
