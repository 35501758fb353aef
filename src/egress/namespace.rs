//! Comparing namespaces of which some are unknown.

/// Whether two namespaces are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Same {
    No,
    /// One of them is unknown, so they may be.
    Perhaps,
    /// Both are known and equal, or both unknown: absent namespaces are one namespace of their own.
    Yes,
}

/// Compares two namespaces, `None` being unknown.
pub fn same(a: Option<&str>, b: Option<&str>) -> Same {
    match (a, b) {
        (a, b) if a == b => Same::Yes,
        (Some(_), Some(_)) => Same::No,
        _ => Same::Perhaps,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_namespace_may_be_any() {
        assert_eq!(same(Some("a"), Some("a")), Same::Yes);
        assert_eq!(same(Some("a"), Some("b")), Same::No);
        assert_eq!(same(Some("a"), None), Same::Perhaps);
        assert_eq!(same(None, None), Same::Yes);
    }
}
