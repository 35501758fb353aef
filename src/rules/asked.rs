//! What the routes of a VirtualService ask for, match by match.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use crate::istio::decode::{Items, List};
use crate::istio::route::{
    HttpMatch, HttpRoute, L4Match, StringMatch, TcpRoute, TlsMatch, TlsRoute,
};
use crate::istio::{Map, Rare};
use crate::source::{Span, Spanned};

/// What one match asks for, or a route without any.
#[derive(Clone, Debug)]
pub(super) struct Asked<'v> {
    /// All but the path: equal sets ask the same, the empty one asks nothing.
    pub(super) conditions: Conditions,
    pub(super) path: Option<&'v StringMatch>,
    pub(super) line: Span,
}

/// One text for each condition, sorted.
pub(super) type Conditions = Vec<String>;

pub(super) fn of_http(route: &Spanned<HttpRoute>) -> Vec<Asked<'_>> {
    each(route.key, route.matches.items(), |it| {
        let path = it.uri.as_ref().map(|uri| &uri.value);
        (http(it), path)
    })
}

pub(super) fn of_tls(route: &Spanned<TlsRoute>) -> Vec<Asked<'_>> {
    each(route.key, route.matches.items(), |it| (tls(it), None))
}

pub(super) fn of_tcp(route: &Spanned<TcpRoute>) -> Vec<Asked<'_>> {
    each(route.key, route.matches.items(), |it| (tcp(it), None))
}

fn each<'v, M>(
    route: Span,
    matches: &'v [Spanned<M>],
    read: impl Fn(&'v M) -> (Conditions, Option<&'v StringMatch>),
) -> Vec<Asked<'v>> {
    if matches.is_empty() {
        return vec![Asked {
            conditions: Conditions::new(),
            path: None,
            line: route,
        }];
    }
    let asked = matches.iter().map(|it| {
        let (conditions, path) = read(&it.value);
        Asked {
            conditions,
            path,
            line: it.key,
        }
    });
    asked.collect()
}

fn http(it: &HttpMatch) -> Conditions {
    let texts = [
        ("scheme", &it.scheme),
        ("method", &it.method),
        ("authority", &it.authority),
    ];
    let texts = texts
        .into_iter()
        .filter_map(|(what, text)| Some(format!("{what} {}", compared(text.as_ref()?))));
    let maps = [
        ("header", &it.headers),
        ("no header", &it.without_headers),
        ("query", &it.query_params),
    ];
    let maps = maps.into_iter().flat_map(|(what, map)| {
        let entries = map.iter().flat_map(|map| map.iter());
        entries.map(move |(key, text)| format!("{what} {:?} {}", key.value, compared(text)))
    });
    let any_case = it.ignore_uri_case.as_ref().is_some_and(|it| it.value);
    let any_case = any_case.then(|| "any case".to_owned());
    let common = common(
        &it.port,
        &it.source_labels,
        &it.gateways,
        &it.source_namespace,
    );
    sorted(texts.chain(maps).chain(any_case).chain(common))
}

fn tls(it: &TlsMatch) -> Conditions {
    let names = [
        one_of("sni", it.sni_hosts.items()),
        one_of("subnet", it.destination_subnets.items()),
    ];
    let common = common(
        &it.port,
        &it.source_labels,
        &it.gateways,
        &it.source_namespace,
    );
    sorted(names.into_iter().flatten().chain(common))
}

/// `sourceSubnet` is never read.
fn tcp(it: &L4Match) -> Conditions {
    let subnets = one_of("subnet", it.destination_subnets.items());
    let common = common(
        &it.port,
        &it.source_labels,
        &it.gateways,
        &it.source_namespace,
    );
    sorted(subnets.into_iter().chain(common))
}

fn sorted(conditions: impl Iterator<Item = String>) -> Conditions {
    let mut conditions: Vec<String> = conditions.collect();
    conditions.sort_unstable();
    conditions.dedup();
    conditions.shrink_to_fit();
    conditions
}

fn common(
    port: &Rare<i64>,
    labels: &Rare<Map<SmolStr>>,
    gateways: &Rare<List<SmolStr>>,
    namespace: &Rare<SmolStr>,
) -> impl Iterator<Item = String> {
    let port = port.as_ref().filter(|port| port.value != 0);
    let port = port.map(|port| format!("port {}", port.value));
    let namespace = namespace.as_ref().filter(|it| !it.is_empty());
    let namespace = namespace.map(|it| format!("namespace {:?}", it.value));
    let labels = labels.iter().flat_map(|map| map.iter());
    let labels = labels.map(|(key, value)| format!("label {:?} {:?}", key.value, value.value));
    let gateways = one_of("gateway", gateways.items());
    labels.chain(port).chain(gateways).chain(namespace)
}

/// Any of the names will do.
fn one_of(what: &str, names: &[Spanned<SmolStr>]) -> Option<String> {
    let names: BTreeSet<&str> = names.iter().map(|name| name.as_str()).collect();
    (!names.is_empty()).then(|| format!("{what} {names:?}"))
}

fn compared(text: &StringMatch) -> String {
    match (&text.exact, &text.prefix, &text.regex) {
        (Some(exact), _, _) => format!("= {:?}", exact.value),
        (_, Some(prefix), _) => format!("^ {:?}", prefix.value),
        (_, _, Some(regex)) => format!("~ {:?}", regex.value),
        _ => "any".to_owned(),
    }
}
