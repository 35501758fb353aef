//! Other names for the words of a recipe.

use egress_lint::yaml::Value;

use super::dice::Dice;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Domain,
    Namespace,
    Name,
    Port,
    Address,
}

impl Sort {
    pub fn named(name: &str) -> Self {
        match name {
            "domain" => Self::Domain,
            "namespace" => Self::Namespace,
            "name" => Self::Name,
            "port" => Self::Port,
            "address" => Self::Address,
            other => panic!("`{other}` cannot vary"),
        }
    }
}

/// A word of a recipe that may be another.
pub struct Word {
    pub sort: Sort,
    pub text: String,
}

const STEMS: [&str; 16] = [
    "amber", "basalt", "cedar", "delta", "ember", "fjord", "garnet", "harbor", "iris", "juniper",
    "kestrel", "linden", "marble", "nimbus", "orchid", "poplar",
];

const ENDS: [&str; 8] = [
    "example",
    "com",
    "net",
    "org",
    "io",
    "co.uk",
    "com.br",
    "gov.example",
];

/// Ports that neither Istio nor the rules know anything about.
const PORTS: [&str; 8] = [
    "5001", "6432", "7443", "9123", "11443", "20123", "31999", "47001",
];

/// What takes the place of each word of one recipe. `used` counts, so that no two recipes of a set-up share a name.
pub struct Names(Vec<(String, String)>);

impl Names {
    pub fn draw(words: &[Word], used: &mut usize, dice: &mut Dice) -> Self {
        let mut all: Vec<(String, String)> = words
            .iter()
            .map(|word| {
                *used += 1;
                let stem = *dice.pick(&STEMS);
                let number = *used;
                let other = match word.sort {
                    Sort::Domain => format!("{stem}-{number}.{}", dice.pick(&ENDS)),
                    Sort::Namespace => format!("{stem}-ns-{number}"),
                    Sort::Name => format!("{stem}{number}"),
                    Sort::Port => (*dice.pick(&PORTS)).to_owned(),
                    Sort::Address => {
                        let (first, _) = word.text.split_once('.').expect("an address");
                        let (high, low) = (1 + number / 200, 1 + number % 200);
                        format!("{first}.{}.{high}.{low}", 1 + dice.below(200))
                    }
                };
                (word.text.clone(), other)
            })
            .collect();
        // `store-a.example` before `store-a`.
        all.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        Self(all)
    }

    pub fn apply(&self, value: &mut Value) {
        match value {
            Value::Str(text) => *text = self.text(text),
            Value::Int(number) => {
                if let Some((_, other)) = self.0.iter().find(|(it, _)| *it == number.to_string()) {
                    *number = other.parse().expect("a port");
                }
            }
            Value::List(items) => items.iter_mut().for_each(|it| self.apply(it)),
            Value::Map(entries) => entries.iter_mut().for_each(|(_, it)| self.apply(it)),
            Value::Null | Value::Bool(_) | Value::Float(_) => {}
        }
    }

    /// With each whole word replaced.
    fn text(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let begins = !out.ends_with(|it: char| it.is_ascii_alphanumeric());
            let found = self.0.iter().filter(|_| begins).find(|(word, _)| {
                let after = rest.strip_prefix(word.as_str());
                after.is_some_and(|it| !it.starts_with(|it: char| it.is_ascii_alphanumeric()))
            });
            let (taken, put) = match found {
                Some((word, other)) => (word.len(), other.as_str()),
                None => (next.len_utf8(), &rest[..next.len_utf8()]),
            };
            out.push_str(put);
            rest = &rest[taken..];
        }
        out
    }
}
