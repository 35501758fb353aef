//! What must hold of every trace: it does not depend on what has nothing to do with it, nor on the order in which
//! files are named, nor on what a namespace is called; and every reason it gives stands in a file and carries its fact.

#![allow(clippy::unwrap_used)]

mod removal;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::Value;

/// A resource of each kind that says nothing about the hosts and namespaces of the cases.
const UNRELATED: &str = "
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: a-unrelated, namespace: elsewhere}
spec:
  hosts: [unrelated.invalid]
  ports: [{number: 61234, name: tls, protocol: TLS}]
  resolution: DNS
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: a-unrelated, namespace: elsewhere}
spec:
  host: '*.unrelated.invalid'
  trafficPolicy: {outlierDetection: {consecutive5xxErrors: 1}}
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: a-unrelated, namespace: elsewhere}
spec:
  hosts: [unrelated.invalid]
  tls:
  - match: [{port: 61234, sniHosts: [unrelated.invalid]}]
    route: [{destination: {host: unrelated.invalid}}]
---
apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: {name: a-unrelated, namespace: elsewhere}
spec: {egress: [{hosts: [./*]}]}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: a-unrelated, namespace: elsewhere}
spec: {address: 192.0.2.200, labels: {app: web}}
";

/// Namespaces of the cases, and other names as long as theirs.
const RENAMED: [(&str, &str); 2] = [("billing", "zzzzzzz"), ("edge", "aaaa")];

fn main() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let cases = inside(&testdata.join("trace"));
    type Property = fn(&Case) -> Result<(), Failed>;
    let properties: [(&str, Property); 5] = [
        ("unrelated resources change nothing", unrelated),
        ("the order of files changes nothing", order),
        ("a namespace is a name", renamed),
        ("reasons stand in files", reasons),
        ("reasons carry their facts", carried),
    ];
    let trials = cases.iter().flat_map(|folder| {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        properties.map(|(property, check)| {
            let folder = folder.clone();
            Trial::test(format!("{name}: {property}"), move || {
                check(&Case::read(&folder)?)
            })
        })
    });
    let rules = inside(&testdata.join("rules"));
    let files = rules.iter().flat_map(|rule| inside(rule));
    let manifests = files.filter(|path| path.extension().is_some_and(|it| it == "yaml"));
    let of_rules = manifests.map(|path| {
        let name = path.strip_prefix(&testdata).unwrap().display().to_string();
        Trial::test(format!("{name}: reasons carry their facts"), move || {
            let input = fs::read_to_string(&path)?;
            removal::check_destinations(&input)
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.chain(of_rules).collect()).exit();
}

/// What a folder holds, sorted.
fn inside(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// The files of a case.
#[derive(Clone)]
struct Case {
    input: String,
    calls: String,
    config: Option<(String, String)>,
}

impl Case {
    fn read(folder: &Path) -> Result<Self, Failed> {
        let config = fs::read_to_string(folder.join("egress-lint.yaml")).ok();
        let mesh = fs::read_to_string(folder.join("mesh.yaml")).unwrap_or_default();
        Ok(Self {
            input: fs::read_to_string(folder.join("input.yaml"))?,
            calls: fs::read_to_string(folder.join("calls.yaml"))?,
            config: config.map(|config| (config, mesh)),
        })
    }

    /// The program's answer when the input is these files, named in this order.
    fn answer(&self, files: &[(String, &str)]) -> Result<Value, Failed> {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("calls.yaml"), &self.calls)?;
        let mut program = Command::new(env!("CARGO_BIN_EXE_egress-lint"));
        program.current_dir(folder.path()).args([
            "trace",
            "--calls",
            "calls.yaml",
            "--format",
            "json",
        ]);
        match &self.config {
            Some((config, mesh)) => {
                fs::write(folder.path().join("egress-lint.yaml"), config)?;
                fs::write(folder.path().join("mesh.yaml"), mesh)?;
                program.args(["--config", "egress-lint.yaml"]);
            }
            None => {
                program.arg("--isolated");
            }
        }
        for (name, text) in files {
            fs::write(folder.path().join(name), text)?;
            program.arg(name);
        }
        let output = program.output()?;
        serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)).into())
    }

    fn whole(&self) -> Result<Value, Failed> {
        self.answer(&[("input.yaml".to_owned(), &self.input)])
    }
}

fn unrelated(case: &Case) -> Result<(), Failed> {
    let more = format!("{}{UNRELATED}", case.input.trim_end());
    let with = case.answer(&[("input.yaml".to_owned(), &more)])?;
    same(&case.whole()?, &with)
}

fn order(case: &Case) -> Result<(), Failed> {
    let documents = case.input.split("\n---\n").enumerate();
    let mut files: Vec<_> = documents
        .map(|(at, text)| (format!("{at:02}.yaml"), text))
        .collect();
    let forward = case.answer(&files)?;
    files.reverse();
    same(&forward, &case.answer(&files)?)?;
    // One file or several: the same but for the places.
    same(&without_reasons(case.whole()?), &without_reasons(forward))
}

fn renamed(case: &Case) -> Result<(), Failed> {
    let (mut other, mut wanted) = (case.clone(), case.whole()?.to_string());
    for (from, to) in RENAMED {
        for text in [&mut other.input, &mut other.calls, &mut wanted] {
            *text = replace_word(text, from, to);
        }
        if let Some((_, mesh)) = &mut other.config {
            *mesh = replace_word(mesh, from, to);
        }
    }
    same(&serde_json::from_str(&wanted)?, &other.whole()?)
}

/// The text with a word replaced wherever it is no part of a longer one.
fn replace_word(text: &str, from: &str, to: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let after = after.strip_prefix(from).unwrap();
        let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '-');
        let part = inside(out.chars().next_back()) || inside(after.chars().next());
        out.push_str(if part { from } else { to });
        rest = after;
    }
    out.push_str(rest);
    out
}

fn reasons(case: &Case) -> Result<(), Failed> {
    let answer = case.whole()?;
    let reasons = answer["results"].as_array().into_iter().flatten();
    let reasons = reasons.flat_map(|result| result["because"].as_array().into_iter().flatten());
    for reason in reasons {
        let file = match reason["path"].as_str() {
            None => continue,
            Some("input.yaml") => &case.input,
            Some("mesh.yaml") => &case.config.as_ref().ok_or("no mesh.yaml is given")?.1,
            Some(path) => return Err(format!("{path} is no file of the case").into()),
        };
        let offset = |place: &str| reason[place]["offset"].as_u64().unwrap_or(u64::MAX);
        let range = usize::try_from(offset("start"))?..usize::try_from(offset("end"))?;
        if file.get(range.clone()).is_none_or(str::is_empty) {
            return Err(format!("{range:?} is no text: {reason}").into());
        }
    }
    Ok(())
}

fn carried(case: &Case) -> Result<(), Failed> {
    let mesh = case.config.as_ref().map_or("", |(_, mesh)| mesh);
    removal::check([&case.input, mesh], &case.calls)
}

fn without_reasons(mut answer: Value) -> Value {
    for result in answer["results"].as_array_mut().into_iter().flatten() {
        result["because"].take();
    }
    answer
}

fn same(one: &Value, other: &Value) -> Result<(), Failed> {
    match one == other {
        true => Ok(()),
        false => Err(first_difference("", one, other).into()),
    }
}

fn first_difference(path: &str, one: &Value, other: &Value) -> String {
    let deeper = match (one, other) {
        (Value::Object(a), Value::Object(b)) => a
            .keys()
            .chain(b.keys())
            .find(|key| a.get(*key) != b.get(*key))
            .map(|key| (key.clone(), &one[key.as_str()], &other[key.as_str()])),
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => (0..a.len())
            .find(|at| a.get(*at) != b.get(*at))
            .map(|at| (at.to_string(), &one[at], &other[at])),
        _ => None,
    };
    match deeper {
        Some((step, one, other)) => first_difference(&format!("{path}.{step}"), one, other),
        None => format!("{path}: {one} is not {other}"),
    }
}
