//! What a trace is asked: to which host, in which protocol, by whom.

use clap::ValueEnum;

use crate::egress::client::Client;
use crate::egress::facts::Speaks;

/// A host, and perhaps a port.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) host: String,
    pub(super) port: Option<u32>,
}

pub(super) fn target(text: &str) -> Result<Target, String> {
    if text.contains('/') {
        return Err("write a host and perhaps a port, without scheme and path".to_owned());
    }
    let (host, port) = match (text.strip_prefix('['), text.rsplit_once(':')) {
        // An address of IPv6, in brackets or without a port.
        (Some(rest), _) => match rest.split_once(']') {
            Some((address, "")) => (address, None),
            Some((address, port)) => (address, Some(port.trim_start_matches(':'))),
            None => return Err("a bracket is open".to_owned()),
        },
        (None, Some((host, port))) if !host.contains(':') => (host, Some(port)),
        _ => (text, None),
    };
    let number = |port: &str| {
        let number = port.parse::<u16>().ok().filter(|&number| number > 0);
        number.ok_or_else(|| format!("`{port}` is no port"))
    };
    if host.is_empty() {
        return Err("there is no host".to_owned());
    }
    Ok(Target {
        // Clients and proxies do not tell the cases of a host name apart.
        host: host.to_lowercase(),
        port: port.map(number).transpose()?.map(u32::from),
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Protocol {
    Http,
    Http2,
    Tls,
    Tcp,
}

impl From<Protocol> for Speaks {
    fn from(protocol: Protocol) -> Self {
        match protocol {
            Protocol::Http => Self::Http,
            Protocol::Http2 => Self::Http2,
            Protocol::Tls => Self::Tls,
            Protocol::Tcp => Self::Tcp,
        }
    }
}

pub(super) fn client(text: &str) -> Result<Client, String> {
    let (namespace, labels) = text.split_once('/').unwrap_or((text, ""));
    let labels = labels.split(',').filter(|label| !label.is_empty());
    let labels = labels.map(|label| {
        let (key, value) = label
            .split_once('=')
            .ok_or_else(|| format!("`{label}` is no label: write k=v"))?;
        Ok((key.to_owned(), value.to_owned()))
    });
    Ok(Client {
        labels: labels.collect::<Result<_, String>>()?,
        ..Client::sidecar(Some(namespace).filter(|name| !name.is_empty()))
    })
}
