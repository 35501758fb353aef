//! The published schema of the configuration, and what it says against one.

use std::sync::OnceLock;

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use serde_json::json;

use super::RULE;
use super::file::{self, File};
use super::value::Value;
use crate::diag::{Diagnostic, RuleInfo, Severity, nearest};
use crate::source::Span;

/// JSON Schema of `egress-lint.yaml`, as it is published: with the names of the rules that exist.
pub fn schema(rules: &[RuleInfo]) -> serde_json::Value {
    let mut schema = shape();
    if let Some(map) = schema.pointer_mut("/properties/rules") {
        let known = rules.iter().map(|rule| {
            let entry = json!({"description": rule.summary, "$ref": "#/$defs/Rule"});
            (rule.name.to_owned(), entry)
        });
        map["properties"] = serde_json::Value::Object(known.collect());
        map["additionalProperties"] = false.into();
    }
    schema
}

/// The schema without the rules, which this module does not know.
fn shape() -> serde_json::Value {
    schemars::schema_for!(File).to_value()
}

/// The schema, made ready once.
struct Judge {
    schema: serde_json::Value,
    validator: Validator,
}

/// What the schema has against a configuration, each at its place, in the order of the file.
pub(super) fn check(value: &Value) -> Vec<Diagnostic> {
    static JUDGE: OnceLock<Option<Judge>> = OnceLock::new();
    let judge = JUDGE.get_or_init(|| {
        let schema = shape();
        let validator = jsonschema::validator_for(&schema).ok()?;
        Some(Judge { schema, validator })
    });
    let Some(judge) = judge else {
        return Vec::new();
    };
    let json = value.to_json();
    let mut out = Complaints {
        schema: &judge.schema,
        root: value,
        findings: Vec::new(),
        meant: Vec::new(),
    };
    let errors: Vec<_> = judge.validator.iter_errors(&json).collect();
    // What an unknown key was meant to be is not missing too.
    let (unknown, others): (Vec<_>, Vec<_>) = errors.iter().partition(|error| {
        matches!(
            error.kind(),
            ValidationErrorKind::AdditionalProperties { .. }
        )
    });
    for error in unknown.into_iter().chain(others) {
        out.add(error);
    }
    out.findings
        .sort_by_key(|finding| (finding.span.start, finding.span.end));
    out.findings
}

struct Complaints<'a> {
    schema: &'a serde_json::Value,
    root: &'a Value,
    findings: Vec<Diagnostic>,
    /// Pointers of keys that unknown ones were meant to be.
    meant: Vec<String>,
}

impl Complaints<'_> {
    fn add(&mut self, error: &ValidationError<'_>) {
        let pointer = error.instance_path().as_str();
        let part = self.root.at(pointer);
        let path = path(pointer);
        let above = error
            .schema_path()
            .as_str()
            .rsplit_once('/')
            .map_or("", |(above, _)| above);
        let schema = self
            .schema
            .pointer(above)
            .unwrap_or(&serde_json::Value::Null);
        match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let known = schema
                    .get("properties")
                    .and_then(serde_json::Value::as_object);
                let known: Vec<&str> = known
                    .into_iter()
                    .flat_map(|keys| keys.keys().map(String::as_str))
                    .collect();
                for name in unexpected {
                    let span = part.entry(name).map_or(part.span, |(key, _)| key.span);
                    let place = if path.is_empty() {
                        String::new()
                    } else {
                        format!(" in `{path}`")
                    };
                    let near = nearest(name, known.iter().copied());
                    self.meant
                        .extend(near.map(|near| format!("{pointer}/{near}")));
                    let help = match near {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("the known keys are `{}`", known.join("`, `")),
                    };
                    self.say(span, format!("unknown key `{name}`{place}"), Some(help));
                }
            }
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                if !self.meant.contains(&format!("{pointer}/{name}")) {
                    self.say(part.span, format!("`{name}` is missing in `{path}`"), None);
                }
            }
            ValidationErrorKind::AnyOf { context } => {
                // Where one form has the right type, its complaints are the helpful ones.
                let wrong_type = |error: &ValidationError<'_>| {
                    error.instance_path().as_str() == pointer
                        && matches!(error.kind(), ValidationErrorKind::Type { .. })
                };
                let mut near = context
                    .iter()
                    .filter(|errors| !errors.iter().any(wrong_type));
                match (near.next(), near.next()) {
                    (Some(errors), None) => errors.iter().for_each(|error| self.add(error)),
                    _ => self.wrong(part, &path, &self.expected(schema)),
                }
            }
            ValidationErrorKind::Minimum { limit } => {
                self.wrong(part, &path, &format!("at least {limit}"))
            }
            ValidationErrorKind::Maximum { limit } => {
                self.wrong(part, &path, &format!("at most {limit}"))
            }
            _ => self.wrong(part, &path, &self.expected(schema)),
        }
    }

    fn wrong(&mut self, part: &Value, path: &str, expected: &str) {
        let what = if path.is_empty() {
            "the configuration".to_owned()
        } else {
            format!("`{path}`")
        };
        let message = format!("{what} must be {expected}, not {}", part.kind.describe());
        self.say(part.span, message, quoted_version(path, part));
    }

    fn say(&mut self, span: Span, message: String, help: Option<String>) {
        let mut finding = Diagnostic::new(RULE, Severity::Error, span, message);
        finding.help = help.map(Into::into);
        self.findings.push(finding);
    }

    /// What a part of the schema asks for.
    fn expected(&self, schema: &serde_json::Value) -> String {
        let mut parts = Vec::new();
        self.collect(schema, &mut parts);
        match parts.as_slice() {
            [] => "something else".to_owned(),
            [one] => one.clone(),
            [all @ .., last] => format!("{} or {last}", all.join(", ")),
        }
    }

    fn collect(&self, schema: &serde_json::Value, parts: &mut Vec<String>) {
        let text = |key: &str| schema.get(key).and_then(serde_json::Value::as_str);
        let list = |key: &str| {
            schema
                .get(key)
                .and_then(serde_json::Value::as_array)
                .into_iter()
                .flatten()
        };
        let target =
            text("$ref").and_then(|reference| self.schema.pointer(reference.strip_prefix('#')?));
        if let Some(target) = target {
            return self.collect(target, parts);
        }
        if let Some(pattern) = text("pattern") {
            return parts.push(match pattern {
                file::ISTIO => "a version of Istio such as `\"1.30\"`".to_owned(),
                file::NAMESPACE => "the name of a namespace".to_owned(),
                file::DURATION => "a duration such as `30s`".to_owned(),
                _ => format!("text like `{pattern}`"),
            });
        }
        let before = parts.len();
        parts.extend(list("enum").chain(schema.get("const")).map(|value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), |name| format!("`{name}`"))
        }));
        list("anyOf")
            .chain(list("oneOf"))
            .for_each(|form| self.collect(form, parts));
        if parts.len() == before {
            let kinds = list("type")
                .chain(schema.get("type"))
                .filter_map(serde_json::Value::as_str);
            parts.extend(kinds.filter_map(type_name).map(str::to_owned));
        }
    }
}

/// `istio: 1.30` is the number 1.3.
fn quoted_version(path: &str, part: &Value) -> Option<String> {
    let number = matches!(
        part.kind,
        super::ValueKind::Float(_) | super::ValueKind::Int(_)
    );
    (path == "istio" && number)
        .then(|| "put the version in quotes: without them `1.30` is the number 1.3".to_owned())
}

/// `/hosts/0/class` as `hosts[0].class`.
fn path(pointer: &str) -> String {
    let mut out = String::new();
    for step in pointer.split('/').skip(1) {
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            out.push_str(&format!("[{step}]"));
        } else {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&step.replace("~1", "/").replace("~0", "~"));
        }
    }
    out
}

fn type_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "array" => "a list",
        "boolean" => "`true` or `false`",
        "integer" => "a whole number",
        "number" => "a number",
        "object" => "a map",
        "string" => "a string",
        _ => return None,
    })
}
