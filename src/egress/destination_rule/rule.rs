//! One DestinationRule, and where it holds.

use std::borrow::Cow;

use crate::egress::client::Client;
use crate::egress::host;
use crate::egress::service::{Pairs, pairs};
use crate::egress::visibility::viewer;
use crate::istio::decode::Items;
use crate::istio::resource::{Resource, Spec};
use crate::istio::traffic::DestinationRule;

/// A DestinationRule with its host written out.
#[derive(Clone, Debug)]
pub struct Rule<'a> {
    pub resource: &'a Resource,
    pub spec: &'a DestinationRule,
    pub host: Cow<'a, str>,
    /// Sorted, without repetitions. A rule with a selector is always private.
    pub(super) export_to: Vec<&'a str>,
    pub(super) selector: Option<Pairs<'a>>,
}

impl<'a> Rule<'a> {
    pub(super) fn read(resource: &'a Resource) -> Option<Self> {
        let Spec::DestinationRule(spec) = &resource.spec else {
            return None;
        };
        let written = spec.host.as_ref().map_or("", |host| host.value.as_str());
        let selector = spec.workload_selector.as_ref().map(|selector| {
            let labels = selector.value.match_labels.as_ref();
            labels
                .map(|labels| pairs(&labels.value))
                .unwrap_or_default()
        });
        let mut export_to: Vec<_> = match selector {
            Some(_) => vec!["."],
            None => spec
                .export_to
                .items()
                .iter()
                .map(|entry| entry.value.as_str())
                .collect(),
        };
        export_to.sort_unstable();
        export_to.dedup();
        Some(Self {
            resource,
            spec,
            host: match written.contains('.') || written.is_empty() {
                true => Cow::Borrowed(written),
                false => host::to_fqdn(written, resource.namespace()),
            },
            export_to,
            selector,
        })
    }

    pub fn namespace(&self) -> Option<&'a str> {
        self.resource.namespace()
    }

    pub fn has_selector(&self) -> bool {
        self.selector.is_some()
    }

    /// A client that it is for: one that its selector selects, or that sees it.
    pub fn client(&self) -> Client {
        let declared = self.export_to.iter().copied();
        let mut client = Client::sidecar(viewer(self.namespace(), declared));
        let labels = self.selector.iter().flatten();
        client.labels = labels
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect();
        client
    }

    pub(super) fn exports(&self, entry: &str) -> bool {
        self.export_to.binary_search(&entry).is_ok()
    }

    /// Whether clients of its own namespace find it.
    pub fn is_local(&self) -> bool {
        self.export_to.is_empty()
            || self.exports("*")
            || self.exports(".")
            || self.namespace().is_some_and(|own| self.exports(own))
    }

    pub(super) fn is_private(&self, private_by_default: bool) -> bool {
        match *self.export_to.as_slice() {
            [] => private_by_default,
            [only] => only == "." || self.namespace() == Some(only),
            _ => false,
        }
    }

    pub(super) fn is_public(&self) -> bool {
        self.export_to.is_empty() || self.exports("*")
    }

    /// Whether it is exported to clients of the namespace.
    pub(super) fn is_visible(&self, client: Option<&str>) -> bool {
        self.is_public() || client.is_none_or(|client| self.exports(client))
    }

    /// Whether a rule without a selector is merged into an earlier one: it is visible wherever that one is.
    pub(super) fn joins(&self, earlier: &Rule<'_>) -> bool {
        self.export_to == earlier.export_to
            || !earlier.export_to.is_empty()
                && earlier.export_to.iter().all(|entry| self.exports(entry))
    }
}
