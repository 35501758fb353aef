//! `exportTo`: which namespaces see an object, and in which order they meet it.

use super::namespace::{Same, same};

/// How an object came to be visible. Istio goes through them in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exposure {
    /// Within its own namespace only.
    Private,
    /// `exportTo` names the client's namespace.
    Exported,
    Public,
}

/// What an absent `exportTo` means: one of the `default…ExportTo` lists of `MeshConfig`.
#[derive(Clone, Debug)]
pub struct DefaultExport {
    entries: Vec<String>,
    /// Of a default, Istio before 1.31 honours only `.` and `*`.
    only_own_or_all: bool,
}

impl Default for DefaultExport {
    fn default() -> Self {
        Self::new(None, false)
    }
}

impl DefaultExport {
    /// `None` stands for an absent list, which means all namespaces.
    pub fn new(entries: Option<Vec<String>>, only_own_or_all: bool) -> Self {
        Self {
            entries: entries.unwrap_or_else(|| vec!["*".to_owned()]),
            only_own_or_all,
        }
    }
}

/// Who sees an object, as far as that can be said without knowing who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Everyone,
    /// Its own namespace alone.
    OwnNamespace,
    /// Whom its entries name.
    Listed,
}

/// Who sees an object of the namespace `own` that declares these entries.
pub fn reach<'e>(
    own: Option<&str>,
    declared: impl Iterator<Item = &'e str> + Clone,
    default: &'e DefaultExport,
) -> Reach {
    if exposure(own, declared.clone(), default, None) == Some(Exposure::Public) {
        return Reach::Everyone;
    }
    let absent = declared.clone().next().is_none();
    let default = default.entries.iter().map(String::as_str);
    let mut entries = declared.chain(default.filter(|_| absent)).peekable();
    match entries.peek().is_some() && entries.all(|entry| entry == ".") {
        true => Reach::OwnNamespace,
        false => Reach::Listed,
    }
}

/// Whether a client of a namespace sees an object of the namespace `own` that declares these entries.
pub fn exposure<'e>(
    own: Option<&str>,
    declared: impl Iterator<Item = &'e str> + Clone,
    default: &'e DefaultExport,
    client: Option<&str>,
) -> Option<Exposure> {
    if declared.clone().next().is_some() {
        return by_entries(own, declared, client);
    }
    let entries = default.entries.iter().map(String::as_str);
    if !default.only_own_or_all {
        return by_entries(own, entries, client);
    }
    let holds = |wanted: &str| entries.clone().any(|entry| entry == wanted);
    if holds(".") {
        (same(own, client) != Same::No).then_some(Exposure::Private)
    } else {
        holds("*").then_some(Exposure::Public)
    }
}

/// A namespace that sees an object of the namespace `own` that declares these entries: its own if it does, else the
/// first that they name.
pub fn viewer<'e>(
    own: Option<&'e str>,
    declared: impl Iterator<Item = &'e str> + Clone,
) -> Option<&'e str> {
    let own = own?;
    let shows = |entry: &str| matches!(entry, "*" | ".") || entry == own;
    if declared.clone().any(shows) {
        return Some(own);
    }
    let mut others = declared.filter(|entry| *entry != "~");
    Some(others.next().unwrap_or(own))
}

fn by_entries<'e>(
    own: Option<&str>,
    entries: impl Iterator<Item = &'e str> + Clone,
    client: Option<&str>,
) -> Option<Exposure> {
    if entries.clone().any(|entry| entry == "*") {
        return Some(Exposure::Public);
    }
    if entries.clone().any(|entry| entry == "~") {
        return None;
    }
    entries
        .filter_map(|entry| {
            let (target, exposure) = match entry {
                "." => (own, Exposure::Private),
                entry if Some(entry) == own => (own, Exposure::Private),
                entry => (Some(entry), Exposure::Exported),
            };
            (same(target, client) != Same::No).then_some(exposure)
        })
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(own: &str, entries: &[&str], client: &str) -> Option<Exposure> {
        let default = DefaultExport::new(None, true);
        exposure(Some(own), entries.iter().copied(), &default, Some(client))
    }

    #[test]
    fn entries_name_who_sees_it() {
        assert_eq!(of("a", &[], "b"), Some(Exposure::Public));
        assert_eq!(of("a", &["."], "a"), Some(Exposure::Private));
        assert_eq!(of("a", &["."], "b"), None);
        assert_eq!(of("a", &["a"], "a"), Some(Exposure::Private));
        assert_eq!(of("a", &["b"], "b"), Some(Exposure::Exported));
        assert_eq!(of("a", &["b"], "a"), None);
        assert_eq!(of("a", &["~"], "a"), None);
        assert_eq!(of("a", &["b", "*"], "c"), Some(Exposure::Public));
    }

    #[test]
    fn somebody_sees_it() {
        let viewer = |entries: &[&'static str]| viewer(Some("a"), entries.iter().copied());
        assert_eq!(viewer(&[]), Some("a"));
        assert_eq!(viewer(&["b", "."]), Some("a"));
        assert_eq!(viewer(&["b", "c"]), Some("b"));
        assert_eq!(viewer(&["~"]), Some("a"));
    }

    #[test]
    fn what_can_be_said_without_the_client_is_what_each_client_finds() {
        let defaults = [
            DefaultExport::default(),
            DefaultExport::new(Some(vec![".".to_owned()]), true),
            DefaultExport::new(Some(vec!["b".to_owned()]), false),
            DefaultExport::new(Some(Vec::new()), false),
        ];
        let lists: [&[&str]; 8] = [
            &[],
            &["*"],
            &["."],
            &[".", "."],
            &["~"],
            &["a"],
            &[".", "b"],
            &["*", "."],
        ];
        for (default, entries) in defaults
            .iter()
            .flat_map(|default| lists.map(|it| (default, it)))
        {
            for own in [Some("a"), None] {
                let declared = entries.iter().copied();
                let seen = [Some("a"), Some("b"), None].map(|client| {
                    let found = exposure(own, declared.clone(), default, client);
                    let own = (same(own, client) != Same::No).then_some(Exposure::Private);
                    (found == Some(Exposure::Public), found == own)
                });
                match reach(own, declared, default) {
                    Reach::Everyone => assert!(seen.iter().all(|(public, _)| *public)),
                    Reach::OwnNamespace => assert!(seen.iter().all(|(_, own)| *own)),
                    Reach::Listed => assert!(seen.iter().all(|(public, _)| !public)),
                }
            }
        }
    }

    #[test]
    fn a_default_of_other_namespaces_hides_from_all_before_1_31() {
        let entries = Some(vec!["b".to_owned()]);
        let old = DefaultExport::new(entries.clone(), true);
        let new = DefaultExport::new(entries, false);
        let none = std::iter::empty::<&str>();
        assert_eq!(exposure(Some("a"), none.clone(), &old, Some("b")), None);
        assert_eq!(
            exposure(Some("a"), none, &new, Some("b")),
            Some(Exposure::Exported)
        );
    }
}
