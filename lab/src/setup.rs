//! The manifests of an experiment, as a user would write them.

use std::fmt::Write as _;

/// The port of every external host. High, so that nobody need be root.
pub(crate) const PORT: u16 = 28_080;

/// One external host and what is said about it.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    host: String,
    protocol: &'static str,
    resolution: &'static str,
    endpoints: u8,
    /// What the rule of its route says beside the destination.
    route: Vec<String>,
    policy: String,
}

impl Setup {
    /// A host whose addresses come from DNS: `resolution` is `DNS` or `DNS_ROUND_ROBIN`.
    pub(crate) fn dns(name: &str, protocol: &'static str, resolution: &'static str) -> Self {
        Self {
            host: format!("{name}.lab.example"),
            protocol,
            resolution,
            endpoints: 0,
            route: Vec::new(),
            policy: String::new(),
        }
    }

    /// A host with that many endpoints: 192.0.2.1, 192.0.2.2, …
    pub(crate) fn of_endpoints(name: &str, protocol: &'static str, endpoints: u8) -> Self {
        Self {
            endpoints,
            ..Self::dns(name, protocol, "STATIC")
        }
    }

    /// A line of the rule of its route, such as `retries: {attempts: 0}`. Without any there is no VirtualService.
    pub(crate) fn route(mut self, line: &str) -> Self {
        self.route.push(line.to_owned());
        self
    }

    /// The `trafficPolicy` of its DestinationRule, in flow style.
    pub(crate) fn policy(self, policy: &str) -> Self {
        let policy = policy.to_owned();
        Self { policy, ..self }
    }

    /// Whether its servers speak HTTP/2, as its port declares.
    pub(crate) fn is_http2(&self) -> bool {
        self.protocol == "HTTP2"
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn manifests(&self) -> String {
        let Self {
            host,
            protocol,
            resolution,
            ..
        } = self;
        let mut out = format!(
            "apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {{name: host, namespace: lab}}
spec:
  hosts: [{host}]
  location: MESH_EXTERNAL
  ports: [{{number: {PORT}, name: port, protocol: {protocol}}}]
  resolution: {resolution}
"
        );
        if self.endpoints > 0 {
            let endpoints =
                (1..=self.endpoints).map(|number| format!("{{address: 192.0.2.{number}}}"));
            let endpoints: Vec<String> = endpoints.collect();
            let _ = writeln!(out, "  endpoints: [{}]", endpoints.join(", "));
        }
        if !self.policy.is_empty() {
            let policy = &self.policy;
            let _ = write!(
                out,
                "---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {{name: host, namespace: lab}}
spec:
  host: {host}
  trafficPolicy: {policy}
"
            );
        }
        if !self.route.is_empty() {
            let lines = self.route.join("\n    ");
            let _ = write!(
                out,
                "---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {{name: host, namespace: lab}}
spec:
  hosts: [{host}]
  http:
  - route: [{{destination: {{host: {host}}}}}]
    {lines}
"
            );
        }
        out
    }
}
