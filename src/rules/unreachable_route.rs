//! A route of a VirtualService behind one that takes all its requests.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use super::{Basis, Check, Context, Findings, Meta, RuleDef};
use crate::diag::{Fixable, Severity};
use crate::istio::Map;
use crate::istio::decode::{Items, List};
use crate::istio::route::{HttpMatch, L4Match, StringMatch, TlsMatch, VirtualService};
use crate::source::{Span, Spanned};

pub(super) static RULE: RuleDef = RuleDef {
    meta: Meta {
        name: "unreachable-route",
        summary: "a route stands behind another one that takes all its requests",
        severity: Severity::Warning,
        fixable: Fixable::Never,
        since: "0.1.0",
        page: include_str!("../../rules/unreachable-route.md"),
    },
    build: super::plain::<UnreachableRoute>,
};

#[derive(Debug, Default)]
pub(super) struct UnreachableRoute;

impl Check for UnreachableRoute {
    fn check(&self, cx: &Context<'_>, out: &mut Findings) {
        for (_, service) in cx.virtual_services() {
            check_http(service, out);
            let mut taken = HashMap::new();
            for route in service.tls.items() {
                check_layer4(
                    route.key,
                    route.matches.items(),
                    tls_conditions,
                    &mut taken,
                    out,
                );
            }
            let mut taken = HashMap::new();
            for route in service.tcp.items() {
                check_layer4(
                    route.key,
                    route.matches.items(),
                    tcp_conditions,
                    &mut taken,
                    out,
                );
            }
        }
    }
}

fn check_http(service: &VirtualService, out: &mut Findings) {
    // By all conditions but that of the path; nothing is asked in "".
    let mut taken: HashMap<String, Paths<'_>> = HashMap::new();
    for route in service.http.items() {
        let matches = route.matches.items();
        let whole = [(String::new(), None, route.key)];
        let asked: Vec<(String, Option<&StringMatch>, Span)> = if matches.is_empty() {
            whole.to_vec()
        } else {
            matches
                .iter()
                .map(|it| {
                    (
                        http_conditions(it),
                        it.uri.as_ref().map(|uri| &*uri.value),
                        it.key,
                    )
                })
                .collect()
        };
        let takers: Vec<Option<Span>> = asked
            .iter()
            .map(|(conditions, path, _)| {
                let same = taken.get(conditions).and_then(|paths| paths.taker(*path));
                same.or_else(|| taken.get("").and_then(|paths| paths.taker(*path)))
            })
            .collect();
        report(
            route.key,
            asked.iter().map(|(_, _, span)| *span).zip(takers).collect(),
            out,
        );
        // What it delegates to may ask for more.
        if route.delegate.is_none() {
            for (conditions, path, span) in asked {
                taken.entry(conditions).or_default().add(path, span);
            }
        }
    }
}

fn check_layer4<M>(
    route: Span,
    matches: &[Spanned<M>],
    conditions: fn(&M) -> String,
    taken: &mut HashMap<String, Span>,
    out: &mut Findings,
) {
    let asked: Vec<(String, Span)> = match matches {
        [] => vec![(String::new(), route)],
        _ => matches.iter().map(|it| (conditions(it), it.key)).collect(),
    };
    let taker = |text: &str| taken.get(text).or_else(|| taken.get("")).copied();
    report(
        route,
        asked
            .iter()
            .map(|(text, span)| (*span, taker(text)))
            .collect(),
        out,
    );
    for (text, span) in asked {
        taken.entry(text).or_insert(span);
    }
}

/// The whole route, or those of its matches that are taken already.
fn report(route: Span, matches: Vec<(Span, Option<Span>)>, out: &mut Findings) {
    let help = "move it before that one, or remove it";
    if let Some(takers) = matches
        .iter()
        .map(|(_, taker)| *taker)
        .collect::<Option<Vec<Span>>>()
    {
        out.add(
            Basis::Proven,
            route,
            "this route is never used: what it asks for is taken before",
            |mut finding| {
                for taker in takers.into_iter().take(3) {
                    finding = finding.because(taker, "this takes it");
                }
                finding.help(help)
            },
        );
        return;
    }
    for (span, taker) in matches {
        let Some(taker) = taker else { continue };
        out.add(
            Basis::Proven,
            span,
            "this match is never used: what it asks for is taken before",
            |finding| finding.because(taker, "this takes it").help(help),
        );
    }
}

/// The paths that are taken already, under one set of other conditions.
#[derive(Default)]
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
        let Some(path) = path else { return self.all };
        let own = match (&path.exact, &path.prefix, &path.regex) {
            (Some(exact), _, _) => self
                .exact
                .get(exact.as_str())
                .copied()
                .or_else(|| self.prefix_of(exact)),
            (_, Some(prefix), _) => self.prefix_of(prefix),
            (_, _, Some(regex)) => self.regex.get(regex.as_str()).copied(),
            _ => None,
        };
        own.or(self.all)
    }

    fn prefix_of(&self, path: &str) -> Option<Span> {
        let starts = self
            .lengths
            .range(..=path.len())
            .filter_map(|length| path.get(..*length));
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

/// All conditions of a match but that of the path, equal for what asks the same.
fn http_conditions(matched: &HttpMatch) -> String {
    let mut out = String::new();
    for (name, text) in [
        ("scheme", &matched.scheme),
        ("method", &matched.method),
        ("authority", &matched.authority),
    ] {
        if let Some(text) = text {
            let _ = write!(out, "{name}{}", asked(text));
        }
    }
    let maps = [
        ("header", &matched.headers),
        ("no", &matched.without_headers),
        ("query", &matched.query_params),
    ];
    for (name, map) in maps {
        let mut entries: Vec<String> = map
            .iter()
            .flat_map(|map| map.iter())
            .map(|(key, text)| format!("{name}{:?}{}", key.value, asked(text)))
            .collect();
        entries.sort();
        out.extend(entries);
    }
    if matched.ignore_uri_case.as_ref().is_some_and(|it| it.value) {
        out.push_str("anycase");
    }
    common(
        &mut out,
        &matched.port,
        &matched.source_labels,
        &matched.gateways,
        &matched.source_namespace,
    );
    out
}

fn tls_conditions(matched: &TlsMatch) -> String {
    let mut out = String::new();
    names(&mut out, "sni", &matched.sni_hosts);
    names(&mut out, "subnet", &matched.destination_subnets);
    common(
        &mut out,
        &matched.port,
        &matched.source_labels,
        &matched.gateways,
        &matched.source_namespace,
    );
    out
}

/// `sourceSubnet` is never read.
fn tcp_conditions(matched: &L4Match) -> String {
    let mut out = String::new();
    names(&mut out, "subnet", &matched.destination_subnets);
    common(
        &mut out,
        &matched.port,
        &matched.source_labels,
        &matched.gateways,
        &matched.source_namespace,
    );
    out
}

fn common(
    out: &mut String,
    port: &Option<Spanned<i64>>,
    labels: &Option<Spanned<Map<String>>>,
    gateways: &Option<Spanned<List<String>>>,
    namespace: &Option<Spanned<String>>,
) {
    if let Some(port) = port.as_ref().filter(|port| port.value != 0) {
        let _ = write!(out, "port{}", port.value);
    }
    let mut entries: Vec<String> = labels
        .iter()
        .flat_map(|map| map.iter())
        .map(|(key, value)| format!("label{:?}{:?}", key.value, value.value))
        .collect();
    entries.sort();
    out.extend(entries);
    names(out, "gateway", gateways);
    if let Some(namespace) = namespace.as_ref().filter(|it| !it.is_empty()) {
        let _ = write!(out, "namespace{:?}", namespace.value);
    }
}

fn names(out: &mut String, what: &str, list: &Option<Spanned<List<String>>>) {
    let mut names: Vec<&str> = list.items().iter().map(|name| name.as_str()).collect();
    names.sort_unstable();
    for name in names {
        let _ = write!(out, "{what}{name:?}");
    }
}

fn asked(text: &StringMatch) -> String {
    match (&text.exact, &text.prefix, &text.regex) {
        (Some(exact), _, _) => format!("={:?}", exact.value),
        (_, Some(prefix), _) => format!("^{:?}", prefix.value),
        (_, _, Some(regex)) => format!("~{:?}", regex.value),
        _ => "any".to_owned(),
    }
}
