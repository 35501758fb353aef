//! Types, ranges and words of scalars, and what to write instead.

use super::check::{Checker, Part};
use super::{Reader, Schema, Shape};
use crate::diag::{Diagnostic, Edit, Fix, RefusedBy, Safety};
use crate::istio::value::Duration;
use crate::istio::wording::nearest;
use crate::source::Span;
use crate::yaml::{Kind, Node, Scalar};

/// What 32 bits hold: not every API server looks at that, and Istio's decoder cannot read more.
const LEAST: i64 = i32::MIN as i64;
const MOST: i64 = i32::MAX as i64;

impl<'t> Checker<'t> {
    /// Whether the node is a scalar of that shape.
    pub(super) fn scalar(&mut self, shape: &Shape, node: Node<'t>) -> bool {
        match (shape, node.scalar()) {
            (Shape::Text { min, max }, Some(Scalar::Str(text))) => {
                if *min > 0 || text.len() > *max {
                    self.length(text.chars().count(), *min, *max, node);
                }
                true
            }
            (Shape::Word(names), Some(Scalar::Str(text))) => {
                let known = names.contains(&&*text);
                if !known {
                    self.wrong_word(&text, names, node);
                }
                known
            }
            (Shape::Duration(reader), Some(Scalar::Str(text))) => {
                self.duration(&text, *reader, node)
            }
            (Shape::Boolean, Some(Scalar::Bool(_))) => true,
            (Shape::Integer { min, max }, Some(Scalar::Int(value))) => {
                let right = (*min..=*max).contains(&value);
                if !right {
                    let by = match (value < *min && *min == LEAST) || (value > *max && *max == MOST)
                    {
                        true => RefusedBy::Webhook,
                        false => RefusedBy::Schema,
                    };
                    let (value, min, max) = (value.to_string(), min.to_string(), max.to_string());
                    let finding = self.out_of_range(&value, &min, &max, node);
                    self.push(finding.refused_by(by));
                }
                right
            }
            #[expect(clippy::cast_precision_loss, reason = "the API server compares so")]
            (Shape::Number { min, max }, Some(Scalar::Int(value))) => {
                self.number(value as f64, *min, *max, node)
            }
            (Shape::Number { min, max }, Some(Scalar::Float(value))) => {
                self.number(value, *min, *max, node)
            }
            _ => {
                self.wrong_type(shape, node);
                false
            }
        }
    }

    fn duration(&mut self, text: &str, reader: Reader, node: Node<'t>) -> bool {
        let finding = match Duration::parse(text) {
            Some(duration)
                if duration >= MILLISECOND
                    || reader == Reader::Istio
                    || self.part == Part::Mesh =>
            {
                return true;
            }
            Some(_) => {
                let message = format!("`{{}}` must be at least 1ms, not `{text}`");
                let finding = self.refusal(node.span(), &message);
                if self.path.pattern() == "spec.http.timeout" {
                    finding.help("leave it out: without a `timeout` nothing limits the request")
                } else {
                    finding.help("leave it out for the default")
                }
            }
            None => self
                .refusal(
                    node.span(),
                    &format!("`{{}}` must be a duration, not `{}`", shortened(text)),
                )
                .help(unit_help(text)),
        };
        // What the schema allows as a string, Istio's decoder still has to read.
        self.push(if reader == Reader::Istio {
            finding.refused_by(RefusedBy::Webhook)
        } else {
            finding
        });
        false
    }

    fn number(&mut self, value: f64, min: f64, max: f64, node: Node<'t>) -> bool {
        let right = (min..=max).contains(&value);
        if !right {
            let (value, min, max) = (value.to_string(), min.to_string(), max.to_string());
            self.push(self.out_of_range(&value, &min, &max, node));
        }
        right
    }

    fn length(&mut self, count: usize, min: usize, max: usize, node: Node<'t>) {
        if count > max {
            self.push(self.refusal(
                node.span(),
                &format!("`{{}}` has {count} characters; {max} are allowed"),
            ));
        } else if count < min {
            self.push(self.refusal(node.span(), "`{}` is empty"));
        }
    }

    fn out_of_range(&self, value: &str, min: &str, max: &str, node: Node<'t>) -> Diagnostic {
        let range = match max {
            "inf" | "9223372036854775807" => format!("at least {min}"),
            _ => format!("from {min} to {max}"),
        };
        self.refusal(
            node.span(),
            &format!("`{{}}` must be {range}, not `{value}`"),
        )
    }

    fn wrong_word(&mut self, text: &str, names: &[&'static str], node: Node<'t>) {
        let finding = self.refusal(
            node.span(),
            &format!("`{}` is no value of `{{}}`", shortened(text)),
        );
        let spelt = text.to_ascii_uppercase().replace('-', "_");
        let finding = if let Some(name) = names.iter().find(|name| **name == spelt) {
            let help = format!("write `{name}`");
            finding.help(help.clone()).fix(replace(node, name, help))
        } else if let Some(name) = nearest(&spelt, names) {
            finding.help(format!("did you mean `{name}`?"))
        } else {
            let meant = names.iter().filter(|name| **name != "INVALID");
            let names: Vec<_> = meant.map(|name| format!("`{name}`")).collect();
            finding.help(format!("write one of {}", names.join(", ")))
        };
        self.push(finding);
    }

    pub(super) fn wrong_type(&mut self, shape: &Shape, node: Node<'t>) {
        let text = format!("`{{}}` must be {}, not {}", wanted(shape), found(node));
        let mut finding = self.refusal(node.span(), &text);
        if let Some((help, fix)) = conversion(shape, node) {
            finding = finding.help(help).fix(fix);
        }
        self.push(finding);
    }
}

const MILLISECOND: Duration = Duration { nanos: 1_000_000 };

fn unit_help(text: &str) -> String {
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        format!("add the unit, as in `{text}s`")
    } else {
        "write it with the units `h`, `m`, `s` and `ms`, as in `1m30s`".to_owned()
    }
}

fn wanted(shape: &Shape) -> &'static str {
    match shape {
        Shape::Object(_) | Shape::Map { .. } => "an object",
        Shape::List { .. } => "a list",
        Shape::Text { .. } | Shape::Word(_) => "a string",
        Shape::Duration(_) => "a duration",
        Shape::Integer { .. } => "an integer",
        Shape::Number { .. } => "a number",
        Shape::Boolean => "a boolean",
        Shape::Any => "anything",
    }
}

fn found(node: Node<'_>) -> String {
    match (node.kind(), node.scalar()) {
        (Kind::Map, _) => "an object".to_owned(),
        (Kind::List, _) => "a list".to_owned(),
        (_, Some(Scalar::Str(text))) => format!("the string `{}`", shortened(&text)),
        (_, Some(Scalar::Bool(value))) => format!("the boolean `{value}`"),
        (_, Some(Scalar::Int(value))) => format!("the number `{value}`"),
        (_, Some(Scalar::Float(value))) => format!("the number `{value}`"),
        _ => "null".to_owned(),
    }
}

/// The value as it can stand in a message.
fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    if line.len() == text.len() && text.chars().count() <= 60 {
        return text.to_owned();
    }
    let start: String = line.chars().take(60).collect();
    format!("{start}…")
}

/// The one right way to write the same value, where there is one.
fn conversion(shape: &Shape, node: Node<'_>) -> Option<(String, Option<Fix>)> {
    let own = !node.is_alias();
    let unquoted = "write it without quotes";
    let advice = |help: &str, fix| Some((help.to_owned(), fix));
    match (shape, node.scalar()?) {
        (Shape::Text { .. }, Scalar::Bool(_) | Scalar::Int(_) | Scalar::Float(_)) => {
            let help = "put it in quotes";
            advice(help, own.then(|| wrap(node, "\"", "\"", help)))
        }
        (Shape::Duration(_), Scalar::Int(value)) => Some((unit_help(&value.to_string()), None)),
        (Shape::Integer { .. }, Scalar::Str(text)) if text.parse::<u32>().is_ok() => {
            advice(unquoted, own.then(|| replace(node, &text, unquoted)))
        }
        (Shape::Boolean, Scalar::Str(text)) if matches!(&*text, "true" | "false") => {
            advice(unquoted, own.then(|| replace(node, &text, unquoted)))
        }
        (
            Shape::List {
                item:
                    Schema {
                        shape: Shape::Text { .. },
                        ..
                    },
                ..
            },
            Scalar::Str(text),
        ) => {
            let help = "make it a list with one item";
            let simple = own && !text.contains([',', '[', ']', '{', '}', '\n', '#']);
            advice(help, simple.then(|| wrap(node, "[", "]", help)))
        }
        _ => None,
    }
}

fn replace(node: Node<'_>, text: &str, message: impl Into<String>) -> Fix {
    Fix {
        safety: Safety::Safe,
        message: message.into(),
        edits: vec![Edit {
            span: node.span(),
            text: text.to_owned(),
        }],
    }
}

fn wrap(node: Node<'_>, before: &str, after: &str, message: &str) -> Fix {
    let span = node.span();
    let at = |place: u32, text: &str| Edit {
        span: Span {
            start: place,
            end: place,
            ..span
        },
        text: text.to_owned(),
    };
    Fix {
        safety: Safety::Safe,
        message: message.to_owned(),
        edits: vec![at(span.start, before), at(span.end, after)],
    }
}
