//! Go templates: text that becomes a manifest only once a chart or a generator has filled it in.

use std::collections::BTreeSet;

use memchr::memmem;

/// The kinds of resources that templates would make: of these, nobody can say that nothing defines one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kinds {
    names: BTreeSet<String>,
    /// A template whose kind is itself filled in.
    any: bool,
}

impl Kinds {
    /// The kinds that the text of a template names, as far as reading its lines can tell.
    pub fn of_template(text: &str) -> Self {
        let mut kinds = Self::default();
        let mut named = false;
        for line in text.lines() {
            let line = line.trim_start_matches([' ', '\t', '-']);
            let Some(value) = line.strip_prefix("kind:") else {
                continue;
            };
            named = true;
            let value = value.trim().trim_matches(['"', '\'']);
            let word = value
                .split(|c: char| !c.is_ascii_alphanumeric())
                .next()
                .unwrap_or("");
            if word.is_empty() {
                kinds.any = true;
            } else {
                kinds.names.insert(word.to_owned());
            }
        }
        kinds.any |= !named && holds_output(text);
        kinds
    }

    pub fn may_hold(&self, kind: &str) -> bool {
        self.any || self.names.contains(kind)
    }

    pub fn is_empty(&self) -> bool {
        !self.any && self.names.is_empty()
    }

    pub fn extend(&mut self, other: &Kinds) {
        self.any |= other.any;
        for name in &other.names {
            if !self.names.contains(name) {
                self.names.insert(name.clone());
            }
        }
    }
}

impl std::fmt::Display for Kinds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let any = self.any.then_some("any kind");
        let names = self.names.iter().map(String::as_str).chain(any);
        f.write_str(&names.collect::<Vec<_>>().join(", "))
    }
}

/// Whether an action writes something, as opposed to deciding what of the text is written.
fn holds_output(text: &str) -> bool {
    const CONTROL: [&str; 9] = [
        "if", "else", "end", "range", "with", "define", "block", "break", "continue",
    ];
    memmem::find_iter(text.as_bytes(), b"{{").any(|at| {
        let action = text.get(at + 2..).unwrap_or("");
        let action = action.trim_start_matches(['-', '<', '%', ' ', '\t', '\r', '\n']);
        let length = action
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(action.len());
        let word = action.get(..length).unwrap_or("");
        !CONTROL.contains(&word) && !action.starts_with("/*") && !action.starts_with('$')
    })
}

/// Whether the text holds blocks as Jinja, ERB and Terraform have them: `{% … %}`, `<% … %>`, `%{ … }`.
pub(super) fn holds_block(text: &str) -> bool {
    ["{%", "<%", "%{"]
        .iter()
        .any(|open| memmem::find(text.as_bytes(), open.as_bytes()).is_some())
}

/// Whether the text holds code of ytt, which stands in comments: `#@ …` or `#@overlay/…` at the beginning of a line or
/// behind a blank.
pub(super) fn holds_ytt(text: &str) -> bool {
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, b"#@").any(|at| {
        let before = at.checked_sub(1).and_then(|before| bytes.get(before));
        let code = bytes.get(at + 2..).unwrap_or(&[]);
        before.is_none_or(|byte| byte.is_ascii_whitespace())
            && (code.starts_with(b" ") || code.starts_with(b"overlay/"))
    })
}

/// Whether a value begins with a placeholder that keeps the text from being read: `{name}` with more behind it, which
/// YAML takes for a map, `@NAME@` and `%NAME%`, with which nothing can begin, and `*NAME*`, an alias. So does one that stands for whole lines,
/// such as `__NAME__` or `${NAME}` by itself.
pub(super) fn begins_with_mark(text: &str) -> bool {
    text.lines().any(|line| {
        if stands_for_lines(line.trim()) {
            return true;
        }
        let line = line.trim_start_matches([' ', '-']);
        let value = line.split_once(": ").map_or(line, |(_, value)| value);
        is_mark(value.trim_start())
    })
}

fn stands_for_lines(line: &str) -> bool {
    let inside = |open, close| line.strip_prefix(open)?.strip_suffix(close);
    let mut names = [inside("__", "__"), inside("${", "}")]
        .into_iter()
        .flatten();
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    names.any(|name| !name.is_empty() && name.bytes().all(in_name))
}

fn is_mark(value: &str) -> bool {
    let inside = |open: char, close: char| value.strip_prefix(open)?.split_once(close);
    let letters = |name: &str, more: &[u8]| {
        name.bytes().any(|byte| byte.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || more.contains(&byte))
    };
    let braces = inside('{', '}')
        .is_some_and(|(name, rest)| letters(name, b"_-.") && rest.starts_with(is_part_of_word));
    let signs = [inside('@', '@'), inside('%', '%')]
        .into_iter()
        .flatten()
        .any(|(name, _)| letters(name, b"_-"));
    // No host is written in capitals, so that none is meant by the `*`.
    let stars = inside('*', '*').is_some_and(|(name, _)| {
        letters(name, b"_") && !name.contains(|c: char| c.is_ascii_lowercase())
    });
    braces || signs || stars
}

fn is_part_of_word(next: char) -> bool {
    next.is_ascii_alphanumeric() || matches!(next, '-' | '_' | '.' | '/' | '{')
}

/// Whether `{{` stands in the text outside comments. The text need not parse, so comments are told by lines: what
/// follows a `#` that begins a line or stands behind a blank, and is not inside quotes.
pub(super) fn holds_action(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut line = (0, None);
    for at in memmem::find_iter(bytes, b"{{") {
        let start =
            memchr::memrchr2(b'\n', b'\r', bytes.get(..at).unwrap_or(&[])).map_or(0, |end| end + 1);
        // Found once for each line, so that a long line full of `{{` is read once.
        if line.0 != start || line.1.is_none() {
            line = (start, Some(comment(bytes, start)));
        }
        if line.1.is_none_or(|comment| at < comment) {
            return true;
        }
    }
    false
}

/// Where the comment of the line at `start` begins; the line's end if it has none.
fn comment(bytes: &[u8], start: usize) -> usize {
    let mut quote = None;
    let mut before = b' ';
    let mut at = start;
    for &byte in bytes.get(start..).unwrap_or(&[]) {
        match (quote, byte) {
            (_, b'\n' | b'\r') => break,
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'#') if before.is_ascii_whitespace() => break,
            // A quote inside a word (`it's`) opens nothing.
            (None, b'"' | b'\'') if !before.is_ascii_alphanumeric() => quote = Some(byte),
            (None, _) => {}
        }
        before = byte;
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_action_counts_outside_comments_only() {
        for (text, expected) in [
            ("host: {{ .Values.host }}", true),
            ("{{- if .Values.on }}\na: b\n{{- end }}", true),
            ("a: \"{{ x }}\"", true),
            ("a: \"# {{ x }}\"", true),
            ("a: b # {{ x }}", false),
            ("# {{ x }}\na: b", false),
            ("# {{ x }}\r\na: {{ y }}", true),
            ("a: b#{{ x }}", true),
            ("a: it's # {{ x }}", false),
            ("a: { b: {} }", false),
            ("{{< x >}}", true),
            ("", false),
        ] {
            assert_eq!(holds_action(text), expected, "{text}");
        }
    }

    #[test]
    fn a_line_that_is_one_placeholder_stands_for_others() {
        for (line, expected) in [
            ("  __ANNOTATIONS__", true),
            ("${PORTS}\r", true),
            ("- name: @APP@", true),
            ("____", false),
            ("${A} ${B}", false),
            ("a: __NAME__", false),
        ] {
            assert_eq!(begins_with_mark(line), expected, "{line}");
        }
    }

    #[test]
    fn kinds_are_read_from_lines() {
        let kinds = Kinds::of_template(
            "kind: ServiceEntry\nmetadata: {}\n- kind: 'Gateway' # one\nkind: ServiceEntry",
        );
        assert!(kinds.may_hold("ServiceEntry") && kinds.may_hold("Gateway"));
        assert!(!kinds.may_hold("Sidecar"));
        assert!(Kinds::of_template("kind: {{ .kind }}").may_hold("Sidecar"));
        assert!(Kinds::of_template("{{ include \"lib.rule\" . }}").may_hold("Sidecar"));
        assert!(!Kinds::default().may_hold("Sidecar"));
        let control = "{{- /* all */ -}}\n{{- range $x := .y }}\n{{- if $x }}{{ end }}{{- end}}";
        assert!(Kinds::of_template(control).is_empty());
    }
}
