//! The ways in which people write the same manifest.

use egress_lint::yaml::Value;

use super::dice::Dice;

pub struct Style {
    indent: usize,
    /// How much further than their key the items of a list stand.
    list_indent: usize,
    quote: Quote,
    /// Lists of plain texts in one line.
    flow: bool,
    shuffle: bool,
    comments: bool,
    marker: bool,
    line_end: &'static str,
    last_line_end: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Quote {
    WhereNeeded,
    Double,
    Single,
}

impl Style {
    pub fn draw(dice: &mut Dice) -> Self {
        let indent = *dice.pick(&[2, 2, 2, 4]);
        Self {
            indent,
            list_indent: *dice.pick(&[0, indent]),
            quote: *dice.pick(&[
                Quote::WhereNeeded,
                Quote::WhereNeeded,
                Quote::Double,
                Quote::Single,
            ]),
            flow: dice.one_in(4),
            shuffle: dice.one_in(4),
            comments: dice.one_in(3),
            marker: dice.one_in(3),
            line_end: if dice.one_in(12) { "\r\n" } else { "\n" },
            last_line_end: !dice.one_in(4),
        }
    }

    /// The documents as one file.
    pub fn write(&self, documents: &[Value], dice: &mut Dice) -> String {
        let mut out = String::new();
        for (at, document) in documents.iter().enumerate() {
            if at > 0 || self.marker {
                out.push_str("---\n");
            }
            if self.comments {
                out.push_str("# Kept by hand: see the wiki.\n");
            }
            self.block(document, 0, dice, &mut out);
        }
        if !self.last_line_end {
            out.pop();
        }
        out.replace('\n', self.line_end)
    }

    /// A value in lines of its own.
    fn block(&self, value: &Value, depth: usize, dice: &mut Dice, out: &mut String) {
        match value {
            Value::Map(entries) => {
                let mut entries: Vec<_> = entries.iter().collect();
                if self.shuffle {
                    dice.shuffle(&mut entries);
                }
                for (key, value) in entries {
                    pad(depth, out);
                    out.push_str(&self.key(key));
                    out.push(':');
                    self.after(value, depth, dice, out);
                }
            }
            Value::List(items) => {
                for item in items {
                    pad(depth, out);
                    out.push('-');
                    match item {
                        Value::Map(entries) if !entries.is_empty() => {
                            // The first entry stands behind the dash.
                            let mut inner = String::new();
                            self.block(item, depth + 2, dice, &mut inner);
                            out.push(' ');
                            out.push_str(&inner[depth + 2..]);
                        }
                        other => self.after(other, depth + 2, dice, out),
                    }
                }
            }
            scalar => {
                out.push_str(&self.scalar(scalar));
                out.push('\n');
            }
        }
    }

    /// A value behind its key or dash.
    fn after(&self, value: &Value, depth: usize, dice: &mut Dice, out: &mut String) {
        match value {
            Value::Map(entries) if !entries.is_empty() => {
                out.push('\n');
                self.block(value, depth + self.indent, dice, out);
            }
            Value::List(items) if self.flow && items.iter().all(is_plain) => {
                let items: Vec<String> = items.iter().map(|it| self.scalar(it)).collect();
                out.push_str(&format!(" [{}]\n", items.join(", ")));
            }
            Value::List(items) if !items.is_empty() => {
                out.push('\n');
                self.block(value, depth + self.list_indent, dice, out);
            }
            Value::Map(_) => out.push_str(" {}\n"),
            Value::List(_) => out.push_str(" []\n"),
            Value::Str(text) if text.contains('\n') => {
                let keep = if text.ends_with('\n') { "" } else { "-" };
                out.push_str(&format!(" |{keep}\n"));
                for line in text.lines() {
                    pad(depth + self.indent, out);
                    out.push_str(line);
                    out.push('\n');
                }
            }
            scalar => {
                out.push(' ');
                self.block(scalar, depth, dice, out);
            }
        }
    }

    fn key(&self, text: &str) -> String {
        if is_bare(text) {
            text.to_owned()
        } else {
            format!("{text:?}")
        }
    }

    fn scalar(&self, value: &Value) -> String {
        match value {
            Value::Null => "null".to_owned(),
            Value::Bool(it) => it.to_string(),
            Value::Int(it) => it.to_string(),
            Value::Float(it) => it.to_string(),
            Value::Str(text) => match self.quote {
                Quote::WhereNeeded if is_bare(text) => text.clone(),
                Quote::Single => format!("'{text}'"),
                Quote::WhereNeeded | Quote::Double => format!("{text:?}"),
            },
            Value::List(_) | Value::Map(_) => unreachable!("no scalar"),
        }
    }
}

fn pad(depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', depth));
}

fn is_plain(value: &Value) -> bool {
    matches!(value, Value::Str(text) if !text.contains('\n'))
}

/// Whether every reader of YAML takes the bare text for a text.
fn is_bare(text: &str) -> bool {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || "-./_".contains(it))
        && !words.contains(&text.to_ascii_lowercase().as_str())
}
