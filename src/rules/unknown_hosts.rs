//! Hosts that nothing defines, and the external hosts that may have been meant.

use std::cell::{Cell, OnceCell};
use std::hash::{DefaultHasher, Hash, Hasher};

use foldhash::{HashMap, HashSet};

use super::context::{Context, Defined};
use super::findings::Basis;
use crate::diag::Diagnostic;
use crate::egress::host::{CLUSTER_DOMAIN, UNKNOWN_NAMESPACE, is_wildcard, overlaps, service_of};
use crate::egress::service::{Definition, Origin};
use crate::istio::decode::Items;
use crate::istio::resource::Spec;

/// What tells whether a host is defined.
pub(super) struct UnknownHosts<'c> {
    cx: &'c Context<'c>,
    /// Nothing exists but what the files hold.
    is_certain: bool,
    /// Hosts of entries that are refused, which is said there.
    refused: HashSet<&'c str>,
    services: OnceCell<Services<'c>>,
    names: OnceCell<Names<'c>>,
}

/// Names of Services that other clusters export, for which no file stands.
const CLUSTER_SET: &str = ".svc.clusterset.local";

/// A host that nothing defines.
pub(super) struct Unknown<'c> {
    pub(super) basis: Basis,
    /// An entry with a wildcard that covers the name.
    pub(super) wildcard: Option<Defined<'c>>,
    /// An external host of nearly the same name.
    pub(super) meant: Option<Defined<'c>>,
}

/// Labels what is like the name: a wildcard that covers it, and the host that is meant.
pub(super) fn like(
    finding: Diagnostic,
    wildcard: Option<Defined<'_>>,
    meant: Option<Defined<'_>>,
) -> Diagnostic {
    let wildcard = wildcard.map(|it| (it.line, "the entry with the wildcard"));
    let meant = meant.map(|it| (it.line, "a host of nearly the same name"));
    let lines = wildcard.into_iter().chain(meant);
    lines.fold(finding, |finding, (line, what)| finding.because(line, what))
}

impl<'c> UnknownHosts<'c> {
    pub(super) fn new(cx: &'c Context<'c>) -> Self {
        let entries = cx.world.resources.iter().filter(|it| it.refused);
        let entries = entries.filter_map(|it| match &it.spec {
            Spec::ServiceEntry(entry) => Some(entry),
            _ => None,
        });
        let hosts = entries.flat_map(|entry| entry.hosts.items());
        Self {
            cx,
            is_certain: cx.world.knows_all("ServiceEntry") && cx.world.knows_all("Service"),
            refused: hosts.map(|host| host.value.as_str()).collect(),
            services: OnceCell::new(),
            names: OnceCell::new(),
        }
    }

    /// What is to be said of a host or a pattern of hosts, short names made long: nothing where it is defined. Where
    /// other files may define it, something only if a name of these files makes it likely that they do not.
    pub(super) fn find(&self, host: &str) -> Option<Unknown<'c>> {
        let made_by_kubernetes = host == format!("kubernetes.default.svc.{CLUSTER_DOMAIN}")
            || host.ends_with(CLUSTER_SET);
        if self.refused.contains(host) || made_by_kubernetes {
            return None;
        }
        if is_wildcard(host) {
            // One for everything in the mesh is for no host in particular.
            let is_of_mesh = overlaps(host, &format!("*.{CLUSTER_DOMAIN}"));
            let nothing =
                self.is_certain && !is_of_mesh && self.cx.hosts_under(host, None).is_empty();
            return nothing.then_some(Unknown {
                basis: Basis::Proven,
                wildcard: None,
                meant: None,
            });
        }
        if self.is_defined(host) {
            return None;
        }
        let wildcard = self.cx.hosts_overlapping(host, None).into_iter().next();
        let names = self.names.get_or_init(|| Names::of(self.cx.definitions()));
        let meant = names.nearest(host);
        let basis = match self.is_certain {
            true => Basis::Proven,
            false if wildcard.is_some() || meant.is_some() => {
                Basis::assuming(format!("no other file defines `{host}`"))
            }
            false => return None,
        };
        Some(Unknown {
            basis,
            wildcard,
            meant,
        })
    }

    /// A namespace that no object says itself may be any.
    fn is_defined(&self, host: &str) -> bool {
        if self.cx.model.registry.of_host(host).next().is_some() {
            return true;
        }
        let Some((name, namespace)) = service_of(host) else {
            return false;
        };
        if self.cx.gateway_api().makes_service(name) {
            return true;
        }
        let services = self
            .services
            .get_or_init(|| Services::of(self.cx.definitions()));
        match namespace {
            UNKNOWN_NAMESPACE => services.all.contains(name),
            _ => services.anywhere.contains(name),
        }
    }
}

/// For messages: a short name whose namespace is not known stays short.
pub(super) fn shown(host: &str) -> &str {
    match service_of(host) {
        Some((name, UNKNOWN_NAMESPACE)) => name,
        _ => host,
    }
}

/// The names of Kubernetes services.
struct Services<'c> {
    all: HashSet<&'c str>,
    /// Those that do not say their namespace themselves.
    anywhere: HashSet<&'c str>,
}

impl<'c> Services<'c> {
    fn of(definitions: &[&'c Definition<'c>]) -> Self {
        let services = definitions.iter().map(|it| (it.origin, it.resource));
        let services = services.filter(|(origin, _)| *origin == Origin::Kubernetes);
        let all = services.map(|(_, it)| it);
        let anywhere = all.clone().filter(|it| it.written_namespace().is_none());
        Self {
            anywhere: anywhere.map(|it| it.name()).collect(),
            all: all.map(|it| it.name()).collect(),
        }
    }
}

/// The names of external hosts, found by all of their labels but one.
struct Names<'c> {
    hosts: Vec<Defined<'c>>,
    by_rest: HashMap<u64, Vec<usize>>,
    /// How many more pairs are compared.
    left: Cell<usize>,
}

/// Names with more labels than that are not compared.
const LABELS: usize = 8;

/// So many pairs of names are compared in all: there are few unknown hosts in real trees.
const PAIRS: usize = 100_000;

impl<'c> Names<'c> {
    fn of(definitions: &[&'c Definition<'c>]) -> Self {
        let entries = definitions
            .iter()
            .filter(|it| it.origin == Origin::ServiceEntry);
        let hosts = entries.flat_map(|definition| {
            definition.hosts.iter().map(move |host| Defined {
                definition,
                host: &host.name,
                line: host.line,
            })
        });
        let hosts: Vec<_> = hosts.filter(|it| !is_wildcard(it.host)).collect();
        let mut by_rest: HashMap<u64, Vec<usize>> = HashMap::default();
        for (at, defined) in hosts.iter().enumerate() {
            for (_, rest) in rests(defined.host) {
                by_rest.entry(rest).or_default().push(at);
            }
        }
        Self {
            hosts,
            by_rest,
            left: Cell::new(PAIRS),
        }
    }

    /// The first name that differs from this one as a slip of the pen does.
    fn nearest(&self, host: &str) -> Option<Defined<'c>> {
        rests(host).find_map(|(number, rest)| {
            let near = self.by_rest.get(&rest)?;
            let near = near.get(..near.len().min(self.left.get()))?;
            self.left.set(self.left.get() - near.len());
            let own = host.split('.').nth(number)?;
            let mut near = near.iter().filter_map(|at| self.hosts.get(*at));
            near.find(|it| {
                let other = it.host.split('.').nth(number);
                other.is_some_and(|other| is_slip(own, other))
            })
            .copied()
        })
    }
}

/// The number of each label, and what stands for the others.
fn rests(host: &str) -> impl Iterator<Item = (usize, u64)> {
    let labels = host.split('.').count();
    let numbers = 0..if labels <= LABELS { labels } else { 0 };
    numbers.map(move |number| {
        let mut hasher = DefaultHasher::new();
        for (at, label) in host.split('.').enumerate() {
            if at != number {
                label.to_ascii_lowercase().hash(&mut hasher);
            }
            '.'.hash(&mut hasher);
        }
        number.hash(&mut hasher);
        (number, hasher.finish())
    })
}

/// Shorter words are often names of their own: `eu` and `us`, `dev` and `dec`.
const SHORTEST: usize = 5;

/// Whether two names are likely to be meant as one: only one of their words differs, by a letter, and by more than
/// numbers.
pub(super) fn is_slip(own: &str, other: &str) -> bool {
    if own.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let (own, other) = (own.to_ascii_lowercase(), other.to_ascii_lowercase());
    if own == other {
        return true;
    }
    let words = |label: &str| label.split('-').map(str::to_owned).collect::<Vec<_>>();
    let (own_words, other_words) = (words(&own), words(&other));
    let mut pairs = vec![(own, other)];
    if own_words.len() == other_words.len() {
        pairs = own_words.into_iter().zip(other_words).collect();
        pairs.retain(|(own, other)| own != other);
    }
    let [(own, other)] = pairs.as_slice() else {
        return false;
    };
    let letters = |word: &str| {
        word.chars()
            .filter(|c| !c.is_ascii_digit())
            .collect::<String>()
    };
    let lengths = [own.len(), other.len()];
    lengths
        .iter()
        .all(|length| (SHORTEST..=64).contains(length))
        && letters(own) != letters(other)
        && strsim::osa_distance(own, other) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_differ_in_a_letter_of_a_long_word() {
        assert!(is_slip("partner", "parnter"));
        assert!(is_slip("partner", "partne"));
        assert!(is_slip("api-partner", "api-partnr"));
        assert!(is_slip("apipartner", "api-partner"));
        assert!(is_slip("Partner", "partner"));
    }

    #[test]
    fn names_of_their_own_are_no_slips() {
        assert!(!is_slip("eu", "us"));
        assert!(!is_slip("api1", "api2"));
        assert!(!is_slip("partner1", "partner2"));
        assert!(!is_slip("partner-a", "partner-b"));
        assert!(!is_slip("payments", "payouts"));
        assert!(!is_slip("api-eu-west", "api-us-east"));
    }
}
