//! Well-known public suffixes. A finding that rests on this table alone is advice.

use super::facts::Class;

const SUFFIXES: [(&str, Class); 15] = [
    ("trafficmanager.net", Class::Gslb),
    ("akadns.net", Class::Gslb),
    ("cdngslb.com", Class::Gslb),
    ("cloudfront.net", Class::Cdn),
    ("akamaiedge.net", Class::Cdn),
    ("akamaized.net", Class::Cdn),
    ("edgekey.net", Class::Cdn),
    ("edgesuite.net", Class::Cdn),
    ("fastly.net", Class::Cdn),
    ("azureedge.net", Class::Cdn),
    ("azurefd.net", Class::Cdn),
    ("cdn.cloudflare.net", Class::Cdn),
    ("googleapis.com", Class::Cdn),
    ("gstatic.com", Class::Cdn),
    ("s3.amazonaws.com", Class::Cdn),
];

/// The class of a host by its suffix; `host` in lower case.
pub(super) fn class(host: &str) -> Option<Class> {
    SUFFIXES
        .iter()
        .find(|(suffix, _)| is_below(host, suffix))
        .map(|&(_, class)| class)
        .or_else(|| is_regional_bucket(host).then_some(Class::Cdn))
}

/// Whether `host` is `suffix` or ends with it after a dot.
fn is_below(host: &str, suffix: &str) -> bool {
    host.strip_suffix(suffix)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// `s3.*.amazonaws.com`, or a bucket below it.
fn is_regional_bucket(host: &str) -> bool {
    host.strip_suffix(".amazonaws.com")
        .and_then(|rest| rest.rsplit_once('.'))
        .is_some_and(|(rest, region)| !region.is_empty() && is_below(rest, "s3"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_whole_labels_only() {
        assert_eq!(class("x.akadns.net"), Some(Class::Gslb));
        assert_eq!(class("*.cloudfront.net"), Some(Class::Cdn));
        assert_eq!(class("storage.googleapis.com"), Some(Class::Cdn));
        assert_eq!(class("bucket.s3.eu-west-1.amazonaws.com"), Some(Class::Cdn));
        assert_eq!(class("s3.eu-west-1.amazonaws.com"), Some(Class::Cdn));
        assert_eq!(class("s3.amazonaws.com"), Some(Class::Cdn));
        for none in [
            "notakadns.net",
            "sqs.eu-west-1.amazonaws.com",
            "xs3.eu.amazonaws.com",
            "api.partner.example",
            "",
        ] {
            assert_eq!(class(none), None, "{none}");
        }
    }
}
