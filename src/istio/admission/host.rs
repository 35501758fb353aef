//! Host names and addresses, as Istio checks them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is wrong with a name that must be a domain name. Upper case and a dot at the end are right.
pub(super) fn domain_fault(name: &str) -> Option<String> {
    length_fault(name).or_else(|| labels_fault(name))
}

/// The same, where the first label may be or begin with `*`.
pub(super) fn wildcard_domain_fault(name: &str) -> Option<String> {
    if let Some(fault) = length_fault(name) {
        return Some(fault);
    }
    let (first, rest) = match name.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (name, None),
    };
    if !is_wildcard_label(first) {
        return Some(label_fault(first));
    }
    rest.and_then(labels_fault)
}

/// The same for a VirtualService of a gateway, where an SNI that Istio makes itself is right too.
pub(super) fn gateway_domain_fault(name: &str, sni: bool) -> Option<String> {
    if !sni || !name.starts_with("outbound_") {
        return wildcard_domain_fault(name);
    }
    if let Some(fault) = length_fault(name) {
        return Some(fault);
    }
    let parts: Vec<&str> = name.split('_').collect();
    let form = || Some("it must have the form `outbound_.PORT_.SUBSET_.HOST`".to_owned());
    let [_, port, _, host, ..] = parts[..] else {
        return form();
    };
    let right = port.contains(|c: char| c.is_ascii_digit())
        && host.contains(|c: char| c.is_ascii_alphabetic());
    if right { None } else { form() }
}

fn length_fault(name: &str) -> Option<String> {
    match name.len() {
        0 => Some("it is empty".to_owned()),
        1..=255 => None,
        length => Some(format!("it has {length} characters; 255 are allowed")),
    }
}

fn labels_fault(name: &str) -> Option<String> {
    let top = name.rsplit('.').next().unwrap_or(name);
    if top.parse::<i64>().is_ok() {
        return Some(format!("its last label `{top}` is a number"));
    }
    // The last label may be empty, as in `istio.io.`.
    let labels = name.strip_suffix('.').unwrap_or(name);
    if name.is_empty() {
        return None;
    }
    labels
        .split('.')
        .find(|label| !is_label(label))
        .map(label_fault)
}

fn label_fault(label: &str) -> String {
    if label.is_empty() {
        return "one of its labels is empty".to_owned();
    }
    if label.len() > 63 {
        return format!(
            "its label `{label}` has {} characters; 63 are allowed",
            label.len()
        );
    }
    match label
        .chars()
        .find(|c| !c.is_ascii_alphanumeric() && *c != '-')
    {
        Some('*') => "`*` may only begin its first label".to_owned(),
        Some(c) => format!("`{}` cannot be part of it", c.escape_debug()),
        None => format!("its label `{label}` must begin and end with a letter or digit"),
    }
}

/// A label as of RFC 1123, in either case.
pub(super) fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.bytes().all(inner)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// A label, `*`, or a label behind `*` or `*-`.
fn is_wildcard_label(text: &str) -> bool {
    if text.len() > 63 {
        return false;
    }
    match text.strip_prefix('*') {
        None => is_label(text),
        Some("") => true,
        Some(rest) => is_label(rest.strip_prefix('-').unwrap_or(rest)),
    }
}

/// An IPv4 or IPv6 address, the latter also with a zone.
pub(super) fn is_address(text: &str) -> bool {
    match text.split_once('%') {
        Some((address, zone)) => !zone.is_empty() && address.parse::<Ipv6Addr>().is_ok(),
        None => text.parse::<IpAddr>().is_ok(),
    }
}

/// An address or a range such as `10.0.0.0/8`; its host bits may be set.
pub(super) fn is_subnet(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return is_address(text);
    };
    let plain = bits.bytes().all(|byte| byte.is_ascii_digit())
        && (bits.len() == 1 || !bits.starts_with('0'));
    let Ok(bits) = bits.parse::<u8>() else {
        return false;
    };
    let most = if address.parse::<Ipv4Addr>().is_ok() {
        32
    } else {
        128
    };
    plain && bits <= most && address.parse::<IpAddr>().is_ok()
}

/// What is wrong with the path of a Unix socket.
pub(super) fn socket_fault(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("it is empty");
    }
    let right = path.starts_with('@') || (path.starts_with('/') && !path.ends_with('/'));
    (!right).then_some("it must be the absolute path of a file, or begin with `@`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains() {
        for name in [
            "a",
            "5",
            "a.b",
            "A.Example",
            "a.example.",
            "xn--bcher-kva.example",
            "a1.2b",
            "a.-1x.b",
        ] {
            let right = !name.contains("-1x");
            assert_eq!(domain_fault(name).is_none(), right && name != "5", "{name}");
        }
        for name in [
            "",
            ".",
            "a..b",
            "a_b",
            "a.5",
            "1.2.3.4",
            "-a",
            "a-",
            "*.a",
            "a.*",
            "ä.example",
            "a b",
        ] {
            assert!(domain_fault(name).is_some(), "{name}");
        }
        // A number too large for Go's int is a label like others.
        assert_eq!(domain_fault("a.99999999999999999999"), None);
    }

    #[test]
    fn wildcard_domains() {
        for name in ["*", "*.a", "*a.b", "*-a.b", "5", "a", "a.", "*.a."] {
            assert_eq!(wildcard_domain_fault(name), None, "{name}");
        }
        for name in ["**", "*.*", "a*", "*-", "*.5", "", "*--a.b", "a/b"] {
            assert!(wildcard_domain_fault(name).is_some(), "{name}");
        }
    }

    #[test]
    fn addresses() {
        for text in ["1.2.3.4", "::1", "fe80::1%eth0", "::ffff:1.2.3.4"] {
            assert!(is_address(text), "{text}");
        }
        for text in ["1.2.3", "01.2.3.4", "1.2.3.4%eth0", "fe80::1%", "a", ""] {
            assert!(!is_address(text), "{text}");
        }
        for text in ["1.2.3.4", "1.2.3.4/8", "10.0.0.0/0", "2001:1::1/64"] {
            assert!(is_subnet(text), "{text}");
        }
        for text in [
            "1.2.3.4/33",
            "1.2.3.4/08",
            "1.2.3.4/",
            "1.2.3.4/+8",
            "1.2.3.4/8/8",
            "::/129",
            "fe80::1%e/64",
        ] {
            assert!(!is_subnet(text), "{text}");
        }
    }
}
