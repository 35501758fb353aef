//! The protocol of a service or server port, as Istio's listeners see it.

/// `Unsupported` stands for an absent or unknown protocol: Envoy then sniffs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    Tcp,
    Udp,
    Grpc,
    GrpcWeb,
    Http,
    HttpProxy,
    Http2,
    Https,
    Tls,
    Mongo,
    Redis,
    MySql,
    Unsupported,
}

/// What kind of filter chains a port gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListenerKind {
    /// The HTTP connection manager, shared by all hosts of the port.
    Http,
    /// The TCP proxy, by address or SNI.
    Tcp,
    /// Both, told apart by sniffing.
    Auto,
    /// No listener at all (UDP).
    None,
}

/// Ports that are never sniffed, because there the server speaks first.
const SERVER_SPEAKS_FIRST: [u32; 4] = [25, 53, 3306, 27017];

impl Protocol {
    /// Of a port of a Kubernetes Service: `appProtocol`, else the port's name up to the first `-`.
    pub fn of_kubernetes_port(
        port: u32,
        name: &str,
        transport: Option<&str>,
        app_protocol: Option<&str>,
    ) -> Self {
        if transport == Some("UDP") {
            return Self::Udp;
        }
        match app_protocol {
            Some("kubernetes.io/h2c") => return Self::Http2,
            Some("kubernetes.io/ws") => return Self::Http,
            Some("kubernetes.io/wss") => return Self::Https,
            _ => {}
        }
        let name = app_protocol.unwrap_or(name);
        let start = name.get(.."grpc-web".len());
        if start.is_some_and(|start| start.eq_ignore_ascii_case("grpc-web")) {
            return Self::GrpcWeb;
        }
        match Self::parse(name.split('-').next().unwrap_or(name)) {
            Self::Unsupported if SERVER_SPEAKS_FIRST.contains(&port) => Self::Tcp,
            protocol => protocol,
        }
    }

    /// Any case; what Istio does not know is `Unsupported`.
    pub fn parse(text: &str) -> Self {
        match text.to_ascii_lowercase().as_str() {
            "tcp" => Self::Tcp,
            "udp" => Self::Udp,
            "grpc" => Self::Grpc,
            "grpc-web" => Self::GrpcWeb,
            "http" => Self::Http,
            "http_proxy" => Self::HttpProxy,
            "http2" => Self::Http2,
            "https" => Self::Https,
            "tls" => Self::Tls,
            "mongo" => Self::Mongo,
            "redis" => Self::Redis,
            "mysql" => Self::MySql,
            _ => Self::Unsupported,
        }
    }

    /// As Istio spells it; of a protocol that it does not know, what follows from that.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Grpc => "GRPC",
            Self::GrpcWeb => "GRPC-Web",
            Self::Http => "HTTP",
            Self::HttpProxy => "HTTP_PROXY",
            Self::Http2 => "HTTP2",
            Self::Https => "HTTPS",
            Self::Tls => "TLS",
            Self::Mongo => "Mongo",
            Self::Redis => "Redis",
            Self::MySql => "MySQL",
            Self::Unsupported => "an unknown protocol",
        }
    }

    pub fn is_http(self) -> bool {
        matches!(
            self,
            Self::Http | Self::Http2 | Self::HttpProxy | Self::Grpc | Self::GrpcWeb
        )
    }

    pub fn is_http2(self) -> bool {
        matches!(self, Self::Http2 | Self::Grpc | Self::GrpcWeb)
    }

    /// TCP and everything that Istio treats as opaque bytes, TLS among it.
    pub fn is_tcp(self) -> bool {
        matches!(
            self,
            Self::Tcp | Self::Https | Self::Tls | Self::Mongo | Self::Redis | Self::MySql
        )
    }

    /// Routed by SNI without being decrypted.
    pub fn is_tls(self) -> bool {
        matches!(self, Self::Https | Self::Tls)
    }

    pub fn is_unsupported(self) -> bool {
        self == Self::Unsupported
    }

    /// HTTP, or possibly HTTP once sniffed.
    pub fn is_http_or_sniffed(self) -> bool {
        self.is_http() || self.is_unsupported()
    }

    pub fn listener(self) -> ListenerKind {
        match self {
            Self::Udp => ListenerKind::None,
            Self::Unsupported => ListenerKind::Auto,
            http if http.is_http() => ListenerKind::Http,
            _ => ListenerKind::Tcp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kubernetes_port_is_named_after_its_protocol() {
        let of = |name, app| Protocol::of_kubernetes_port(80, name, Some("TCP"), app);
        assert_eq!(of("http-web", None), Protocol::Http);
        assert_eq!(of("grpc-web-x", None), Protocol::GrpcWeb);
        assert_eq!(of("web", None), Protocol::Unsupported);
        assert_eq!(of("http", Some("kubernetes.io/wss")), Protocol::Https);
        assert_eq!(of("http", Some("")), Protocol::Unsupported);
        let of = |port, transport| Protocol::of_kubernetes_port(port, "x", transport, None);
        assert_eq!(of(3306, None), Protocol::Tcp);
        assert_eq!(of(53, Some("UDP")), Protocol::Udp);
    }
}
