//! The conditions of an HTTP rule, those of a delegating rule and of its delegate taken together.

use regex::RegexBuilder;
use smol_str::SmolStr;

use super::client::Client;
use super::namespace::{Same, same};
use super::virtual_service::Binding;
use crate::istio::decode::{Items, Map, Rare};
use crate::istio::route::{HttpMatch as Written, StringMatch};
use crate::source::Spanned;

/// How large a compiled regular expression may become, in bytes, before it is taken to match nothing.
const REGEX_SIZE: usize = 1 << 20;

/// They ask for nothing to be done, by RFC 9110.
const SAFE_METHODS: [&str; 4] = ["GET", "HEAD", "OPTIONS", "TRACE"];

/// Where a rule would act: on which port of which gateway, for whom.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    /// The port that `match.port` means: of a sidecar the listener's, of a gateway the server's.
    pub port: u32,
    pub binding: Binding<'p>,
    pub client: &'p Client,
}

/// A `match` as written, with the namespace in which its short names are meant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Half<'a> {
    pub(super) written: &'a Spanned<Written>,
    pub(super) namespace: Option<&'a str>,
}

/// One `match` of an HTTP rule. Without either half it holds always.
#[derive(Clone, Copy, Debug, Default)]
pub struct HttpMatch<'a> {
    /// Of the rule, or of the delegate's rule.
    pub(super) own: Option<Half<'a>>,
    /// Of the rule that delegates.
    pub(super) root: Option<Half<'a>>,
}

/// What the path must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path<'a> {
    Exact(&'a str),
    Prefix(&'a str),
    /// RE2, of the whole path.
    Regex(&'a str),
}

impl Path<'_> {
    fn matches(self, path: &str, ignore_case: bool) -> bool {
        let path = path.split(['?', '#']).next().unwrap_or(path);
        match self {
            Self::Exact(exact) if ignore_case => path.eq_ignore_ascii_case(exact),
            Self::Exact(exact) => path == exact,
            Self::Prefix(prefix) if ignore_case => path
                .get(..prefix.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(prefix)),
            Self::Prefix(prefix) => path.starts_with(prefix),
            Self::Regex(regex) => RegexBuilder::new(&format!("^(?:{regex})$"))
                .size_limit(REGEX_SIZE)
                .build()
                .is_ok_and(|regex| regex.is_match(path)),
        }
    }
}

impl<'a> HttpMatch<'a> {
    /// The halves, the one that wins first.
    pub(super) fn halves(&self) -> impl Iterator<Item = Half<'a>> + use<'a> {
        self.own.into_iter().chain(self.root)
    }

    /// Whether it can hold at this place, as far as that is known when the proxy is configured.
    pub fn admits(&self, place: &Place<'_>) -> bool {
        self.port().is_none_or(|port| port == place.port) && self.admits_source(place)
    }

    /// `match.port`, where there is one.
    pub fn port(&self) -> Option<u32> {
        self.halves()
            .filter_map(|half| half.written.port.as_ref())
            .filter_map(|port| u32::try_from(port.value).ok())
            .find(|&port| port != 0)
    }

    /// A list of gateways decides alone; labels and namespace are only looked at without one.
    fn admits_source(&self, place: &Place<'_>) -> bool {
        let gateways = self
            .halves()
            .find(|half| !half.written.gateways.items().is_empty());
        if let Some(half) = gateways {
            return half
                .written
                .gateways
                .items()
                .iter()
                .any(|gateway| Binding::parse(&gateway.value, half.namespace).is(&place.binding));
        }
        let namespace = self.source_namespace();
        self.halves()
            .filter_map(|half| half.written.source_labels.as_ref())
            .all(|labels| {
                place
                    .client
                    .has_labels(labels.value.iter().map(|(k, v)| (&*k.value, &*v.value)))
            })
            && namespace.is_none_or(|wanted| {
                same(Some(&wanted.value), place.client.namespace.as_deref()) != Same::No
            })
    }

    /// `sourceNamespace`, where there is one.
    pub fn source_namespace(&self) -> Option<&'a Spanned<SmolStr>> {
        self.halves()
            .filter_map(|half| half.written.source_namespace.as_deref())
            .find(|namespace| !namespace.value.is_empty())
    }

    /// What it asks of the path; any path where it asks nothing.
    pub fn path(&self) -> Path<'a> {
        self.halves()
            .find_map(|half| half.written.uri.as_ref())
            .and_then(|uri| path(&uri.value))
            .unwrap_or(Path::Prefix("/"))
    }

    pub fn matches_path(&self, path: &str) -> bool {
        let ignore_case = self
            .halves()
            .next()
            .and_then(|half| half.written.ignore_uri_case.as_ref())
            .is_some_and(|ignore| ignore.value);
        self.path().matches(path, ignore_case)
    }

    /// Whether it only holds for requests that may be sent twice: they change nothing on the other side, or carry a key by
    /// which it knows them again.
    pub fn is_for_repeatable(&self) -> bool {
        self.halves().any(|half| {
            let method = half.written.method.as_ref();
            let mut headers = half.written.headers.iter().flat_map(|it| it.value.iter());
            method.is_some_and(|method| is_safe(&method.value))
                || headers.any(|(name, _)| is_key(&name.value))
        })
    }

    /// Whether no rule behind it is ever reached: any path and nothing else is asked of the request.
    pub fn is_catch_all(&self) -> bool {
        matches!(self.path(), Path::Prefix("/") | Path::Regex(".*"))
            && !self.halves().any(|half| asks_more_than_path(half.written))
    }
}

fn is_safe(method: &StringMatch) -> bool {
    let names = text(&method.exact).or_else(|| text(&method.regex));
    names.is_some_and(|names| names.split('|').all(|name| SAFE_METHODS.contains(&name)))
}

/// `Idempotency-Key`, and what others call it.
fn is_key(header: &str) -> bool {
    header.to_ascii_lowercase().contains("idempoten")
}

fn path(uri: &StringMatch) -> Option<Path<'_>> {
    if let Some(exact) = &uri.exact {
        return Some(Path::Exact(&exact.value));
    }
    if let Some(prefix) = &uri.prefix {
        return Some(Path::Prefix(&prefix.value));
    }
    uri.regex.as_ref().map(|regex| Path::Regex(&regex.value))
}

fn asks_more_than_path(written: &Written) -> bool {
    let some = |map: &Rare<Map<StringMatch>>| map.as_ref().is_some_and(|map| !map.value.is_empty());
    written.method.is_some()
        || written.authority.is_some()
        || written.scheme.is_some()
        || some(&written.headers)
        || some(&written.without_headers)
        || some(&written.query_params)
}

/// Whether a delegate's condition asks for what the delegating one rules out. Such a pair makes no route.
pub(super) fn conflict(root: Half<'_>, own: Half<'_>) -> bool {
    let gateways = gateway_conflict(root, own);
    let (root, own) = (&root.written.value, &own.written.value);
    let texts = [
        (&root.uri, &own.uri),
        (&root.scheme, &own.scheme),
        (&root.method, &own.method),
        (&root.authority, &own.authority),
    ];
    let maps = [
        (&root.headers, &own.headers),
        (&root.without_headers, &own.without_headers),
        (&root.query_params, &own.query_params),
    ];
    let flag = |written: &Written| written.ignore_uri_case.as_ref().is_some_and(|f| f.value);
    gateways
        || texts.into_iter().any(|(root, own)| {
            text_conflict(
                root.as_deref().map(|it| &**it),
                own.as_deref().map(|it| &**it),
            )
        })
        || maps.into_iter().any(|(root, own)| map_conflict(root, own))
        || flag(root) != flag(own)
        || port_conflict(root, own)
        || namespace_conflict(root, own)
        || label_conflict(root, own)
}

fn map_conflict(root: &Rare<Map<StringMatch>>, own: &Rare<Map<StringMatch>>) -> bool {
    let (Some(root), Some(own)) = (root, own) else {
        return false;
    };
    own.value
        .iter()
        .any(|(key, own)| text_conflict(root.value.get(&key.value).map(|it| &**it), Some(own)))
}

fn port_conflict(root: &Written, own: &Written) -> bool {
    let port = |written: &Written| written.port.as_ref().map_or(0, |port| port.value);
    port(root) > 0 && port(own) > 0 && port(root) != port(own)
}

fn namespace_conflict(root: &Written, own: &Written) -> bool {
    fn namespace(written: &Written) -> Option<&str> {
        let namespace = written.source_namespace.as_ref();
        namespace
            .map(|name| name.value.as_str())
            .filter(|name| !name.is_empty())
    }
    let root = namespace(root);
    root.is_some() && root != namespace(own)
}

fn label_conflict(root: &Written, own: &Written) -> bool {
    let (Some(root), Some(own)) = (&root.source_labels, &own.source_labels) else {
        return false;
    };
    own.value.iter().any(|(key, value)| {
        root.value
            .get(&key.value)
            .is_some_and(|root| root.value != value.value)
    })
}

fn gateway_conflict(root: Half<'_>, own: Half<'_>) -> bool {
    fn names(half: Half<'_>) -> &[Spanned<SmolStr>] {
        half.written.gateways.items()
    }
    if names(root).is_empty() || names(own).is_empty() {
        return false;
    }
    names(root).len() < names(own).len()
        || names(own).iter().any(|name| {
            let name = Binding::parse(&name.value, own.namespace);
            !names(root)
                .iter()
                .any(|root_name| Binding::parse(&root_name.value, root.namespace).is(&name))
        })
}

/// Whether the delegate's text condition is not within the delegating one's. With a regular expression on either
/// side Istio does not try to tell.
fn text_conflict(root: Option<&StringMatch>, own: Option<&StringMatch>) -> bool {
    let (Some(root), Some(own)) = (root, own) else {
        return false;
    };
    if text(&root.regex).is_some() || text(&own.regex).is_some() {
        return true;
    }
    let (exact, prefix) = (text(&own.exact), text(&own.prefix));
    match (text(&root.exact), text(&root.prefix)) {
        (Some(root), _) => prefix.is_some() || exact != Some(root),
        (None, Some(root)) => prefix
            .or(exact)
            .is_none_or(|narrow| !narrow.starts_with(root)),
        (None, None) => true,
    }
}

/// A text that is not empty.
fn text(text: &Rare<SmolStr>) -> Option<&str> {
    text.as_ref()
        .map(|text| text.value.as_str())
        .filter(|text| !text.is_empty())
}
