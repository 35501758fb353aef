//! One `kustomization.yaml`.

use super::change::{Change, Target};
use super::place::{folder, place};
use crate::source::{FileId, Span, Spanned};
use crate::yaml::{Kind, Node, embedded};

/// The names that kustomize looks for in a folder, in its order.
pub const KUSTOMIZATION_NAMES: [&str; 3] =
    ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// A file or folder that a kustomization names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub place: String,
    pub span: Span,
}

/// What a kustomization says about other files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kustomization {
    pub file: FileId,
    pub place: String,
    pub folder: String,
    /// `resources`, `bases` and `components`: what it reaches.
    pub reaches: Vec<Reference>,
    /// The places of the files that only change resources.
    pub patches: Vec<String>,
    /// Those of them of which it says which resources they are for.
    pub targeted: Vec<(String, Target)>,
    /// What its labels change, and the patches that stand in it.
    pub changes: Vec<Change>,
    /// Set on every namespaced resource that it reaches, also on those that name another.
    pub namespace: Option<Spanned<String>>,
    /// The label `istio.io/rev` that it puts on every resource that it reaches, also on those that have another.
    pub revision: Option<Spanned<String>>,
    pub name_prefix: String,
    pub name_suffix: String,
    /// It also brings resources that are in no file: from a repository elsewhere, or out of a chart.
    pub remote: bool,
}

impl Kustomization {
    /// Whether it gives objects other names than their files do.
    pub(super) fn renames(&self) -> bool {
        !self.name_prefix.is_empty() || !self.name_suffix.is_empty()
    }

    /// Reads the kustomization at `at`. `None` where the root is no kustomization of kustomize (Flux has a kind of
    /// the same name).
    pub fn read(file: FileId, at: &str, root: Node<'_>) -> Option<Self> {
        if root.kind() != Kind::Map {
            return None;
        }
        let version = text(root, "apiVersion");
        if version.is_some_and(|version| !version.starts_with("kustomize.config.k8s.io/")) {
            return None;
        }
        let home = folder(at).to_owned();
        let mut out = Self {
            file,
            place: at.to_owned(),
            folder: home.clone(),
            reaches: Vec::new(),
            patches: Vec::new(),
            targeted: Vec::new(),
            changes: Vec::new(),
            namespace: spanned(root, "namespace").filter(|name| !name.value.is_empty()),
            revision: None,
            name_prefix: text(root, "namePrefix").unwrap_or_default(),
            name_suffix: text(root, "nameSuffix").unwrap_or_default(),
            remote: ["helmCharts", "helmChartInflationGenerator", "generators"]
                .iter()
                .any(|key| items(root, key).next().is_some()),
        };
        for key in ["resources", "bases", "components"] {
            for item in items(root, key) {
                match item.as_str() {
                    Some(name) if is_remote(&name) => out.remote = true,
                    Some(name) => out.reaches.push(Reference {
                        place: place(&home, &name),
                        span: item.span(),
                    }),
                    None => {}
                }
            }
        }
        for key in ["patches", "patchesJson6902"] {
            for item in items(root, key).filter(|item| item.kind() == Kind::Map) {
                let target = item.get("target");
                let target = target.map(|target| Target::of(target.value));
                if let Some(patch) = item.get("patch") {
                    out.change(patch.value, target.as_ref());
                }
                if let Some(name) = text(item, "path") {
                    let path = place(&home, &name);
                    out.targeted.extend(target.map(|it| (path.clone(), it)));
                    out.patches.push(path);
                }
            }
        }
        let common = root.get("commonLabels").map(|it| it.value);
        let pairs = items(root, "labels").filter_map(|it| Some(it.get("pairs")?.value));
        // Kustomize puts the common ones on last.
        for labels in pairs.chain(common) {
            out.changes.extend(Change::of_labels(labels));
            out.revision = spanned(labels, REVISION).filter(is_label).or(out.revision);
        }
        for item in items(root, "patchesStrategicMerge") {
            match item.as_str() {
                // An entry with a line break is a patch itself.
                Some(name) if !name.contains('\n') => out.patches.push(place(&home, &name)),
                _ => out.change(item, None),
            }
        }
        Some(out)
    }

    /// Takes in a patch that stands here, mostly as text.
    fn change(&mut self, patch: Node<'_>, target: Option<&Target>) {
        let Some(tree) = embedded(patch) else { return };
        for document in tree.documents(patch.source()) {
            self.changes.extend(Change::of_patch(document.root, target));
        }
    }
}

/// The label that says which control plane an object is for.
const REVISION: &str = "istio.io/rev";

/// Whether it is the value of a label, and nothing that something will be put in the place of.
fn is_label(value: &Spanned<String>) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_' | '.');
    !value.is_empty() && value.chars().all(plain)
}

fn spanned(map: Node<'_>, key: &str) -> Option<Spanned<String>> {
    let entry = map.get(key)?;
    let value = entry.value.as_str()?.into_owned();
    Some(Spanned::new(value, entry.value.span(), entry.key.span()))
}

fn text(map: Node<'_>, key: &str) -> Option<String> {
    let value = map.get(key)?.value.as_str()?;
    Some(value.into_owned())
}

fn items<'t>(map: Node<'t>, key: &str) -> impl Iterator<Item = Node<'t>> {
    map.get(key)
        .map(|entry| entry.value)
        .filter(|value| value.kind() == Kind::List)
        .into_iter()
        .flat_map(|value| value.items())
}

/// Kustomize takes what is no file or folder for a repository; these are the forms that no path has.
fn is_remote(name: &str) -> bool {
    name.contains("://")
        || name.contains("?ref=")
        || name.starts_with("git@")
        || ["github.com/", "gitlab.com/", "bitbucket.org/"]
            .iter()
            .any(|host| name.starts_with(host))
}
