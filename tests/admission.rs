//! What Istio's own admission said of these files, against what is said here.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use egress_lint::diag::RefusedBy;
use egress_lint::istio::{self, IstioVersion};
use egress_lint::source::FileId;
use egress_lint::yaml::Tree;
use serde_json::Value;

fn main() {
    let arguments = libtest_mimic::Arguments::from_args();
    let mut trials = Vec::new();
    for folder in folders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/admission")) {
        for (file, version) in [
            ("verdicts-1.30.json", IstioVersion(30)),
            ("verdicts-1.32.json", IstioVersion(32)),
        ] {
            if folder.join(file).exists() {
                let name = format!("{}/{file}", folder.file_name().unwrap().to_string_lossy());
                let folder = folder.clone();
                trials.push(libtest_mimic::Trial::test(name, move || {
                    check(&folder, file, version).map_err(libtest_mimic::Failed::from)
                }));
            }
        }
    }
    assert!(!trials.is_empty());
    libtest_mimic::run(&arguments, trials).exit();
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut out: Vec<_> = std::fs::read_dir(root)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    out.sort();
    out
}

fn check(folder: &Path, file: &str, version: IstioVersion) -> Result<(), String> {
    let text = std::fs::read_to_string(folder.join("input.yaml")).unwrap();
    let verdicts = std::fs::read_to_string(folder.join(file)).unwrap();
    let verdicts: Vec<Value> = serde_json::from_str(&verdicts).unwrap();
    let tree = Tree::parse(FileId(0), &text);
    let mut verdicts = verdicts.iter();
    for document in tree.documents(&text) {
        let decoded = istio::read(document.root, version);
        let istio = decoded
            .resources
            .iter()
            .filter(|resource| resource.spec.is_istio());
        for (resource, verdict) in istio.zip(verdicts.by_ref()) {
            let findings = decoded
                .diagnostics
                .iter()
                .filter(|it| resource.span.contains(it.span));
            let findings: Vec<_> = findings.collect();
            let layers: BTreeSet<_> = findings
                .iter()
                .filter_map(|it| it.refused_by)
                .map(name)
                .collect();
            let wanted = verdict["by"].as_str().unwrap_or("");
            let unknown: BTreeSet<_> = findings
                .iter()
                .filter(|it| it.rule == "unknown-field")
                .filter_map(|it| it.extras().field.as_deref())
                .collect();
            let wanted_unknown: BTreeSet<_> = verdict["unknown_fields"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str)
                .collect();
            let messages: Vec<_> = findings.iter().map(|it| &it.message).collect();
            let refused = verdict["verdict"] == "rejected";
            if resource.refused != refused {
                return Err(format!(
                    "{}: Istio says {}, by {wanted}: {messages:?}",
                    resource.name(),
                    verdict["verdict"]
                ));
            }
            if refused
                && !layers
                    .iter()
                    .any(|layer| wanted.replace("decode", "webhook").contains(layer))
            {
                return Err(format!(
                    "{}: refused by {wanted}, not by {layers:?}: {messages:?}",
                    resource.name()
                ));
            }
            if !refused && unknown != wanted_unknown || !wanted_unknown.is_subset(&unknown) {
                return Err(format!(
                    "{}: unknown fields {wanted_unknown:?}, not {unknown:?}",
                    resource.name()
                ));
            }
        }
    }
    Ok(())
}

fn name(layer: RefusedBy) -> &'static str {
    match layer {
        RefusedBy::Schema => "schema",
        RefusedBy::Webhook => "webhook",
    }
}
