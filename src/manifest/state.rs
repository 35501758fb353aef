//! What a document or a file is.

use super::place::name;
use super::template::{begins_with_mark, holds_action, holds_block, holds_ytt};
use crate::yaml::{Kind, Node};

/// What a document is, before anyone judges what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// An object of the Kubernetes API, or a `List` of them.
    Resource,
    /// Becomes a manifest when something fills it in: no syntax error, no findings.
    Template,
    /// Changes a resource that stands elsewhere: only the values that it holds can be judged.
    Patch,
    /// An assertion of a test tool, which leaves out what it does not compare: as with a patch, only its values count.
    Fragment,
    /// Anything else: Helm values, settings, text.
    Other,
}

/// What the document `text` is, as far as itself can tell. `root` is its tree, `None` where it does not parse.
///
/// A document that holds `{{` and does not parse is a template; its syntax errors are not errors. An unquoted
/// `name: {{ x }}` is a mapping with a mapping as its key, which Kubernetes refuses: that too is "does not parse". So
/// is a document with lines of other template languages (`{% if %}`), and one in which a value begins with a placeholder that YAML reads as something else (`name: {app}-x`).
pub fn classify(text: &str, root: Option<Node<'_>>) -> State {
    let Some(root) = root else {
        return if holds_action(text) || holds_block(text) || begins_with_mark(text) {
            State::Template
        } else {
            State::Other
        };
    };
    match root.kind() {
        Kind::Map => {}
        Kind::List if is_json_patch(root) => return State::Patch,
        Kind::List | Kind::Scalar => return State::Other,
    }
    let string = |key| {
        root.get(key)
            .and_then(|entry| entry.value.as_str())
            .filter(|value| !value.is_empty())
    };
    let (Some(version), Some(kind)) = (string("apiVersion"), string("kind")) else {
        return if has_directive(text, root) {
            State::Patch
        } else {
            State::Other
        };
    };
    // Other kinds (dashboards, alert rules, workflows) hold `{{` for readers of their own.
    let ours = version.contains("istio.io/")
        || (version == "v1" && matches!(&*kind, "Service" | "Namespace" | "List"));
    if ours && (text.contains("{{") && filled_in(root) || holds_ytt(text)) {
        return State::Template;
    }
    if has_directive(text, root) {
        return State::Patch;
    }
    State::Resource
}

/// Whether a document that does not parse is none that is read here: it says at its top that it is a Deployment or an
/// Ingress, or it is no object at all, such as the settings of an editor, which are JSON with comments. Text that may be
/// another document behind a lost `---` makes it doubtful.
pub fn is_foreign(text: &str) -> bool {
    const OURS: [&str; 4] = ["networking.istio.io", "mesh", "egress-lint", "egress-tests"];
    if OURS.iter().any(|word| text.contains(word)) {
        return false;
    }
    let is_json = text.trim_start().starts_with(['{', '/']);
    if is_json && !text.contains("apiVersion") {
        return true;
    }
    let only = |key| {
        let mut values = text.lines().filter_map(|line| line.strip_prefix(key));
        let value = values.next()?.split('#').next()?.trim();
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"./-".contains(&byte);
        (values.next().is_none() && value.bytes().all(is_plain)).then_some(value)
    };
    match (only("apiVersion:"), only("kind:")) {
        (Some("v1"), Some(kind)) => {
            !matches!(kind, "Service" | "Namespace") && !kind.ends_with("List")
        }
        (Some(version), Some(kind)) => {
            let groups = ["istio.io/", "kustomize", "gateway.networking.k8s.io/"];
            kind == "GatewayClass" || !groups.iter().any(|group| version.contains(group))
        }
        _ => false,
    }
}

/// What a file of this name holds, whatever its documents look like; `None`: its documents tell.
pub fn state_of_file(place: &str) -> Option<State> {
    let name = name(place);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    ["-assert", "-errors", "-error"]
        .iter()
        .any(|end| stem.ends_with(end))
        .then_some(State::Fragment)
}

/// Whether a document that is a fragment by the name of its file is a manifest all the same: `503-error.yaml` may assert
/// an error, or make one.
pub fn is_whole(place: &str, root: Node<'_>) -> bool {
    let name = name(place);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let spec = root.get("spec").map(|entry| entry.value);
    let has = |field| spec.is_some_and(|spec| spec.get(field).is_some());
    stem.ends_with("-error") && ["hosts", "host", "servers"].into_iter().any(has)
}

/// RFC 6902: a list of operations, each with `op` and `path`.
fn is_json_patch(root: Node<'_>) -> bool {
    let mut items = root.items().peekable();
    items.peek().is_some()
        && items.all(|item| {
            item.kind() == Kind::Map && item.get("op").is_some() && item.get("path").is_some()
        })
}

/// Whether `{{` stands in a scalar below `metadata` or `spec`.
fn filled_in(root: Node<'_>) -> bool {
    let holds = |node: Node<'_>| node.as_str().is_some_and(|text| text.contains("{{"));
    root.entries()
        .filter(|entry| matches!(&*entry.name, "metadata" | "spec" | "items"))
        .any(|entry| any(entry.value, |name, node| name.contains("{{") || holds(node)))
}

/// Whether a key `$patch` stands anywhere.
fn has_directive(text: &str, root: Node<'_>) -> bool {
    text.contains("$patch") && any(root, |name, _| name == "$patch")
}

/// Whether the test holds for a node, or for a key together with its value, anywhere from `root` downwards. A list's
/// items have an empty name. Aliases are followed, so the number of looked-at nodes is bounded.
fn any(root: Node<'_>, test: impl Fn(&str, Node<'_>) -> bool) -> bool {
    const LIMIT: usize = 1_000_000;
    if test("", root) {
        return true;
    }
    let mut seen = 0;
    let mut rest = vec![root];
    while let Some(node) = rest.pop() {
        match node.kind() {
            Kind::Map => {
                for entry in node.entries() {
                    if test(&entry.name, entry.value) {
                        return true;
                    }
                    rest.push(entry.value);
                    seen += 1;
                }
            }
            Kind::List => {
                for item in node.items() {
                    if test("", item) {
                        return true;
                    }
                    rest.push(item);
                    seen += 1;
                }
            }
            Kind::Scalar => {}
        }
        if seen > LIMIT {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;
    use crate::yaml::Tree;

    fn state(text: &str) -> State {
        let tree = Tree::parse(FileId(0), text);
        let root = tree.documents(text).next().map(|document| document.root);
        classify(text, root.filter(|_| tree.errors().is_empty()))
    }

    const ENTRY: &str = "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\n";

    #[test]
    fn templates() {
        for text in [
            // Does not parse.
            "{{- if .Values.on }}\nkind: ServiceEntry\n{{- end }}\n",
            // In a scalar of an Istio document.
            &format!("{ENTRY}metadata:\n  name: \"{{{{ .Values.name }}}}\"\n"),
            &format!("{ENTRY}spec:\n  hosts: ['a', 'b{{{{ x }}}}']\n"),
            &format!("{ENTRY}spec:\n  \"{{{{ x }}}}\": 1\n"),
            "apiVersion: v1\nkind: Service\nmetadata: {name: '{{ x }}'}\n",
            "{{< x >}}: [",
            "kind: ServiceEntry\n{% if on %}\nspec: {}\n{% endif %}\n",
            // What ytt fills in is a comment for YAML.
            &format!("{ENTRY}spec:\n  hosts:\n  - #@ data.values.host\n"),
            &format!("{ENTRY}#@ if data.values.on:\nspec: {{}}\n#@ end\n"),
            // Placeholders that make it unreadable.
            "kind: ServiceEntry\nmetadata:\n  name: {app}-entry\n",
            "kind: ServiceEntry\nspec:\n  hosts:\n  - @HOST@\n",
            "kind: ServiceEntry\nmetadata:\n  name: %NAME%\n",
            "kind: ServiceEntry\nmetadata:\n  namespace: *TEAM_NS*\n",
        ] {
            assert_eq!(state(text), State::Template, "{text}");
        }
    }

    #[test]
    fn no_templates() {
        for (text, expected) in [
            (format!("{ENTRY}# {{{{ x }}}}\n"), State::Resource),
            (format!("{ENTRY}note: '{{{{ x }}}}'\n"), State::Resource),
            (format!("{ENTRY}note: 'a#@ b' #@me\n"), State::Resource),
            (
                "apiVersion: v1\nkind: ConfigMap\ndata: {a: '{{ x }}'}\n".to_owned(),
                State::Resource,
            ),
            ("a: '{{ x }}'\n".to_owned(), State::Other),
            ("a: [\n# {{ x }}\n".to_owned(), State::Other),
            ("a: [\nb: {c}\n".to_owned(), State::Other),
            ("a: [\nb: {c: d}, e\n".to_owned(), State::Other),
            ("a: [\nb: @me\n".to_owned(), State::Other),
            ("kind: Sidecar\na: *b*\n".to_owned(), State::Other),
            ("text".to_owned(), State::Other),
            (String::new(), State::Other),
            ("kind: X\nspec: {}\n".to_owned(), State::Other),
        ] {
            assert_eq!(state(&text), expected, "{text}");
        }
    }

    #[test]
    fn others_are_known_by_their_top() {
        let foreign = |top: &str| is_foreign(&format!("{top}metadata: {{name: a}}\nspec: [\n"));
        assert!(foreign("apiVersion: apps/v1 # here\nkind: Deployment\n"));
        assert!(foreign("apiVersion: v1\nkind: Pod\n"));
        // Without that word it carries no mesh configuration.
        let config = "apiVersion: v1\nkind: ConfigMap\n";
        assert!(foreign(config) && !foreign(&format!("{config}data: {{mesh: a}}\n")));
        let class = "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\n";
        assert!(foreign(class) && !foreign(&class.replace("GatewayClass", "HTTPRoute")));
        let settings = "// of istio.io\n{\"paths\": {\"istio.io/*\": [\"x\"],},}\n";
        assert!(is_foreign(settings));
        for doubtful in [
            ENTRY,
            "{\"apiVersion\": \"v1\", // istio.io\n",
            "{{ .Values.mesh }}: istio.io\n",
            "apiVersion: v1\nkind: Service\n",
            "apiVersion: v1\nkind: List\n",
            "kind: Deployment\n",
            "apiVersion: apps/v1\nkind: [Deployment\n",
            // A `---` may be missing.
            "apiVersion: apps/v1\nkind: Deployment\nspec: {}\napiVersion: v1\nkind: Service\n",
            "apiVersion: kyverno.io/v1\nkind: Policy\n# networking.istio.io\n",
            "apiVersion: a.example/v1\nkind: Release\nmeshConfig: {}\n",
        ] {
            assert!(!foreign(doubtful), "{doubtful}");
        }
    }

    #[test]
    fn patches_by_their_look() {
        for text in [
            "- op: replace\n  path: /spec/hosts/0\n  value: a\n- {op: remove, path: /x}\n",
            "spec:\n  hosts:\n  - $patch: replace\n",
            &format!("{ENTRY}$patch: delete\n"),
            &format!("{ENTRY}spec:\n  ports:\n  - $patch: delete\n    number: 80\n"),
        ] {
            assert_eq!(state(text), State::Patch, "{text}");
        }
        assert_eq!(state("- op: replace\n- path: x\n"), State::Other);
        assert_eq!(state("[]"), State::Other);
    }

    #[test]
    fn fragments_by_their_name() {
        for (place, expected) in [
            ("a/00-assert.yaml", Some(State::Fragment)),
            ("a/x-errors.yml", Some(State::Fragment)),
            ("x-error.json", Some(State::Fragment)),
            ("a-assert/x.yaml", None),
            ("assert.yaml", None),
            ("x-assertion.yaml", None),
        ] {
            assert_eq!(state_of_file(place), expected, "{place}");
        }
    }

    #[test]
    fn a_manifest_that_makes_errors_is_no_assertion() {
        let whole = "spec: {hosts: [a.example]}";
        for (place, text, expected) in [
            ("503-error.yaml", whole, true),
            ("a/02-error.yaml", "metadata: {name: a}", false),
            ("02-errors.yaml", whole, false),
            ("02-assert.yaml", whole, false),
        ] {
            let tree = Tree::parse(FileId(0), text);
            let root = tree.documents(text).next().unwrap().root;
            assert_eq!(is_whole(place, root), expected, "{place}");
        }
    }
}
