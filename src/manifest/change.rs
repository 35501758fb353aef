//! What patches change of resources that stand elsewhere.

use std::borrow::Cow;

use crate::source::Span;
use crate::yaml::{Kind, Node};

/// A part of a resource that a patch sets or removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// `None`: of any kind.
    pub kind: Option<String>,
    /// As the resource is called before kustomizations rename it; `None`: whatever it is called.
    pub name: Option<String>,
    /// As in `spec.trafficPolicy.tls.mode`, empty for the whole resource. Lists are changed as a whole.
    pub field: String,
    /// Where the patch says so.
    pub span: Span,
}

/// Which resources a patch is for, where that stands beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    kind: Option<String>,
    name: Option<String>,
}

impl Target {
    pub(super) fn of(node: Node<'_>) -> Self {
        Self {
            kind: text(node, "kind"),
            name: text(node, "name"),
        }
    }
}

/// More changes than this of one patch are not told apart: all of the resource counts as changed.
const MOST: usize = 1000;

impl Change {
    /// Those of a patch: a part of a resource, or a list of operations on one.
    pub fn of_patch(root: Node<'_>, target: Option<&Target>) -> Vec<Self> {
        match (root.kind(), target) {
            (Kind::Map, target) => Self::of_part(root, target),
            (Kind::List, Some(target)) => Self::of_operations(root, target),
            _ => Vec::new(),
        }
    }

    /// Those of a patch that is a part of the resource, and of which it says itself, or `target` for it, which one is meant.
    fn of_part(root: Node<'_>, target: Option<&Target>) -> Vec<Self> {
        let metadata = |node: Node<'_>| text(node.get("metadata").map(|it| it.value)?, "name");
        let (kind, name) = match target {
            Some(target) => (target.kind.clone(), target.name.clone()),
            None => (text(root, "kind"), metadata(root)),
        };
        let change = |field: String, span| Self {
            kind: kind.clone(),
            name: name.clone().filter(|name| is_plain(name)),
            field,
            span,
        };
        let mut out = Vec::new();
        let mut rest = vec![(String::new(), root)];
        while let Some((path, map)) = rest.pop() {
            for entry in map.entries() {
                let field = match path.as_str() {
                    "" => entry.name.to_string(),
                    path => format!("{path}.{}", entry.name),
                };
                if NAMES.contains(&field.as_str()) {
                    continue;
                }
                let span = entry.key.span();
                if let (LABELS, Some(field)) = (&*path, of_label(&entry.name, kind.as_deref())) {
                    out.push(change(field.to_owned(), span));
                    continue;
                }
                match (&*entry.name, entry.value.kind()) {
                    ("$patch", _) => out.push(change(path.clone(), span)),
                    (_, Kind::Map) => rest.push((field, entry.value)),
                    _ => out.push(change(field, span)),
                }
            }
            if out.len() > MOST || rest.len() > MOST {
                return vec![change(String::new(), root.first_character())];
            }
        }
        out
    }

    /// Those of the labels that a kustomization puts on all resources.
    pub fn of_labels(labels: Node<'_>) -> Vec<Self> {
        let changes = labels.entries().take(MOST).filter_map(|entry| {
            Some(Self {
                kind: None,
                name: None,
                field: of_label(&entry.name, None)?.to_owned(),
                span: entry.key.span(),
            })
        });
        changes.collect()
    }

    /// Those of a list of operations on what `target` names, as `op`, `path` and `value` say them.
    fn of_operations(root: Node<'_>, target: &Target) -> Vec<Self> {
        let operations = root.items().take(MOST);
        let changes = operations.filter_map(|operation| {
            let path = operation.get("path")?.value;
            let steps = path.as_str()?;
            // What a list holds is told by its number, or by `-` for a new one.
            let names = steps.split('/').skip(1).map(unescaped);
            let names = names.take_while(|step| *step != "-" && step.parse::<u64>().is_err());
            let names: Vec<_> = names.collect();
            let label = match names.as_slice() {
                [metadata, labels, name] if metadata == "metadata" && labels == "labels" => {
                    of_label(name, target.kind.as_deref())
                }
                _ => None,
            };
            let field = label.map_or_else(|| names.join("."), str::to_owned);
            Some(Self {
                kind: target.kind.clone(),
                name: target.name.clone().filter(|name| is_plain(name)),
                field,
                span: path.span(),
            })
        });
        changes.collect()
    }

    /// Whether it changes what stands at the path, a part of that, or what that is a part of.
    pub fn touches(&self, path: &str) -> bool {
        let holds = |outer: &str, inner: &str| {
            outer.is_empty()
                || inner
                    .strip_prefix(outer)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        holds(&self.field, path) || holds(path, &self.field)
    }
}

const LABELS: &str = "metadata.labels";

/// What one of Istio's labels changes. They are read together: one that is added changes what the others mean; and
/// behind a waypoint all of a ServiceEntry has other effects.
fn of_label(label: &str, kind: Option<&str>) -> Option<&'static str> {
    match (label, kind) {
        ("istio.io/use-waypoint", Some("ServiceEntry")) => Some(""),
        ("istio-injection", _) => Some(LABELS),
        _ => label.contains("istio.io/").then_some(LABELS),
    }
}

/// What tells which resource a patch is for.
const NAMES: [&str; 4] = ["apiVersion", "kind", "metadata.name", "metadata.namespace"];

fn text(map: Node<'_>, key: &str) -> Option<String> {
    let value = map.get(key)?.value.as_str()?;
    (!value.is_empty()).then(|| value.into_owned())
}

/// A target is named by a regular expression.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    name.bytes().all(plain)
}

/// A step of a JSON pointer.
fn unescaped(step: &str) -> Cow<'_, str> {
    match step.contains('~') {
        true => step.replace("~1", "/").replace("~0", "~").into(),
        false => step.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::yaml::Tree;

    fn fields(text: &str, of: impl Fn(Node<'_>) -> Vec<Change>) -> Vec<String> {
        let tree = Tree::parse(FileId(0), text);
        let root = tree.documents(text).next().unwrap().root;
        let mut fields: Vec<_> = of(root)
            .into_iter()
            .map(|it| {
                let (kind, name) = (it.kind.unwrap_or_default(), it.name.unwrap_or_default());
                format!("{kind}/{name} {}", it.field)
            })
            .collect();
        fields.sort();
        fields
    }

    #[test]
    fn a_part_of_a_resource_changes_what_it_names() {
        let text = "kind: ServiceEntry\nmetadata: {name: a, labels: {x: y}}\nspec:\n  resolution: DNS\n  \
                    ports: [{number: 80}]\n  workloadSelector: {$patch: delete}\n";
        let wanted = [
            "ServiceEntry/a metadata.labels.x",
            "ServiceEntry/a spec.ports",
            "ServiceEntry/a spec.resolution",
            "ServiceEntry/a spec.workloadSelector",
        ];
        assert_eq!(fields(text, |root| Change::of_part(root, None)), wanted);
    }

    #[test]
    fn labels_of_istio_are_changed_together() {
        let text =
            "kind: Namespace\nmetadata: {name: a, labels: {istio.io/use-waypoint: w, team: x}}\n";
        let of = |root: Node<'_>| Change::of_part(root, None);
        let wanted = [
            "Namespace/a metadata.labels",
            "Namespace/a metadata.labels.team",
        ];
        assert_eq!(fields(text, of), wanted);
        let text = "kind: ServiceEntry\nmetadata: {name: a, labels: {istio.io/use-waypoint: w}}\n";
        assert_eq!(fields(text, of), ["ServiceEntry/a "]);
        let text = "istio.io/use-waypoint: w\nteam: x\n";
        assert_eq!(fields(text, Change::of_labels), ["/ metadata.labels"]);
    }

    #[test]
    fn operations_change_what_their_paths_name() {
        let text = "target: {kind: ServiceEntry, name: a.*}\npatch:\n- {op: replace, path: /spec/resolution}\n- \
                    {op: add, path: /spec/ports/0/name}\n- {op: add, path: /metadata/annotations/a~1b}\n";
        let wanted = [
            "ServiceEntry/ metadata.annotations.a/b",
            "ServiceEntry/ spec.ports",
            "ServiceEntry/ spec.resolution",
        ];
        let of = |root: Node<'_>| {
            let get = |key| root.get(key).unwrap().value;
            Change::of_operations(get("patch"), &Target::of(get("target")))
        };
        assert_eq!(fields(text, of), wanted);
    }

    #[test]
    fn a_change_touches_what_it_holds_and_what_holds_it() {
        let change = |field: &str| Change {
            kind: None,
            name: None,
            field: field.to_owned(),
            span: Span::new(FileId(0), 0, 0),
        };
        let ports = change("spec.ports");
        for path in ["spec", "spec.ports", "spec.ports[0].name"] {
            assert!(ports.touches(path), "{path}");
        }
        assert!(!ports.touches("spec.portsOfCall") && !ports.touches("spec.hosts[0]"));
        assert!(change("").touches("spec.hosts"));
    }
}
