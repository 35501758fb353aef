//! The hosts that Sidecars import by name.

use foldhash::HashMap;

use super::context::{Context, existing};
use crate::egress::host::is_wildcard;
use crate::istio::decode::Items;
use crate::istio::resource::Spec;
use crate::source::Span;

/// So many entries for one host are looked at.
const WANTED: usize = 4;

/// The entries of Sidecars, by the namespace of the Sidecar and the host.
pub(super) struct Imports<'c>(HashMap<(&'c str, &'c str), Vec<Import<'c>>>);

#[derive(Clone, Copy, Debug)]
struct Import<'c> {
    /// Where the host is to be: a namespace or `*`.
    from: &'c str,
    line: Span,
}

impl<'c> Imports<'c> {
    pub(super) fn of(cx: &'c Context<'_>) -> Self {
        let mut all: HashMap<(&str, &str), Vec<Import<'_>>> = HashMap::default();
        for resource in existing(cx.world) {
            let (Spec::Sidecar(sidecar), Some(own)) = (&resource.spec, resource.namespace()) else {
                continue;
            };
            let listeners = sidecar.egress.items().iter();
            for entry in listeners.flat_map(|it| it.value.hosts.items()) {
                let named = entry.value.split_once('/');
                if let Some((from, host)) = named.filter(|(_, host)| !is_wildcard(host)) {
                    let line = entry.span;
                    all.entry((own, host))
                        .or_default()
                        .push(Import { from, line });
                }
            }
        }
        Self(all)
    }

    /// The first entries by which Sidecars of a namespace want a host from another one.
    pub(super) fn wanted(&self, own: &str, host: &str, from: Option<&str>) -> Vec<Span> {
        let of_host = self.0.get(&(own, host)).into_iter().flatten();
        let is_it = |it: &&Import<'_>| it.from == "*" || Some(it.from) == from;
        let lines = of_host.filter(is_it).map(|it| it.line);
        lines.take(WANTED).collect()
    }
}
