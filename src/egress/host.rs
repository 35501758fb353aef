//! Host names as Istio compares them: plain strings, of which a leading `*` makes a suffix pattern.

use foldhash::HashMap;
use smol_str::SmolStr;
use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// The domain of Kubernetes services.
pub const CLUSTER_DOMAIN: &str = "cluster.local";

/// Stands in a host name for a namespace that no file tells.
pub const UNKNOWN_NAMESPACE: &str = "<unknown>";

pub fn is_wildcard(host: &str) -> bool {
    host.starts_with('*')
}

/// What a pattern asks of the end of a name; `None` for an exact name.
fn suffix(pattern: &str) -> Option<&str> {
    pattern.strip_prefix('*')
}

/// Whether two names, patterns or not, have a name in common: one of them covers the other.
pub fn overlaps(one: &str, other: &str) -> bool {
    subset_of(one, other) || subset_of(other, one)
}

/// Whether every name that `narrow` stands for is also covered by `wide`.
pub fn subset_of(narrow: &str, wide: &str) -> bool {
    match (suffix(narrow), suffix(wide)) {
        (Some(narrow), Some(wide)) => narrow.ends_with(wide),
        (Some(_), None) => false,
        (None, Some(wide)) => narrow.ends_with(wide),
        (None, None) => narrow == wide,
    }
}

/// The order from the most to the least specific: names before patterns, long before short, then by the alphabet.
pub fn by_specificity(one: &str, other: &str) -> Ordering {
    let key = |host: &str| (is_wildcard(host), Reverse(host.len()));
    key(one).cmp(&key(other)).then_with(|| one.cmp(other))
}

/// A short name means a Kubernetes service of the namespace; names with a dot, addresses and `*` stay as they are.
pub fn to_fqdn<'h>(host: &'h str, namespace: Option<&str>) -> Cow<'h, str> {
    if host.is_empty()
        || host == "*"
        || host.contains('.')
        || host.parse::<std::net::IpAddr>().is_ok()
    {
        return Cow::Borrowed(host);
    }
    Cow::Owned(of_service(host, namespace))
}

/// The host of a Kubernetes service.
pub fn of_service(name: &str, namespace: Option<&str>) -> String {
    let namespace = namespace.unwrap_or(UNKNOWN_NAMESPACE);
    format!("{name}.{namespace}.svc.{CLUSTER_DOMAIN}")
}

/// The name and the namespace of the Kubernetes service whose host this is.
pub fn service_of(host: &str) -> Option<(&str, &str)> {
    let short = host.strip_suffix(CLUSTER_DOMAIN)?.strip_suffix(".svc.")?;
    short.split_once('.')
}

/// Further names under which clients of a namespace know a host: with a dot at its end, and the short ones of a
/// Kubernetes service.
pub fn other_names(host: &str, client: Option<&str>) -> Vec<String> {
    let mut names = vec![format!("{host}.")];
    if let Some((name, namespace)) = service_of(host) {
        let short = format!("{name}.{namespace}");
        names.extend([format!("{short}.svc"), short]);
        if client == Some(namespace) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Values by host name or pattern, found without looking at all of them.
#[derive(Clone, Debug)]
pub struct HostIndex<V> {
    exact: HashMap<SmolStr, Values<V>>,
    /// By what stands behind the `*`.
    patterns: HashMap<SmolStr, Values<V>>,
    /// The lengths of the keys of `patterns`.
    lengths: BTreeSet<usize>,
    /// The names under patterns, sorted when they are first asked for.
    reversed: OnceLock<Vec<Reversed>>,
}

/// The values of one name; most names have one.
#[derive(Clone, Debug)]
enum Values<V> {
    One(V),
    Many(Vec<V>),
}

impl<V> Values<V> {
    fn push(&mut self, value: V) {
        *self = match std::mem::replace(self, Self::Many(Vec::new())) {
            Self::One(first) => Self::Many(vec![first, value]),
            Self::Many(mut values) => {
                values.push(value);
                Self::Many(values)
            }
        };
    }

    fn as_slice(&self) -> &[V] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

/// An exact name or the suffix of a pattern, from its last byte to its first; whether it is a pattern.
type Reversed = (Box<[u8]>, bool);

impl<V> Default for HostIndex<V> {
    fn default() -> Self {
        Self {
            exact: HashMap::default(),
            patterns: HashMap::default(),
            lengths: BTreeSet::new(),
            reversed: OnceLock::new(),
        }
    }
}

impl<V> HostIndex<V> {
    /// Makes room for so many more names: growing step by step takes more than twice of it.
    pub fn reserve(&mut self, names: usize) {
        self.exact.reserve(names);
    }

    /// Adds a value; those of one host keep the order in which they came.
    pub fn insert(&mut self, host: &str, value: V) {
        let (map, key) = match suffix(host) {
            Some(suffix) => {
                self.lengths.insert(suffix.len());
                (&mut self.patterns, suffix)
            }
            None => (&mut self.exact, host),
        };
        if let Some(values) = map.get_mut(key) {
            values.push(value);
            return;
        }
        self.reversed = OnceLock::new();
        map.insert(key.into(), Values::One(value));
    }

    /// The values of this very name or pattern.
    pub fn same(&self, host: &str) -> &[V] {
        let found = match suffix(host) {
            Some(suffix) => self.patterns.get(suffix),
            None => self.exact.get(host),
        };
        found.map_or(&[], Values::as_slice)
    }

    /// The values of every name or pattern that covers the host, the most specific first.
    pub fn covering<'a, 'h>(
        &'a self,
        host: &'h str,
    ) -> impl Iterator<Item = &'a [V]> + use<'a, 'h, V> {
        let exact = if is_wildcard(host) {
            None
        } else {
            self.exact.get(host)
        };
        let tail = suffix(host).unwrap_or(host);
        let patterns = self
            .lengths
            .range(..=tail.len())
            .rev()
            .filter_map(|length| tail.get(tail.len() - length..))
            .filter_map(|suffix| self.patterns.get(suffix));
        exact.into_iter().chain(patterns).map(Values::as_slice)
    }

    /// The values of every name or pattern that lies under the pattern and is not the pattern itself.
    /// Empty for an exact name.
    pub fn under<'a>(&'a self, pattern: &'a str) -> impl Iterator<Item = &'a [V]> {
        let end: Option<Vec<u8>> = suffix(pattern).map(|suffix| suffix.bytes().rev().collect());
        let reversed = end.as_ref().map_or(&[][..], |end| {
            let all = self.reversed.get_or_init(|| self.reversed());
            let start = all.partition_point(|(name, _)| **name < **end);
            all.get(start..).unwrap_or_default()
        });
        let own = end.clone();
        reversed
            .iter()
            .take_while(move |(name, _)| end.as_ref().is_some_and(|end| name.starts_with(end)))
            .filter(move |(name, wild)| !(*wild && own.as_ref().is_some_and(|own| **name == **own)))
            .filter_map(|(name, wild)| {
                let name = String::from_utf8(name.iter().rev().copied().collect()).ok()?;
                let map = if *wild { &self.patterns } else { &self.exact };
                map.get(&*name)
            })
            .map(Values::as_slice)
    }

    fn reversed(&self) -> Vec<Reversed> {
        let reverse = |name: &str| name.bytes().rev().collect();
        let exact = self.exact.keys().map(|name| (reverse(name), false));
        let patterns = self.patterns.keys().map(|name| (reverse(name), true));
        let mut all: Vec<Reversed> = exact.chain(patterns).collect();
        all.sort_unstable();
        all
    }

    /// The values of every name or pattern that has a name in common with the host.
    pub fn overlapping<'a>(&'a self, host: &'a str) -> impl Iterator<Item = &'a [V]> {
        self.covering(host).chain(self.under(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_patterns_compare_by_suffix() {
        assert!(subset_of("a.example", "*.example"));
        assert!(!subset_of("example", "*.example"));
        assert!(subset_of("*.a.example", "*.example"));
        assert!(!subset_of("*.example", "a.example"));
        assert!(overlaps("*.example", "a.example"));
        assert!(overlaps("*", "*.example"));
        assert!(!overlaps("a.example", "b.example"));
    }

    #[test]
    fn short_names_are_services_of_the_namespace() {
        assert_eq!(to_fqdn("redis", Some("db")), "redis.db.svc.cluster.local");
        assert_eq!(to_fqdn("a.example", Some("db")), "a.example");
        assert_eq!(to_fqdn("*", Some("db")), "*");
        assert_eq!(to_fqdn("192.0.2.1", Some("db")), "192.0.2.1");
        assert_eq!(to_fqdn("redis", None), "redis.<unknown>.svc.cluster.local");
    }

    #[test]
    fn the_index_finds_what_a_scan_finds() {
        let hosts = [
            "a.b.example",
            "b.example",
            "*.example",
            "*.b.example",
            "*",
            "*b.example",
            "c.test",
            "*.test",
        ];
        let mut index = HostIndex::default();
        for host in hosts {
            index.insert(host, host);
        }
        for host in hosts
            .into_iter()
            .chain(["x.b.example", "*.a.b.example", "xb.example"])
        {
            let mut scan: Vec<_> = hosts
                .into_iter()
                .filter(|other| subset_of(host, other))
                .collect();
            scan.sort_by(|one, other| by_specificity(one, other));
            let found: Vec<_> = index.covering(host).flatten().copied().collect();
            assert_eq!(found, scan, "covering {host}");
            let mut scan: Vec<_> = hosts
                .into_iter()
                .filter(|other| overlaps(host, other))
                .collect();
            let mut found: Vec<_> = index.overlapping(host).flatten().copied().collect();
            scan.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, scan, "overlapping {host}");
        }
    }
}
