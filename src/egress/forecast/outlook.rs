//! A path with what is known about its host and what follows for it.

use super::{Forecast, Subject, span_of_time};
use crate::config::{Config, Fact, HostFacts, annotations};
use crate::egress::facts::{
    Because, ClusterFacts, ClusterType, Endpoint, Handler, RouteFacts, Traced,
};
use crate::egress::model::Model;
use crate::egress::path::Path;
use crate::egress::retry;
use crate::istio::resource::Spec;
use crate::source::Span;

/// One way, with what follows for it.
#[derive(Debug)]
pub struct Outlook<'t> {
    pub path: &'t Path,
    /// What is known about the host.
    pub known: Vec<Known>,
    /// `None` where the way does not end at the host.
    pub forecast: Option<Forecast>,
    /// The field's two-by-two view, if it is wanted.
    pub matrix: Option<Matrix>,
}

/// A fact about the host that Istio cannot know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// As the configuration spells it.
    pub name: &'static str,
    pub value: String,
    /// The line that says it; `None` for what the built-in table says.
    pub line: Option<Span>,
}

/// What would follow with the other resolution, and on the other path.
#[derive(Debug)]
pub struct Matrix {
    /// By path (HTTP, TCP), then by type (STRICT_DNS, LOGICAL_DNS).
    pub cells: [[Forecast; 2]; 2],
    /// Which of them is this destination's.
    pub chosen: Option<(usize, usize)>,
}

impl<'t> Outlook<'t> {
    pub fn of(path: &'t Path, model: &Model<'_>, config: &Config, with_matrix: bool) -> Self {
        let host = host_facts(path, model, config);
        let subject = subject(path, model, &host);
        Self {
            path,
            known: known(&host),
            forecast: subject.map(Forecast::of),
            matrix: subject
                .filter(|_| with_matrix)
                .map(|subject| matrix(subject, path, model)),
        }
    }
}

/// What the annotations of the ServiceEntry, the configuration and the built-in table say.
fn host_facts(path: &Path, model: &Model<'_>, config: &Config) -> HostFacts {
    let definitions = model.registry.definitions();
    let declared = path.declared.and_then(|it| definitions.get(it.definition));
    let annotations = declared.map(|definition| {
        let annotations = definition.resource.meta.annotations.iter();
        annotations::read(annotations.map(|(key, value)| (key, value))).0
    });
    let stand_in = declared.and_then(|definition| match &definition.resource.spec {
        Spec::ServiceEntry(entry) => entry.stand_in(),
        _ => None,
    });
    config.facts(&path.host, stand_in, &annotations.unwrap_or_default())
}

/// The hop at which the host is reached.
fn subject<'s>(path: &'s Path, model: &Model<'_>, host: &'s HostFacts) -> Option<Subject<'s>> {
    let hop = path.last().filter(|_| path.reaches_host())?;
    Some(Subject {
        handler: hop.result.handler?,
        cluster: hop.cluster.as_ref()?,
        route: hop.result.route.as_deref(),
        tcp: hop.result.tcp.as_ref(),
        host,
        version: model.mesh.version,
    })
}

fn known(host: &HostFacts) -> Vec<Known> {
    let time = |name, fact: Option<Fact<i64>>| {
        fact.map(|it| Known {
            name,
            value: span_of_time(it.value),
            line: it.span(),
        })
    };
    let text = |name, value: String, line| Some(Known { name, value, line });
    [
        host.class
            .and_then(|it| text("class", it.value.name().to_owned(), it.span())),
        host.addresses
            .and_then(|it| text("addresses", it.value.to_string(), it.span())),
        time("ttl", host.ttl_ms),
        time("drain", host.drain_ms),
        time("session", host.session_ms),
        host.repeatable
            .and_then(|it| text("repeatable", it.value.to_string(), it.span())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn matrix(subject: Subject<'_>, path: &Path, model: &Model<'_>) -> Matrix {
    let by_default = RouteFacts {
        timeout_ms: Traced::default(0, "Istio sets no timeout"),
        retry: retry::policy(None, model.mesh.config, None),
        host_rewrite: None,
        prefix_rewrite: None,
        mirrors: Vec::new(),
    };
    let cell = |handler: Handler, kind: ClusterType| {
        let cluster = ClusterFacts {
            cluster_type: Traced {
                value: kind,
                because: Because::Default("the cell of the matrix"),
            },
            endpoints: by_name(subject.cluster, path),
            ..subject.cluster.clone()
        };
        let http = handler == Handler::Http;
        let route = subject.route.unwrap_or(&by_default);
        Forecast::of(Subject {
            handler,
            cluster: &cluster,
            route: http.then_some(route),
            tcp: subject.tcp.filter(|_| !http),
            ..subject
        })
    };
    let row = |handler| {
        [
            cell(handler, ClusterType::StrictDns),
            cell(handler, ClusterType::LogicalDns),
        ]
    };
    let column = match subject.cluster.cluster_type.value {
        ClusterType::StrictDns => Some(0),
        ClusterType::LogicalDns => Some(1),
        _ => None,
    };
    Matrix {
        cells: [row(Handler::Http), row(Handler::Tcp)],
        chosen: column.map(|column| (usize::from(subject.handler == Handler::Tcp), column)),
    }
}

/// Its endpoints if they are names; the host itself otherwise, as it is without endpoints.
fn by_name(cluster: &ClusterFacts, path: &Path) -> Vec<Endpoint> {
    let is_name = |it: &Endpoint| it.address.value.parse::<std::net::IpAddr>().is_err();
    if cluster.endpoints.iter().any(is_name) {
        return cluster.endpoints.clone();
    }
    vec![Endpoint {
        address: Traced::default(path.host.clone(), "the host itself"),
        port: Traced::default(path.port, "the port itself"),
        weight: 1,
        priority: 0,
        locality: None,
    }]
}
