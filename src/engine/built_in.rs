//! The diagnostics that no rule file declares, because they are about the text, the configuration or the run itself.

use crate::diag::{Fixable, RuleInfo, Severity};

const fn built_in(
    name: &'static str,
    severity: Severity,
    summary: &'static str,
    page: &'static str,
) -> RuleInfo {
    RuleInfo {
        name,
        summary,
        severity,
        fixable: Fixable::Never,
        since: "0.1.0",
        page,
    }
}

const fn sometimes_fixable(mut rule: RuleInfo) -> RuleInfo {
    rule.fixable = Fixable::Sometimes;
    rule
}

/// By name.
pub const BUILT_IN: &[RuleInfo] = &[
    built_in(
        "config",
        Severity::Error,
        "the configuration says something that cannot be meant",
        include_str!("../../rules/config.md"),
    ),
    sometimes_fixable(built_in(
        "deprecated",
        Severity::Advice,
        "an older spelling of what Istio has a newer one for",
        include_str!("../../rules/deprecated.md"),
    )),
    sometimes_fixable(built_in(
        "document-lost-by-istioctl",
        Severity::Advice,
        "`istioctl` does not see the document, though `kubectl` does",
        include_str!("../../rules/document-lost-by-istioctl.md"),
    )),
    built_in(
        "duplicate-key",
        Severity::Warning,
        "a key stands twice in one map, and the first one is lost",
        include_str!("../../rules/duplicate-key.md"),
    ),
    built_in(
        "duplicate-resource",
        Severity::Warning,
        "one resource is defined twice in a file or a kustomization",
        include_str!("../../rules/duplicate-resource.md"),
    ),
    built_in(
        "internal",
        Severity::Error,
        "a rule failed: a fault of egress-lint itself",
        include_str!("../../rules/internal.md"),
    ),
    built_in(
        "key-overridden-by-merge",
        Severity::Warning,
        "a merge key below a key overrides it",
        include_str!("../../rules/key-overridden-by-merge.md"),
    ),
    sometimes_fixable(built_in(
        "refused",
        Severity::Error,
        "the API server or Istio's webhook refuses the resource",
        include_str!("../../rules/refused.md"),
    )),
    sometimes_fixable(built_in(
        "retry-on-invalid",
        Severity::Error,
        "Istio's webhook refuses the list in `retryOn`",
        include_str!("../../rules/retry-on-invalid.md"),
    )),
    sometimes_fixable(built_in(
        "unknown-field",
        Severity::Error,
        "a field that the API server does not know",
        include_str!("../../rules/unknown-field.md"),
    )),
    built_in(
        "text-never-read",
        Severity::Warning,
        "text of a manifest that Kubernetes never reads",
        include_str!("../../rules/text-never-read.md"),
    ),
    built_in(
        "unused-ignore",
        Severity::Warning,
        "a silencer that silences nothing",
        include_str!("../../rules/unused-ignore.md"),
    ),
    built_in(
        "warned",
        Severity::Warning,
        "Istio's webhook admits the resource with a warning",
        include_str!("../../rules/warned.md"),
    ),
    sometimes_fixable(built_in(
        "yaml-syntax",
        Severity::Error,
        "the file is not what Kubernetes reads as YAML",
        include_str!("../../rules/yaml-syntax.md"),
    )),
];

/// Those that say that the run itself is not to be trusted: they cannot be switched off, and lead to exit code 2.
pub const FIXED: [&str; 3] = ["config", "internal", "yaml-syntax"];
