//! Which paths are asked for.

use crate::egress::call::Call;
use crate::egress::client::Client;
use crate::egress::facts::Speaks;
use crate::egress::host::{is_wildcard, subset_of};

/// Which paths are asked for. What is left open is not asked about.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub host: Option<String>,
    pub port: Option<u32>,
    pub speaks: Option<Speaks>,
    pub client: Option<Client>,
}

impl Question {
    pub(super) fn wants_host(&self, host: &str) -> bool {
        self.host.as_ref().is_none_or(|wanted| {
            wanted.eq_ignore_ascii_case(host)
                || is_wildcard(host) && subset_of(&wanted.to_lowercase(), &host.to_lowercase())
        })
    }

    pub(super) fn wants(&self, port: u32, speaks: Speaks) -> bool {
        self.port.is_none_or(|wanted| wanted == port)
            && self.speaks.is_none_or(|wanted| wanted == speaks)
    }

    /// The very call of a client that is asked for, where the files define nothing that fits.
    pub(super) fn call(&self, client: &Client) -> Option<Call> {
        let host = self.host.clone()?;
        let port = self.port.unwrap_or(443);
        Some(Call {
            client: client.clone(),
            address: host.parse().ok(),
            host,
            port,
            speaks: self.speaks.unwrap_or(match port {
                80 => Speaks::Http,
                443 => Speaks::Tls,
                _ => Speaks::Tcp,
            }),
            path: None,
        })
    }
}
