//! One finding.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::source::Span;

/// How bad it is, for what the files prove.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Depends on facts outside of the files, or is an improvement.
    Advice,
    /// Has no effect, or will surprise and is likely to hurt.
    Warning,
    /// Istio refuses it, or it certainly fails.
    Error,
}

impl Severity {
    pub fn name(self) -> &'static str {
        match self {
            Severity::Advice => "advice",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Another place that matters, and why: messages say *because*.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub message: Cow<'static, str>,
}

/// Whether a fix may be applied without a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// Changes only what the finding names.
    Safe,
    /// Narrows or redirects traffic: needs `--fix=unsafe`.
    Unsafe,
}

impl Safety {
    pub fn safe_if(holds: bool) -> Self {
        match holds {
            true => Self::Safe,
            false => Self::Unsafe,
        }
    }
}

/// Replaces the bytes of `span` by `text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    pub span: Span,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    pub safety: Safety,
    /// What it does, imperative.
    pub message: String,
    pub edits: Vec<Edit>,
}

impl Fix {
    pub fn new(safety: Safety, message: impl Into<String>, edit: Edit) -> Self {
        Self {
            safety,
            message: message.into(),
            edits: vec![edit],
        }
    }
}

/// Who refuses a resource for the reason of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RefusedBy {
    /// The API server: the CRD's structural schema or its CEL rules.
    Schema,
    /// Istio's validating webhook, or its decoder.
    Webhook,
}

/// The object a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct ResourceRef {
    pub kind: &'static str,
    /// `null` where no file and no setting tells it.
    pub namespace: Option<Box<str>>,
    pub name: Option<Box<str>>,
}

/// What silenced a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Silencer {
    Comment,
    Annotation,
    Config,
    Baseline,
}

#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Suppressed {
    pub by: Silencer,
    pub reason: Option<String>,
}

/// A finding: what is wrong and where, which lines made it so, what to do. One pointer, because there may be many, which go
/// from list to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic(Box<Finding>);

/// What a [`Diagnostic`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: &'static str,
    pub severity: Severity,
    /// *What*: lower case, no full stop, identifiers in backticks.
    pub message: Box<str>,
    /// *What to do*, imperative.
    pub help: Option<Cow<'static, str>>,
    /// The offending value, or the nearest existing parent key of a child that is absent.
    pub span: Span,
    /// The lines, here or in other files, that make it so.
    pub related: Vec<Label>,
    pub refused_by: Option<RefusedBy>,
    /// Filled in by the engine where it is asked for, from the resource that `span` lies in.
    pub resource: Option<Arc<ResourceRef>>,
    extras: Option<Box<Extras>>,
}

/// What few findings have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extras {
    /// The absent child the finding is about (`retries.attempts`), below the node at its span.
    pub absent: Option<Box<str>>,
    pub fix: Option<Fix>,
    /// Path in the object as Kubernetes writes it. Filled in by the engine where it is asked for and the author left it out.
    pub field: Option<Box<str>>,
    /// The worlds in which it holds, where there is more than one.
    pub worlds: Option<Box<[String]>>,
    pub suppressed: Option<Suppressed>,
}

impl Finding {
    pub fn extras(&self) -> &Extras {
        const NONE: &Extras = &Extras {
            absent: None,
            fix: None,
            field: None,
            worlds: None,
            suppressed: None,
        };
        self.extras.as_deref().unwrap_or(NONE)
    }

    pub fn extras_mut(&mut self) -> &mut Extras {
        self.extras.get_or_insert_default()
    }
}

impl Diagnostic {
    pub fn new(
        rule: &'static str,
        severity: Severity,
        span: Span,
        message: impl Into<String>,
    ) -> Self {
        Self(Box::new(Finding {
            rule,
            severity,
            message: message.into().into(),
            help: None,
            span,
            related: Vec::new(),
            refused_by: None,
            resource: None,
            extras: None,
        }))
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(fitting(help.into()));
        self
    }

    /// Adds a line that made it so. A span that is labelled already keeps its first label.
    #[must_use]
    pub fn because(mut self, span: Span, message: impl Into<Cow<'static, str>>) -> Self {
        if !self.related.iter().any(|label| label.span == span) {
            // Most have one or two.
            self.related.reserve_exact(1);
            self.related.push(Label {
                span,
                message: fitting(message.into()),
            });
        }
        self
    }

    /// Makes advice of it, since it also rests on this, which no file says; it completes "this assumes that …".
    #[must_use]
    pub fn assuming(mut self, fact: &str) -> Self {
        let note = format!("this assumes that {fact}");
        self.severity = Severity::Advice;
        self.help = Some(match self.help.take() {
            Some(help) => fitting(format!("{help}; {note}").into()),
            None => fitting(note.into()),
        });
        self
    }

    #[must_use]
    pub fn absent(mut self, child: impl Into<Box<str>>) -> Self {
        self.extras_mut().absent = Some(child.into());
        self
    }

    #[must_use]
    pub fn refused_by(mut self, by: RefusedBy) -> Self {
        self.refused_by = Some(by);
        self
    }

    #[must_use]
    pub fn fix(mut self, fix: impl Into<Option<Fix>>) -> Self {
        if let Some(fix) = fix.into() {
            self.extras_mut().fix = Some(fix);
        }
        self
    }

    /// All places that it rests on: its own, then those of its labels.
    pub fn spans(&self) -> impl Iterator<Item = Span> {
        std::iter::once(self.span).chain(self.related.iter().map(|label| label.span))
    }
}

/// Without room to grow: there may be many.
fn fitting(mut text: Cow<'static, str>) -> Cow<'static, str> {
    if let Cow::Owned(text) = &mut text {
        text.shrink_to_fit();
    }
    text
}

impl Deref for Diagnostic {
    type Target = Finding;

    fn deref(&self) -> &Finding {
        &self.0
    }
}

impl DerefMut for Diagnostic {
    fn deref_mut(&mut self) -> &mut Finding {
        &mut self.0
    }
}
