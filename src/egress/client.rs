//! Who calls: the workload whose proxy is looked at.

use std::collections::BTreeMap;

/// A workload with a sidecar, or the pod of a gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Client {
    /// `None`: unknown. It may be any namespace, and is first of all that of the resources that name none.
    pub namespace: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub proxy: ProxyKind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProxyKind {
    #[default]
    Sidecar,
    Gateway,
}

impl Client {
    /// A sidecar of a namespace, without labels.
    pub fn sidecar(namespace: Option<&str>) -> Self {
        Self {
            namespace: namespace.map(str::to_owned),
            ..Self::default()
        }
    }

    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    pub fn is_gateway(&self) -> bool {
        self.proxy == ProxyKind::Gateway
    }

    /// Whether the labels hold all of these: how Istio's selectors select.
    pub fn has_labels<'a>(&self, selector: impl IntoIterator<Item = (&'a str, &'a str)>) -> bool {
        selector
            .into_iter()
            .all(|(key, value)| self.labels.get(key).is_some_and(|own| own == value))
    }

    /// Whether the labels hold one of these.
    pub fn shares_a_label<'a>(
        &self,
        selector: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> bool {
        let mut selector = selector.into_iter();
        selector.any(|label| self.has_labels([label]))
    }

    /// Adds labels, unless one of them has another value here.
    pub fn add_labels(&mut self, more: &[(&str, &str)]) {
        let fits =
            |&(key, value): &(&str, &str)| self.labels.get(key).is_none_or(|own| own == value);
        if more.iter().all(fits) {
            let more = more
                .iter()
                .map(|&(key, value)| (key.to_owned(), value.to_owned()));
            self.labels.extend(more);
        }
    }
}
