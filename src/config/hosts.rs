//! `hosts:`: what the configuration says about hosts. The first entry that matches wins.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::builtin;
use super::facts::{Fact, HostFacts, Origin};
use crate::source::Spanned;

/// No host name is longer than 253 bytes; a glob may need a few more to say which.
const LONGEST: usize = 512;

/// The entries of `hosts:`, in their order.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    set: GlobSet,
    entries: Vec<(Spanned<String>, HostFacts)>,
}

impl Hosts {
    /// The entries whose glob can be compiled; `refused` is told of each that cannot, and why.
    pub fn new(
        entries: impl IntoIterator<Item = (Spanned<String>, HostFacts)>,
        mut refused: impl FnMut(&Spanned<String>, String),
    ) -> Self {
        let mut builder = GlobSetBuilder::new();
        let mut kept = Vec::new();
        for (host, facts) in entries {
            match compile(&host.value) {
                Ok(glob) => {
                    builder.add(glob);
                    kept.push((host, facts));
                }
                Err(reason) => refused(&host, reason),
            }
        }
        match builder.build() {
            Ok(set) => Self { set, entries: kept },
            Err(error) => {
                if let Some((host, _)) = kept.first() {
                    refused(host, error.kind().to_string());
                }
                Self::default()
            }
        }
    }

    /// The globs as they are written, with what is said about them.
    pub fn iter(&self) -> impl Iterator<Item = &(Spanned<String>, HostFacts)> {
        self.entries.iter()
    }

    /// What the configuration and the built-in table say about a host; a host may itself be a wildcard (`*.example.com`).
    pub fn facts(&self, host: &str) -> HostFacts {
        let host = host.to_ascii_lowercase();
        let given = self
            .set
            .matches(&host)
            .first()
            .and_then(|&first| self.entries.get(first))
            .map(|(_, facts)| facts.clone())
            .unwrap_or_default();
        let built_in = HostFacts {
            class: builtin::class(&host).map(|value| Fact {
                value,
                origin: Origin::BuiltIn,
            }),
            ..HostFacts::default()
        };
        given.or(&built_in)
    }
}

fn compile(glob: &str) -> Result<globset::Glob, String> {
    if glob.len() > LONGEST {
        return Err(format!("longer than {LONGEST} bytes"));
    }
    GlobBuilder::new(&glob.to_ascii_lowercase())
        .literal_separator(false)
        .backslash_escape(true)
        .build()
        .map_err(|error| error.kind().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::facts::Class;
    use crate::source::{FileId, Span};

    fn hosts(entries: &[(&str, Class)]) -> Hosts {
        let span = Span::new(FileId(0), 0, 0);
        Hosts::new(
            entries.iter().map(|&(host, value)| {
                let class = Some(Fact {
                    value,
                    origin: Origin::Config(span),
                });
                (
                    Spanned::new(host.to_owned(), span, span),
                    HostFacts {
                        class,
                        ..HostFacts::default()
                    },
                )
            }),
            |glob, reason| panic!("{}: {reason}", glob.value),
        )
    }

    #[test]
    fn the_first_match_wins_over_later_ones_and_over_the_table() {
        let hosts = hosts(&[
            ("static.Partner.example", Class::Fixed),
            ("*.partner.example", Class::Gslb),
            ("*.akadns.net", Class::Cdn),
            ("api-{eu,us}.other.example", Class::Cdn),
        ]);
        let class = |host| hosts.facts(host).class.map(|fact| fact.value);
        assert_eq!(class("static.partner.example"), Some(Class::Fixed));
        assert_eq!(class("API.partner.example"), Some(Class::Gslb));
        assert_eq!(class("a.b.partner.example"), Some(Class::Gslb));
        assert_eq!(class("*.partner.example"), Some(Class::Gslb));
        assert_eq!(class("api-eu.other.example"), Some(Class::Cdn));
        assert_eq!(class("partner.example"), None);
        assert!(
            hosts
                .facts("x.akadns.net")
                .class
                .is_some_and(|f| f.is_given())
        );
        assert!(
            hosts
                .facts("x.fastly.net")
                .class
                .is_some_and(|f| !f.is_given())
        );
    }
}
