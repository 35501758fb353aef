//! Faults that the text around them explains better than the parser does.

use super::Arena;
use crate::yaml::fault::SyntaxError;

impl Arena<'_> {
    /// The alias without a name around `at`.
    pub(in crate::yaml) fn bare_star(&self, at: usize) -> Option<SyntaxError> {
        let line = self
            .text
            .get(self.gap.at..at + 1)
            .or_else(|| self.text.get(self.gap.at..at))?;
        let start = self.gap.at + line.rfind('*')?;
        let rest = self.text.get(start..self.end)?;
        let flow = self.gap.in_flow();
        let ends = |c: char| c.is_whitespace() || flow && matches!(c, ',' | ']' | '}');
        let end = start + rest.find(ends).unwrap_or(rest.len());
        Some(self.alias_error(start, end, ""))
    }

    /// The escape that YAML does not have, in the string that begins at `at`.
    pub(in crate::yaml) fn unknown_escape(&self, at: usize) -> Option<SyntaxError> {
        let mut characters = self.text.get(at..self.end)?.char_indices();
        while let Some((place, character)) = characters.next() {
            if character != '\\' {
                continue;
            }
            let (_, escaped) = characters.next()?;
            if !"0abt\tnvfre \"/\\N_LPxuU\r\n".contains(escaped) {
                let start = at + place;
                let message = format!("YAML has no escape `\\{escaped}`");
                let help = "write `\\\\` for a backslash, or put the text in single quotes";
                return Some(
                    self.refuse(start, start + 1 + escaped.len_utf8(), message)
                        .help(help),
                );
            }
        }
        None
    }

    /// A character with which nothing can begin.
    pub(in crate::yaml) fn bad_start(&self, at: usize, character: char) -> SyntaxError {
        let name = if character == '`' {
            "a backtick".to_owned()
        } else {
            format!("`{character}`")
        };
        self.refuse(at, at, format!("no value can begin with {name}"))
            .help("quote the text")
    }

    /// What the character at `at` tells by standing there.
    pub(in crate::yaml) fn misplaced(&self, at: usize) -> Option<SyntaxError> {
        let rest = self.text.get(at..self.end)?;
        match rest.chars().next()? {
            ',' if self.stack.last().is_some_and(|frame| frame.flow) => {
                Some(self.refuse(at, at, "a value is missing before this `,`"))
            }
            ',' => Some(self.bad_start(at, ',')),
            '&' | '!' | '*' if self.follows_property(at) => {
                let message = "one anchor and one tag at most can stand before a value, and none before an alias";
                Some(self.refuse(at, at, message))
            }
            '*' => {
                let name: &str = rest.split(|c: char| c.is_whitespace()).next()?;
                let name = name.strip_suffix(':')?;
                let end = at + name.len() + 1;
                Some(
                    self.refuse(at, end, "the `:` is part of the alias")
                        .help(format!("write `{name} :`, with a space before the `:`")),
                )
            }
            _ => None,
        }
    }

    /// An item in a column in which no list stands. The parser may point at what follows the `-`.
    pub(in crate::yaml) fn misplaced_item(&self, at: usize) -> Option<SyntaxError> {
        let before = self.text.get(..at)?;
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let column = before.len() - line;
        let rest = self.text.get(line..self.end)?;
        let indent = rest.len() - rest.trim_start_matches(' ').len();
        let item = rest.get(indent..)?.strip_prefix('-')?;
        let dash = line + indent;
        let inside = item.len() - item.trim_start_matches(' ').len();
        let is_first = column <= indent + 1 + inside;
        (is_first && item.starts_with([' ', '\n', '\r'])).then(|| {
            self.refuse(
                dash,
                dash,
                "this item belongs to no list: none has its `-` in this column",
            )
            .help("indent the `-` like those of the items that it belongs to")
        })
    }

    /// A `:` where no map can begin, because the one on the line above lacks its blank, or the line is indented too deep.
    pub(in crate::yaml) fn missing_blank(&self, at: usize) -> Option<SyntaxError> {
        let before = self.text.get(..at)?;
        let above = before.get(..before.rfind('\n')?)?;
        let line = above.rfind('\n').map_or(0, |end| end + 1);
        let (key, value) = above.get(line..)?.split_once(':')?;
        let name = key.trim_start_matches([' ', '-']);
        let is_key = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        if !is_key || value.is_empty() || value.contains(": ") {
            return None;
        }
        if value.starts_with(' ') {
            let here = before.get(above.len() + 1..)?;
            let deeper = here.len() - here.trim_start().len() > key.len() - name.len();
            let plain = value.trim_start().starts_with(char::is_alphanumeric);
            if !deeper || !plain || here.contains(": ") {
                return None;
            }
            let start = line + key.len() - name.len();
            let error = self.refuse(at, at, "no map can begin here: this line is indented deeper than the key above, and so belongs to its text");
            let because = self.refuse(start, start + name.len(), "the key above");
            return Some(
                error
                    .because(because.span, because.message)
                    .help(format!("indent it like `{name}`, or quote the text")),
            );
        }
        let colon = line + key.len();
        let error = self.refuse(
            at,
            at,
            "no map can begin here: the line above belongs to the same text",
        );
        let because = self.refuse(colon, colon + 1, "no space stands behind this `:`");
        Some(
            error
                .because(because.span, because.message)
                .help("put a space behind the `:` of a key"),
        )
    }

    /// A `:` in a line that goes on with the text above it, such as a command that is no comment.
    pub(in crate::yaml) fn text_above(&self, at: usize) -> Option<SyntaxError> {
        let before = self.text.get(..at)?;
        let here = before.rfind('\n')?;
        let is_text = |line: &str| {
            let line = line.trim();
            let is_key = line.contains(": ") || line.ends_with(':');
            !is_key && !line.starts_with(['#', '%']) && !matches!(line, "---" | "...")
        };
        let mut end = here;
        let mut first = None;
        for line in before.get(..here)?.rsplit('\n').take(TEXT) {
            let start = end - line.len();
            if !is_text(line) {
                break;
            }
            if !line.trim().is_empty() {
                let indent = line.len() - line.trim_start().len();
                first = Some((start + indent, start + line.trim_end().len()));
            }
            end = start.saturating_sub(1);
        }
        let (start, end) = first?;
        let text = self.refuse(start, end, "it begins here");
        Some(
            self.refuse(
                at,
                at,
                "no map can begin here: the line belongs to the text above it",
            )
            .because(text.span, text.message)
            .help("make comments of the lines above with `#`, or quote them"),
        )
    }

    /// Whether an anchor, a tag or an alias stands before `at` on its line.
    fn follows_property(&self, at: usize) -> bool {
        let before = self
            .text
            .get(..at)
            .unwrap_or("")
            .trim_end_matches([' ', '\t']);
        let word = before
            .rsplit(|c: char| c.is_whitespace())
            .next()
            .unwrap_or("");
        word.starts_with(['&', '!', '*'])
    }
}

/// So many lines of a text are looked at.
const TEXT: usize = 64;

#[cfg(test)]
mod tests {
    use crate::source::FileId;
    use crate::yaml::Tree;

    #[test]
    fn text_that_is_no_comment_is_shown_where_it_begins() {
        for (text, at, begins) in [
            (
                "# a\nkubectl get pods\n\nkubectl get ns\napiVersion: v1\n",
                47,
                Some(4),
            ),
            ("a: b\n  more\n  c: d\n", 15, Some(7)),
            ("a: b: c\n", 4, None),
        ] {
            let tree = Tree::parse(FileId(0), text);
            let error = tree.errors().first().unwrap();
            let because = error.because.first().map(|(span, _)| span.start);
            assert_eq!((error.span.start, because), (at, begins), "{text}");
        }
    }

    #[test]
    fn an_item_of_no_list_is_shown_at_its_dash() {
        let message = "this item belongs to no list: none has its `-` in this column";
        for (text, at) in [
            ("a:\n    - b: c\n  - d: e\n", 16),
            ("a:\n  b: c\n- d\n", 10),
            ("a:\n    - b\n  -\n    c: d\n", 13),
        ] {
            let tree = Tree::parse(FileId(0), text);
            let found: Vec<_> = tree.errors().iter().collect();
            let found: Vec<_> = found
                .iter()
                .map(|it| (&*it.message, it.span.start))
                .collect();
            assert_eq!(found, [(message, at)], "{text}");
        }
    }
}
