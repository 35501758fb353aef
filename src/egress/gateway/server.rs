//! A server of a Gateway.

use std::borrow::Cow;

use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::egress::filter_chain::Names;
use crate::egress::namespace::{Same, same};
use crate::egress::protocol::Protocol;
use crate::egress::virtual_service::Binding;
use crate::istio::decode::Items;
use crate::istio::proxy::{Server, ServerTlsMode};
use crate::istio::resource::Resource;
use crate::source::{Span, Spanned};

/// A host of a server: for VirtualServices of all namespaces or of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ServerHost<'m> {
    pub only: Option<Option<&'m str>>,
    pub name: &'m str,
}

impl ServerHost<'_> {
    pub fn is_for(&self, namespace: Option<&str>) -> bool {
        self.only
            .is_none_or(|only| same(only, namespace) != Same::No)
    }
}

/// A server of a Gateway, on a port of a router.
#[derive(Clone, Debug)]
pub struct GatewayServer<'m> {
    pub gateway: &'m Resource,
    pub written: &'m Spanned<Server>,
    pub hosts: Vec<ServerHost<'m>>,
    /// As the Gateway writes it: what rules mean by a port.
    pub number: u32,
    pub protocol: Protocol,
    /// The virtual hosts it shares with others; none where it does not decode HTTP.
    pub route_name: Option<String>,
}

impl<'m> GatewayServer<'m> {
    pub fn binding(&self) -> Binding<'m> {
        Binding::Gateway {
            namespace: self.gateway.namespace(),
            name: self.gateway.name(),
        }
    }

    pub fn bind(&self) -> &'m str {
        text(&self.written.value.bind)
    }

    pub(super) fn port_protocol(&self) -> &'m str {
        self.written
            .value
            .port
            .as_ref()
            .map_or("", |port| text(&port.value.protocol))
    }

    pub fn has_tls(&self) -> bool {
        self.written.value.tls.is_some()
    }

    pub fn tls_mode(&self) -> Option<ServerTlsMode> {
        let tls = self.written.value.tls.as_ref()?;
        Some(
            tls.value
                .mode
                .as_ref()
                .map(|mode| mode.value)
                .unwrap_or_default(),
        )
    }

    /// The lines that decide what it does with a connection: its protocol and, where that does not settle it, its TLS
    /// mode.
    pub fn lines(&self) -> SmallVec<[Span; 2]> {
        let port = self.written.value.port.as_ref();
        let protocol = port.map(|port| port.value.protocol.as_ref().map_or(port.key, |p| p.span));
        let tls = self.written.value.tls.as_ref();
        let tls = tls.filter(|_| !self.protocol.is_http());
        let mode = tls.map(|tls| tls.value.mode.as_ref().map_or(tls.key, |mode| mode.span));
        protocol.into_iter().chain(mode).collect()
    }

    /// TLS goes through undecrypted.
    pub fn passes_through(&self) -> bool {
        matches!(
            self.tls_mode(),
            Some(ServerTlsMode::Passthrough | ServerTlsMode::AutoPassthrough)
        )
    }

    /// TLS is decrypted, and what comes out is HTTP.
    pub fn ends_https(&self) -> bool {
        self.has_tls() && self.protocol == Protocol::Https && !self.passes_through()
    }

    /// Requests without TLS are sent back with a redirect.
    pub fn redirects_to_https(&self) -> bool {
        let tls = self.written.value.tls.as_ref();
        tls.and_then(|tls| tls.value.https_redirect.as_ref())
            .is_some_and(|redirect| redirect.value)
    }

    pub(super) fn is_http(&self) -> bool {
        self.protocol.is_http() || self.protocol == Protocol::Https && !self.passes_through()
    }

    pub(super) fn is_tls(&self) -> bool {
        self.has_tls() && !self.protocol.is_http()
    }

    /// The names by which TLS connections to it are told from others.
    pub fn server_names(&self) -> Names<'m> {
        let mut names: Names<'m> = self
            .hosts
            .iter()
            .map(|host| Cow::Borrowed(host.name))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    pub(super) fn read(gateway: &'m Resource, written: &'m Spanned<Server>) -> Option<Self> {
        let port = written.value.port.as_ref()?;
        let number = port.value.number.as_ref().map_or(0, |number| number.value);
        let own = gateway.namespace();
        let mut hosts: Vec<_> = written
            .value
            .hosts
            .items()
            .iter()
            .map(|host| {
                let (namespace, name) = match host.value.split_once('/') {
                    Some((namespace, name)) => (Some(namespace), name),
                    None => (None, host.value.as_str()),
                };
                let only = match namespace {
                    None | Some("*") => None,
                    Some(".") => Some(own),
                    named => Some(named),
                };
                ServerHost { only, name }
            })
            .collect();
        if written
            .value
            .hosts
            .items()
            .iter()
            .any(|host| host.value == "*/*")
        {
            hosts = vec![ServerHost {
                only: None,
                name: "*",
            }];
        }
        Some(Self {
            gateway,
            written,
            hosts,
            number: u32::try_from(number).unwrap_or(0),
            protocol: Protocol::parse(text(&port.value.protocol)),
            route_name: None,
        })
    }

    pub(super) fn route_name(&self, resolved: u32) -> Option<String> {
        let bind = match self.bind() {
            "" => String::new(),
            bind => format!(".{bind}"),
        };
        if self.protocol.is_http() {
            return Some(format!("http.{resolved}{bind}"));
        }
        let https = self.protocol == Protocol::Https && !self.passes_through();
        https.then(|| {
            let port = self.written.value.port.as_ref();
            let name = port.map_or("", |port| text(&port.value.name));
            let namespace = self.gateway.namespace().unwrap_or_default();
            let gateway = self.gateway.name();
            format!("https.{}.{name}.{gateway}.{namespace}{bind}", self.number)
        })
    }
}

fn text(text: &Option<Spanned<SmolStr>>) -> &str {
    text.as_ref().map_or("", |text| &text.value)
}
