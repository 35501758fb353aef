//! The facts of a host as annotations of its ServiceEntry: they win over the configuration.

use smol_str::SmolStr;

use super::RULE;
use super::duration;
use super::facts::{Class, Fact, HostFacts, Origin};
use crate::diag::{Diagnostic, Severity, nearest};
use crate::source::Spanned;

/// What the names of all annotations that are meant for this program begin with.
pub const PREFIX: &str = "egress-lint/";

/// The annotation that silences rules for one resource.
pub const IGNORE: &str = "egress-lint/ignore";

const FACTS: [&str; 6] = [
    "egress-lint/class",
    "egress-lint/addresses",
    "egress-lint/ttl",
    "egress-lint/repeatable",
    "egress-lint/drain",
    "egress-lint/session",
];

/// Reads the facts among the annotations of a ServiceEntry. What cannot be read is a `config` diagnostic.
pub fn read<'a>(
    annotations: impl IntoIterator<Item = (&'a Spanned<SmolStr>, &'a Spanned<SmolStr>)>,
) -> (HostFacts, Vec<Diagnostic>) {
    let mut facts = HostFacts::default();
    let mut findings = Vec::new();
    for (name, value) in annotations {
        if !name.value.starts_with(PREFIX) || name.value == IGNORE {
            continue;
        }
        let wanted = match name.value.as_str() {
            "egress-lint/class" => set(
                &mut facts.class,
                value,
                Class::parse,
                "`gslb`, `cdn` or `fixed`",
            ),
            "egress-lint/addresses" => set(&mut facts.addresses, value, count, "a number from 1"),
            "egress-lint/ttl" => set(&mut facts.ttl_ms, value, duration::milliseconds, DURATION),
            "egress-lint/repeatable" => {
                set(&mut facts.repeatable, value, boolean, "`true` or `false`")
            }
            "egress-lint/drain" => {
                set(&mut facts.drain_ms, value, duration::milliseconds, DURATION)
            }
            "egress-lint/session" => set(
                &mut facts.session_ms,
                value,
                duration::milliseconds,
                DURATION,
            ),
            _ => {
                findings.push(unknown(name));
                None
            }
        };
        if let Some(wanted) = wanted {
            let message = format!(
                "the annotation `{}` must be {wanted}, not `{}`",
                name.value, value.value
            );
            findings.push(Diagnostic::new(RULE, Severity::Error, value.span, message));
        }
    }
    (facts, findings)
}

/// What is wrong with the annotations of another kind of object: it has no hosts of which a fact could be told.
pub fn misplaced<'a>(
    kind: &str,
    names: impl IntoIterator<Item = &'a Spanned<SmolStr>>,
) -> Vec<Diagnostic> {
    let ours = names
        .into_iter()
        .filter(|name| name.value.starts_with(PREFIX) && name.value != IGNORE);
    let finding = |name: &Spanned<SmolStr>| {
        if !FACTS.contains(&name.value.as_str()) {
            return unknown(name);
        }
        let message = format!(
            "the annotation `{}` tells nothing on a {kind}, only on a ServiceEntry",
            name.value
        );
        Diagnostic::new(RULE, Severity::Error, name.span, message)
            .help("write it on the ServiceEntry of the host, or under `hosts:` in egress-lint.yaml")
    };
    ours.map(finding).collect()
}

const DURATION: &str = "a duration such as `30s`";

/// Sets the fact, or answers what the value should have been.
fn set<T>(
    fact: &mut Option<Fact<T>>,
    value: &Spanned<SmolStr>,
    parse: impl Fn(&str) -> Option<T>,
    wanted: &'static str,
) -> Option<&'static str> {
    let Some(parsed) = parse(&value.value) else {
        return Some(wanted);
    };
    *fact = Some(Fact {
        value: parsed,
        origin: Origin::Annotation(value.span),
    });
    None
}

fn count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|&count| count > 0)
}

fn boolean(text: &str) -> Option<bool> {
    text.parse().ok()
}

fn unknown(name: &Spanned<SmolStr>) -> Diagnostic {
    let message = format!("unknown annotation `{}`", name.value);
    let finding = Diagnostic::new(RULE, Severity::Error, name.span, message);
    match nearest(&name.value, FACTS.into_iter().chain([IGNORE])) {
        Some(near) => finding.help(format!("did you mean `{near}`?")),
        None => finding.help(format!(
            "the known ones are `{}` and `{IGNORE}`",
            FACTS.join("`, `")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{FileId, Span};

    #[test]
    fn facts_stand_on_service_entries() {
        let span = Span::new(FileId(0), 0, 1);
        let names = ["egress-lint/class", "egress-lint/ignore", "other/class"]
            .map(|name| Spanned::new(SmolStr::from(name), span, span));
        let said: Vec<_> = misplaced("Gateway", &names)
            .iter()
            .map(|finding| finding.message.to_string())
            .collect();
        let message =
            "the annotation `egress-lint/class` tells nothing on a Gateway, only on a ServiceEntry";
        assert_eq!(said, [message]);
    }

    #[test]
    fn reads_facts_and_reports_what_it_cannot_read() {
        let at = |text: &str, start| {
            let span = Span::new(FileId(0), start, start + 1);
            Spanned::new(SmolStr::from(text), span, span)
        };
        let annotations = [
            (at("egress-lint/class", 0), at("cdn", 1)),
            (at("egress-lint/addresses", 2), at("-1", 3)),
            (at("egress-lint/adresses", 4), at("2", 5)),
            (at("egress-lint/ignore", 6), at("a, b", 7)),
            (at("other/class", 8), at("x", 9)),
            (at("egress-lint/drain", 10), at("5m", 11)),
        ];
        let (facts, findings) = read(annotations.iter().map(|(name, value)| (name, value)));
        assert_eq!(facts.class.map(|f| f.value), Some(Class::Cdn));
        assert_eq!(facts.drain_ms.map(|f| f.value), Some(300_000));
        assert_eq!(facts.addresses, None);
        let said: Vec<_> = findings
            .iter()
            .map(|f| (f.span.start, &*f.message, f.help.as_deref()))
            .collect();
        assert_eq!(
            said,
            [
                (
                    3,
                    "the annotation `egress-lint/addresses` must be a number from 1, not `-1`",
                    None
                ),
                (
                    4,
                    "unknown annotation `egress-lint/adresses`",
                    Some("did you mean `egress-lint/addresses`?")
                ),
            ]
        );
    }
}
