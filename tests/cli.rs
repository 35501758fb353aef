//! The real program: exit codes, standard streams, odd files. What it finds is tested elsewhere.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const FORMATS: [&str; 7] = [
    "text", "concise", "json", "sarif", "github", "gitlab", "junit",
];

const GOOD: &str = "\
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: partner, namespace: payments}
spec:
  hosts: [api.partner.example]
  location: MESH_EXTERNAL
  resolution: DNS
  ports: [{number: 443, name: tls, protocol: TLS}]
";

/// Has one safe fix.
const FIXABLE: &str = "\
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: carrier, namespace: a, annotations: {egress-lint/addresses: '2'}}
spec:
  hosts: [api.carrier.example]
  location: MESH_EXTERNAL
  resolution: DNS
  ports: [{number: 80, name: http, protocol: HTTP}]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: carrier, namespace: a}
spec:
  host: api.carrier.example
  trafficPolicy:
    outlierDetection:
      consecutive5xxErrors: 3
";

/// `GOOD` with a field that nobody knows.
fn bad() -> String {
    format!("{GOOD}  nope: 1\n")
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn program(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_egress-lint"));
    command.current_dir(folder).stdin(Stdio::null());
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command
}

fn run<S: AsRef<OsStr>>(folder: &TempDir, arguments: &[S]) -> Output {
    program(folder.path()).args(arguments).output().unwrap()
}

/// With this on standard input.
fn run_with(folder: &TempDir, arguments: &[&str], input: impl AsRef<[u8]>) -> Output {
    let mut child = program(folder.path())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_ref()).unwrap();
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The paths of the findings in the JSON report, in its order.
fn paths(output: &Output) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report["diagnostics"].as_array().unwrap();
    let path = |finding: &serde_json::Value| finding["path"].as_str().unwrap().to_owned();
    findings.iter().map(path).collect()
}

#[test]
fn exit_codes_are_the_same_in_every_format() {
    let bad = bad();
    let cases = [
        (vec![("a.yaml", GOOD)], 0),
        (vec![("a.yaml", bad.as_str())], 1),
        (vec![("a.yaml", "# istio.io\na: [\n")], 2),
        (
            vec![("a.yaml", bad.as_str()), ("b.yaml", "# istio.io\na: [\n")],
            2,
        ),
        (vec![("a.yaml", "kind: ConfigMap\n")], 3),
        (vec![], 3),
    ];
    for (files, expected) in cases {
        let folder = folder(&files);
        for format in FORMATS {
            let output = run(&folder, &["check", "--isolated", "--format", format]);
            assert_eq!(code(&output), expected, "{format} {files:?} {output:?}");
        }
    }
}

#[test]
fn fail_on_moves_the_border() {
    let folder = folder(&[("a.yaml", &bad())]);
    for (level, expected) in [("error", 1), ("warning", 1), ("advice", 1), ("never", 0)] {
        let output = run(&folder, &["--isolated", "--fail-on", level]);
        assert_eq!(code(&output), expected, "{level}");
    }
}

#[test]
fn a_bare_path_is_checked() {
    let folder = folder(&[("m/a.yaml", &bad())]);
    let output = run(&folder, &["m/", "--format", "json", "--isolated"]);
    assert_eq!(paths(&output), ["m/a.yaml"]);
}

#[test]
fn nothing_to_check_is_told_and_can_be_allowed() {
    let folder = folder(&[]);
    assert_eq!(code(&run(&folder, &["check", "--isolated"])), 3);
    assert_eq!(
        code(&run(&folder, &["check", "--isolated", "--allow-empty"])),
        0
    );
}

#[test]
fn resources_that_are_not_judged_are_nothing_to_check() {
    let policy =
        "apiVersion: security.istio.io/v1\nkind: AuthorizationPolicy\nmetadata: {name: a}\n";
    let folder = folder(&[("a.yaml", policy)]);
    let output = run(&folder, &["check", "--isolated"]);
    assert_eq!(code(&output), 3);
    let told = (text(&output.stdout), text(&output.stderr));
    assert_eq!(
        told.0,
        "no Istio resource of a kind that is judged in 1 file\n"
    );
    assert!(
        told.1.ends_with("are of kinds that are not judged\n"),
        "{told:?}"
    );
}

#[test]
fn templates_and_patches_are_something_to_check() {
    let template = GOOD.replace("name: partner", "name: {{ .Values.name }}");
    let patch = "# networking.istio.io\n- op: remove\n  path: /spec\n";
    for file in [template.as_str(), patch] {
        let folder = folder(&[("a.yaml", file)]);
        let output = run(&folder, &["check", "--isolated"]);
        assert_eq!(code(&output), 0, "{file} {output:?}");
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn a_named_file_is_parsed_whatever_it_holds() {
    let folder = folder(&[("a.txt", "a: [\n"), ("b.yaml", "a: [\n")]);
    assert_eq!(code(&run(&folder, &["check", "--isolated", "."])), 3);
    assert_eq!(code(&run(&folder, &["check", "--isolated", "a.txt"])), 2);
    assert_eq!(code(&run(&folder, &["check", "--isolated", "b.yaml"])), 2);
}

#[test]
fn what_is_missing_is_said_and_the_rest_is_checked() {
    let folder = folder(&[("a.yaml", &bad())]);
    let arguments = [
        "check",
        "--isolated",
        "--format",
        "json",
        "a.yaml",
        "no\u{1b}[31m.yaml",
    ];
    let output = run(&folder, &arguments);
    assert_eq!(code(&output), 2);
    assert_eq!(paths(&output), ["a.yaml"]);
    assert!(!output.stderr.contains(&0x1b));
    assert!(text(&output.stderr).contains("no such file"));
    let said = |paths: &[&str]| text(&run(&folder, &[&["--isolated"], paths].concat()).stdout);
    let end = "no Istio resource in 0 files\nnot read: 1 path\n";
    assert!(said(&["none.yaml"]).ends_with(end));
    assert!(said(&["none.yaml", "a.yaml"]).ends_with("of 1 file\nnot read: 1 path\n"));
}

#[test]
fn standard_input_has_a_name() {
    let folder = folder(&[("a.yaml", &bad())]);
    let other = bad().replace("partner", "other");
    let name = "--stdin-filename=rendered.yaml";
    let arguments = ["--isolated", "--format", "json", "-", "a.yaml", name];
    let output = run_with(&folder, &arguments, &other);
    assert_eq!(paths(&output), ["a.yaml", "rendered.yaml"]);
}

#[test]
fn standard_input_stands_in_place_of_the_file_of_its_name() {
    let folder = folder(&[("m/a.yaml", &bad())]);
    let arguments = ["--isolated", ".", "-", "--stdin-filename=./m/a.yaml"];
    assert_eq!(code(&run_with(&folder, &arguments, GOOD)), 0);
}

#[test]
fn standard_input_is_fixed_to_standard_output() {
    let folder = folder(&[]);
    let fixed = FIXABLE.replace("3\n", "3\n      maxEjectionPercent: 50\n");
    let ask = |arguments: &[&str], input: &str| {
        let arguments = [&["--isolated", "-"], arguments].concat();
        let output = run_with(&folder, &arguments, input);
        (text(&output.stdout), text(&output.stderr))
    };
    let (out, err) = ask(&["--fix"], FIXABLE);
    assert_eq!(out, fixed);
    assert!(err.contains("fixed 1 finding in 1 file"), "{err}");
    assert!(err.contains("advice[connect-timeout-default]"), "{err}");
    // Nothing to fix, or nothing that can be read: the text goes through as it is.
    for input in [GOOD, "# istio.io\na: [\n", ""] {
        assert_eq!(ask(&["--fix", "--quiet"], input).0, input);
    }
    let (diff, _) = ask(&["--fix", "--diff"], FIXABLE);
    assert!(diff.contains("\n+      maxEjectionPercent: 50\n"), "{diff}");

    // A report for programs keeps standard output, unless it is given a file.
    let (report, err) = ask(&["--fix", "--format=json"], FIXABLE);
    assert!(report.starts_with('{') && err.contains("standard input is not fixed"));
    let (out, err) = ask(&["--fix", "--format=json", "--output=report.json"], FIXABLE);
    assert_eq!(
        (out.as_str(), err.contains("not fixed")),
        (fixed.as_str(), false)
    );
    let report = fs::read_to_string(folder.path().join("report.json")).unwrap();
    assert!(report.starts_with('{'));
}

#[test]
fn nothing_is_fixed_under_a_configuration_with_mistakes() {
    let config = "exlude: [vendor]\n";
    let folder = folder(&[("egress-lint.yaml", config), ("vendor/a.yaml", FIXABLE)]);
    let output = run(&folder, &["--fix"]);
    assert_eq!(code(&output), 2);
    let said = text(&output.stderr);
    assert!(
        said.contains("nothing is fixed: the configuration has mistakes"),
        "{said}"
    );
    let kept = fs::read_to_string(folder.path().join("vendor/a.yaml")).unwrap();
    assert_eq!(kept, FIXABLE);
}

#[cfg(unix)]
#[test]
fn fixing_one_of_several_names_of_a_file_is_told() {
    let folder = folder(&[("a.yaml", FIXABLE)]);
    let path = |name: &str| folder.path().join(name);
    fs::hard_link(path("a.yaml"), path("b.txt")).unwrap();
    let said = text(&run(&folder, &["--isolated", "--fix"]).stderr);
    assert!(
        said.contains("its 1 other name keeps the old text"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(path("b.txt")).unwrap(), FIXABLE);
}

#[test]
fn a_file_is_read_once_and_files_are_in_order() {
    let bad = bad();
    let files: Vec<(String, String)> = ["b/x", "a", "b-x", "Z", "b/a"]
        .iter()
        .map(|name| {
            (
                format!("{name}.yaml"),
                bad.replace("partner", &name.to_lowercase().replace('/', "-")),
            )
        })
        .collect();
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let folder = folder(&files);
    let absolute = folder.path().canonicalize().unwrap().join("a.yaml");
    let arguments = [
        ".",
        "./a.yaml",
        "a.yaml",
        "b/..//a.yaml",
        absolute.to_str().unwrap(),
        "b",
        ".",
    ];
    let output = run(
        &folder,
        &[&["check", "--isolated", "--format", "json"], &arguments[..]].concat(),
    );
    assert_eq!(
        paths(&output),
        ["Z.yaml", "a.yaml", "b-x.yaml", "b/a.yaml", "b/x.yaml"]
    );
}

#[test]
fn ignored_hidden_and_excluded_files_are_left_out() {
    let bad = bad();
    let folder = folder(&[
        (".gitignore", "ignored.yaml\n"),
        (".git/config", ""),
        ("ignored.yaml", &bad),
        (".hidden.yaml", &bad),
        (".hidden/a.yaml", &bad),
        ("vendor/a.yaml", &bad),
        ("a.txt", &bad),
        (
            "kept.json",
            "{\"apiVersion\": \"networking.istio.io/v1\", \"kind\": \"ServiceEntry\", \"metadata\": {\"name\": \"a\"}, \"spec\": {\"hosts\": [\"a.example\"], \"nope\": 1}}",
        ),
    ]);
    let output = run(
        &folder,
        &["--isolated", "--format", "json", "--exclude", "vendor"],
    );
    assert_eq!(
        paths(&output).first().map(String::as_str),
        Some("kept.json")
    );
    assert!(paths(&output).iter().all(|path| path == "kept.json"));
    let output = run(&folder, &["--isolated", "--format", "json", "ignored.yaml"]);
    assert_eq!(paths(&output), ["ignored.yaml"]);
}

#[cfg(target_os = "linux")]
#[test]
fn so_many_threads_work_as_are_wanted() {
    let folder = folder(&[]);
    for wanted in [1, 3] {
        let threads = wanted.to_string();
        let mut child = program(folder.path())
            .args(["check", "--isolated", "--threads", &threads, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // They stand ready while the manifests are waited for, beside the thread that waits.
        let tasks = format!("/proc/{}/task", child.id());
        let running = || fs::read_dir(&tasks).unwrap().count();
        let start = Instant::now();
        while running() != wanted + 1 && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let seen = running();
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(seen, wanted + 1);
    }
}

#[test]
fn one_thread_or_many_make_the_same_report() {
    let files: Vec<(String, String)> = (0..40)
        .map(|i| {
            (
                format!("d{}/f{i}.yaml", i % 3),
                bad().replace("partner", &format!("p{i}")),
            )
        })
        .collect();
    let files: Vec<_> = files
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let folder = folder(&files);
    for format in FORMATS {
        let with = |more: &[&str]| {
            let all = [&["check", "--isolated", "--format", format], more].concat();
            run(&folder, &all).stdout
        };
        let serial = with(&["--threads", "1"]);
        assert!(!serial.is_empty());
        assert_eq!(serial, with(&["--threads", "4"]), "{format}");
        assert_eq!(serial, with(&["--no-prefilter"]), "{format}");
    }
}

#[cfg(unix)]
#[test]
fn links_pipes_and_devices_do_no_harm() {
    use std::os::unix::fs::symlink;
    let folder = folder(&[("ok.yaml", GOOD), ("d/x.txt", "")]);
    let at = |name: &str| folder.path().join(name);
    symlink("b.yaml", at("a.yaml")).unwrap();
    symlink("a.yaml", at("b.yaml")).unwrap();
    symlink("..", at("d/up")).unwrap();
    symlink("/dev/zero", at("zero.yaml")).unwrap();
    symlink("nowhere", at("dangling.yaml")).unwrap();
    let made = Command::new("mkfifo")
        .arg(at("pipe.yaml"))
        .status()
        .unwrap();
    assert!(made.success());
    assert_eq!(code(&run(&folder, &["check", "--isolated"])), 0);
    for odd in ["pipe.yaml", "zero.yaml", "dangling.yaml", "a.yaml"] {
        let output = run(&folder, &["check", "--isolated", odd, "ok.yaml"]);
        assert_eq!(code(&output), 2, "{odd} {output:?}");
    }
}

#[test]
fn a_file_too_large_is_told() {
    let folder = folder(&[
        ("ok.yaml", GOOD),
        ("huge.yaml", "# istio.io\n"),
        ("data.json", "{}"),
    ]);
    for name in ["huge.yaml", "data.json"] {
        let file = fs::OpenOptions::new()
            .write(true)
            .open(folder.path().join(name))
            .unwrap();
        file.set_len(40 << 30).unwrap();
    }
    let output = run(&folder, &["check", "--isolated"]);
    assert_eq!(code(&output), 2);
    let said = text(&output.stderr);
    assert!(
        said.contains("huge.yaml") && !said.contains("data.json"),
        "{said}"
    );
}

#[test]
fn what_is_not_utf8_is_a_syntax_error() {
    let folder = folder(&[]);
    fs::write(folder.path().join("a.yaml"), b"# istio.io\na: caf\xe9\n").unwrap();
    let output = run(&folder, &["check", "--isolated", "--format", "json"]);
    assert_eq!(code(&output), 2);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let finding = &report["diagnostics"][0];
    assert_eq!(finding["rule"], "yaml-syntax");
    assert_eq!(
        finding["start"],
        serde_json::json!({"line": 2, "column": 7, "offset": 17})
    );
}

#[test]
fn colours_are_a_choice() {
    let folder = folder(&[("a.yaml", &bad())]);
    let colored = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = program(folder.path());
        command.args(["check", "--isolated"]).args(arguments);
        command.envs(variables.iter().copied());
        command.output().unwrap().stdout.contains(&0x1b)
    };
    assert!(!colored(&[], &[]));
    assert!(!colored(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(colored(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(colored(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
}

#[test]
fn the_report_can_go_to_a_file() {
    let folder = folder(&[("a.yaml", &bad())]);
    let output = run(
        &folder,
        &[
            "check",
            "--isolated",
            "--format",
            "json",
            "--output",
            "out.json",
        ],
    );
    assert_eq!((code(&output), output.stdout.len()), (1, 0));
    let written = fs::read(folder.path().join("out.json")).unwrap();
    assert!(serde_json::from_slice::<serde_json::Value>(&written).is_ok());
    let output = run(
        &folder,
        &["check", "--isolated", "--output", "no/such/folder.json"],
    );
    assert_eq!(code(&output), 2);
}

#[test]
fn quiet_says_it_by_the_exit_code() {
    let folder = folder(&[("a.yaml", &bad())]);
    let output = run(&folder, &["check", "--isolated", "--quiet"]);
    assert_eq!(
        (code(&output), output.stdout.len(), output.stderr.len()),
        (1, 0, 0)
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let many: String = (0..2000)
        .map(|i| format!("---\n{}", bad().replace("partner", &format!("p{i}"))))
        .collect();
    let folder = folder(&[("a.yaml", &many)]);
    let mut child = program(folder.path())
        .args(["check", "--isolated", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.stderr.is_empty(), "{output:?}");
    assert!(matches!(code(&output), 0 | 1));
}

#[test]
fn wrong_usage_is_trouble() {
    let folder = folder(&[("a.yaml", GOOD)]);
    for arguments in [
        &["check", "--nope"][..],
        &["check", "--format", "yaml"],
        &["check", "--istio-version", "2.0"],
        &["check", "--rule", "unknown-field"],
        &["check", "--rule", "unknown-field=loud"],
        &["check", "--rule", "unknown-feild=off"],
        &["check", "--only", "unknown-feild"],
        &["check", "--config", "no-such.yaml"],
    ] {
        let output = run(&folder, arguments);
        assert_eq!(code(&output), 2, "{arguments:?} {output:?}");
        assert!(!output.stderr.is_empty());
    }
    let said = text(&run(&folder, &["check", "--only", "unknown-feild"]).stderr);
    assert!(said.contains("did you mean `unknown-field`?"), "{said}");
}

#[test]
fn a_part_of_a_rule_name_leads_to_the_rules_that_hold_it() {
    let folder = folder(&[]);
    for arguments in [["explain", "logical-dns"], ["--only", "logical-dns"]] {
        let output = run(&folder, &arguments);
        assert_eq!(code(&output), 2);
        let said = text(&output.stderr);
        let holding = "there is `logical-dns-on-gslb`, `outlier-on-logical-dns`";
        assert!(said.contains(holding), "{said}");
    }
}

/// What is refused or cannot be read is no part of the model, and the reader hears of it.
#[test]
fn a_trace_names_what_it_leaves_out() {
    let refused = GOOD.replace("resolution: DNS", "resolution: STATIC_DNS");
    let broken = "\
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata:
  name: broken
   namespace: payments
";
    let folder = folder(&[("a.yaml", &refused), ("b.yaml", broken)]);
    let said = |host| text(&run(&folder, &["trace", "--to", host]).stderr);
    let partner = said("api.partner.example");
    assert!(
        partner.contains("ServiceEntry `partner` (a.yaml:2) is refused"),
        "{partner}"
    );
    assert!(partner.contains("b.yaml:5 is not read"), "{partner}");
    assert!(!partner.contains("no file defines"), "{partner}");
    let other = said("other.example");
    assert!(!other.contains("refused"), "{other}");
    assert!(other.contains("no file defines"), "{other}");
    assert!(!other.contains("egress-lint.yaml"), "{other}");
    fs::write(
        folder.path().join("egress-lint.yaml"),
        "version: 1\nhots: []\n",
    )
    .unwrap();
    let other = said("other.example");
    assert!(
        other.contains("egress-lint.yaml:2: unknown key `hots`"),
        "{other}"
    );
    let lint = run(&folder, &["check", "--format", "text"]);
    let lint = text(&lint.stdout);
    assert!(lint.contains("not checked: 1 refused resource"), "{lint}");
    assert!(lint.contains("help: indent it like `name`"), "{lint}");
}

#[test]
fn a_line_that_is_indented_too_deep_is_told() {
    for (text, wanted) in [
        (
            "metadata:\n  name: a\n   namespace: b\n",
            "indent it like `name`",
        ),
        (
            "ports:\n- number: 443\n   name: tls\n",
            "indent it like `number`",
        ),
        (
            "metadata:\n  name:a\n  namespace: b\n",
            "put a space behind the `:`",
        ),
        (
            "name: a\nhost: a: b\n",
            "quote the text if the `:` belongs to it",
        ),
    ] {
        let folder = folder(&[("a.yaml", &format!("kind: ServiceEntry\n{text}"))]);
        let found = run(&folder, &["check", "a.yaml", "--format", "json"]);
        let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
        let help = found["diagnostics"][0]["help"].as_str().unwrap();
        assert!(help.starts_with(wanted), "{help}");
    }
}

#[test]
fn an_experiment_that_a_trace_names_is_explained() {
    let folder = folder(&[]);
    let said = text(&run(&folder, &["explain", "E9"]).stdout);
    assert!(said.starts_with("## E9: "), "{said}");
    assert_eq!(code(&run(&folder, &["explain", "E99"])), 2);
}

#[test]
fn rules_are_told_to_programs() {
    let folder = folder(&[]);
    let json = |arguments: &[&str]| -> serde_json::Value {
        let output = run(&folder, &[arguments, &["--format", "json"]].concat());
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (all, one) = (json(&["rules"]), json(&["explain", "retries-disabled"]));
    let pages = json(&["explain", "--all"]);
    let schema = run(&folder, &["schema", "rules"]).stdout;
    let schema = serde_json::from_slice(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for answer in [&all, &one, &pages] {
        assert!(validator.is_valid(answer), "{answer:#}");
    }
    let rule = &one["rules"][0];
    assert_eq!(
        (&rule["name"], &rule["level"]),
        (&"retries-disabled".into(), &"warning".into())
    );
    assert!(
        rule["page"]
            .as_str()
            .unwrap()
            .starts_with("# retries-disabled\n")
    );
    assert!(all["rules"][0].get("page").is_none());
    let count = |answer: &serde_json::Value| answer["rules"].as_array().unwrap().len();
    assert_eq!(count(&all), count(&pages));
}

#[test]
fn statistics_are_for_the_formats_that_have_room() {
    let folder = folder(&[("a.yaml", &bad())]);
    for format in FORMATS {
        let output = run(&folder, &["--isolated", "--statistics", "--format", format]);
        let expected = if matches!(format, "text" | "json") {
            1
        } else {
            2
        };
        assert_eq!(code(&output), expected, "{format}");
    }
}

#[test]
fn levels_can_be_set() {
    let folder = folder(&[("a.yaml", &bad())]);
    let with = |rule: &str| code(&run(&folder, &["check", "--isolated", "--rule", rule]));
    assert_eq!(with("unknown-field=off"), 0);
    assert_eq!(with("unknown-field=advice"), 0);
    assert_eq!(with("unknown-field=warning"), 1);
    let output = run(
        &folder,
        &["check", "--isolated", "--only", "duplicate-resource"],
    );
    assert_eq!(code(&output), 0);
}

#[test]
fn silenced_findings_do_not_count() {
    let silenced =
        GOOD.to_owned() + "  nope: 1 # egress-lint: ignore[unknown-field] for the next version\n";
    let idle = GOOD.to_owned() + "# egress-lint: ignore-file[unknown-field]\n";
    let folder = folder(&[("a.yaml", &silenced), ("b.yaml", &idle)]);
    let json = ["check", "--isolated", "--format", "json"];
    let output = run(&folder, &[&json[..], &["a.yaml"]].concat());
    assert_eq!((code(&output), paths(&output).len()), (0, 0));
    let output = run(
        &folder,
        &[&json[..], &["a.yaml", "--show-suppressed"]].concat(),
    );
    assert_eq!((code(&output), paths(&output).len()), (0, 1));
    let output = run(&folder, &[&json[..], &["b.yaml"]].concat());
    assert_eq!((code(&output), paths(&output).len()), (1, 1));
    for option in [
        ["--rule", "unused-ignore=off"],
        ["--only", "refused"],
        ["--rule", "unknown-field=off"],
    ] {
        let output = run(&folder, &[&json[..], &["b.yaml"], &option[..]].concat());
        assert_eq!(code(&output), 0, "{option:?} {output:?}");
    }
}

#[test]
fn the_configuration_is_found_and_its_mistakes_are_told() {
    let with = |config: &str| {
        let folder = folder(&[("egress-lint.yaml", config), ("m/a.yaml", &bad())]);
        let output = run(&folder, &["check", "--format", "json"]);
        (code(&output), paths(&output))
    };
    assert_eq!(with("version: 1\n"), (1, vec!["m/a.yaml".to_owned()]));
    assert_eq!(with("version: 1\nexclude: [m]\n"), (3, vec![]));
    assert_eq!(with("version: 1\nfail-on: never\n").0, 0);
    assert_eq!(
        with("version: 1\nrules: {unknown-field: off}\n"),
        (0, vec![])
    );
    for mistake in [
        "rules: {unknown-feild: off}",
        "rules: {yaml-syntax: off}",
        "istio: '1.99'",
        "nope: 1",
        "exclude: {",
    ] {
        let (code, paths) = with(&format!("version: 1\n{mistake}\n"));
        assert_eq!(
            (code, paths[0].as_str()),
            (2, "egress-lint.yaml"),
            "{mistake}"
        );
    }
}

#[test]
fn all_mistakes_of_the_configuration_are_told_at_once() {
    let config = "\
istio: '1.99'
nope: 1
worlds: {prod: [prod/**, prd/**]}
rules: {retries-disable: loud, double-tls: {option: 3}}
hosts:
- {host: 7, ttl: 99999999999h}
";
    let folder = folder(&[("egress-lint.yaml", config), ("prod/a.yaml", GOOD)]);
    let output = run(&folder, &["--format=concise"]);
    assert_eq!(code(&output), 2);
    let said = text(&output.stdout);
    for mistake in [
        "`1.99` is no version of Istio that is known here",
        "unknown key `nope`",
        "`prd/**` matches no file, so the world `prod` gets nothing from it",
        "there is no rule `retries-disable`",
        "`rules.retries-disable` must be",
        "unknown option `option` of the rule `double-tls`",
        "`hosts[0].host` must be a string",
    ] {
        assert!(said.contains(mistake), "{mistake}: {said}");
    }
    assert_eq!(said.lines().count(), 7, "{said}");
}

#[test]
fn a_world_may_be_left_out_of_a_run() {
    let config = "worlds: {prod: [prod/**], dev: [dev/**]}\n";
    let folder = folder(&[
        ("egress-lint.yaml", config),
        ("prod/a.yaml", GOOD),
        ("dev/a.yaml", GOOD),
    ]);
    for arguments in [&["prod"][..], &["prod/a.yaml"], &["--exclude=dev/**"]] {
        assert_eq!(code(&run(&folder, arguments)), 0, "{arguments:?}");
    }
}

#[test]
fn a_mesh_configuration_is_read_from_any_string() {
    let with = |mesh: &str| {
        let config = format!(
            "kind: ConfigMap\napiVersion: v1\nmetadata: {{name: istio}}\ndata:\n  mesh: {mesh}\n"
        );
        let folder = folder(&[("mesh.yaml", &config), ("a.yaml", GOOD)]);
        let trace = text(&run(&folder, &["trace", "--isolated"]).stdout);
        let check = run(&folder, &["--isolated", "--format=concise"]);
        let limit = trace.lines().find(|line| line.contains("connect timeout"));
        let limit = limit.unwrap().split_whitespace().nth(2).unwrap().to_owned();
        (limit, code(&check), text(&check.stdout))
    };
    for mesh in [
        "|\n    connectTimeout: 3s",
        r#""connectTimeout: \x33s\nenableTracing: true\n""#,
        "'connectTimeout: 3s'",
        ">-\n    {connectTimeout:\n    3s}",
    ] {
        assert_eq!(with(mesh), ("3".to_owned(), 0, String::new()), "{mesh}");
    }
    let (limit, code, said) = with(r#""connectTimeout: 3s\nenableTracing: [\n""#);
    assert_eq!((limit.as_str(), code), ("10", 2));
    assert!(
        said.contains("the mesh configuration is not YAML"),
        "{said}"
    );
    let (_, code, said) = with("|\n    connectTimeout: 3");
    assert!(code == 1 && said.contains("must be a duration"), "{said}");
    // A template will be filled in.
    assert_eq!(with("|\n    {{- .Values.mesh }}").1, 0);
}

#[test]
fn what_labels_of_istio_change_is_advice() {
    let ambient = include_str!("../testdata/rules/ambient-without-waypoint/bad.yaml");
    let pod = "kind: Deployment\nspec: {template: {metadata: {labels: {sidecar.istio.io/inject: 'true'}}}}\n";
    let severity = |more: &str, pod: &str| {
        let kustomization = format!("resources: [all.yaml]\n{more}");
        let folder = folder(&[
            ("all.yaml", ambient),
            ("kustomization.yaml", &kustomization),
            ("pod.yaml", pod),
        ]);
        let rule = "--only=ambient-without-waypoint";
        let output = run(&folder, &["--isolated", rule, "--format=json"]);
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        report["diagnostics"][0]["severity"].clone()
    };
    let patch = |kind: &str| {
        format!(
            "patches:\n- patch: '{{kind: {kind}, metadata: {{name: {}, labels: {{istio.io/use-waypoint: w}}}}}}'\n",
            if kind == "Namespace" {
                "payments"
            } else {
                "partner"
            }
        )
    };
    assert_eq!(severity("", ""), "warning");
    assert_eq!(severity("commonLabels: {team: a}\n", ""), "warning");
    assert_eq!(
        severity("commonLabels: {istio.io/use-waypoint: w}\n", ""),
        "advice"
    );
    assert_eq!(
        severity("labels: [{pairs: {istio.io/use-waypoint: w}}]\n", ""),
        "advice"
    );
    assert_eq!(severity(&patch("Namespace"), ""), "advice");
    assert_eq!(severity(&patch("ServiceEntry"), ""), "advice");
    assert_eq!(severity("", pod), "advice");
}

#[test]
fn what_a_patch_changes_is_advice() {
    let check = |patches: &str, patch: &str| {
        let kustomization = format!("resources: [entry.yaml]\npatches:\n{patches}");
        let folder = folder(&[
            ("entry.yaml", FIXABLE),
            ("kustomization.yaml", &kustomization),
            ("patch.yaml", patch),
        ]);
        let arguments = ["--isolated", "--only=ejection-budget-zero", "--format=json"];
        let report: serde_json::Value =
            serde_json::from_slice(&run(&folder, &arguments).stdout).unwrap();
        let finding = &report["diagnostics"][0];
        let last = finding["related"].as_array().unwrap().last().unwrap();
        let last = last["message"].as_str().unwrap();
        let told = last == "another value where this patch is applied";
        assert_eq!(finding["severity"] == "advice", told, "{report}");
        told
    };
    let part = |field: &str| {
        let head = "apiVersion: networking.istio.io/v1\nkind: DestinationRule";
        format!("{head}\nmetadata: {{name: carrier}}\nspec: {field}\n")
    };
    let own = "{trafficPolicy: {outlierDetection: {maxEjectionPercent: 50}}}";
    assert!(check("- path: patch.yaml\n", &part(own)));
    assert!(!check(
        "- path: patch.yaml\n",
        &part("{trafficPolicy: {tls: {mode: SIMPLE}}}")
    ));
    assert!(!check(
        "- path: patch.yaml\n",
        &part(own).replace("carrier", "other")
    ));
    let operation = |target: &str| {
        format!(
            "- target: {target}\n  patch: |-\n    - op: add\n      path: /spec/trafficPolicy/outlierDetection/maxEjectionPercent\n      value: 50\n"
        )
    };
    assert!(check(
        &operation("{kind: DestinationRule, name: carrier}"),
        ""
    ));
    assert!(check(&operation("{kind: DestinationRule}"), ""));
    assert!(!check(&operation("{kind: ServiceEntry}"), ""));
    // A file with operations, which the kustomization says the target of.
    let file = |target: &str| format!("- path: patch.yaml\n  target: {target}\n");
    let operations = |path: &str| format!(r#"[{{"op": "add", "path": "{path}", "value": 50}}]"#);
    let own = operations("/spec/trafficPolicy/outlierDetection/maxEjectionPercent");
    let target = "{kind: DestinationRule, name: carrier}";
    assert!(check(&file(target), &own));
    assert!(check(&file("{kind: DestinationRule}"), &own));
    assert!(!check(&file("{kind: ServiceEntry}"), &own));
    assert!(!check(
        &file(target),
        &operations("/spec/trafficPolicy/tls/mode")
    ));
}

/// The rules that speak of these files where there is nothing else, advice aside.
fn told(files: &[(&str, &str)]) -> Vec<String> {
    let arguments = ["--isolated", "--closed-world", "--format=concise"];
    let output = run(&folder(files), &arguments);
    let said = String::from_utf8(output.stdout).unwrap();
    let loud = said.lines().filter(|line| !line.contains(": advice "));
    let names = loud.map(|line| line.split(['[', ']']).nth(1).unwrap_or(line).to_owned());
    names.collect()
}

/// A rule that is refused would have originated TLS, and defined the subset.
#[test]
fn what_a_refused_rule_would_do_is_not_missing() {
    let text = "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: a, namespace: b}\nspec:\n  \
                hosts: [a.example]\n  ports: [{number: 80, name: http, protocol: HTTP, targetPort: 443}]\n  \
                resolution: DNS\n  subjectAltNames: [a.example]\n---\napiVersion: networking.istio.io/v1\nkind: \
                DestinationRule\nmetadata: {name: a, namespace: b}\nspec:\n  host: a.example\n  trafficPolicy: \
                {tls: {mode: MUTUAL}}\n  subsets: [{name: all}]\n---\napiVersion: networking.istio.io/v1\nkind: \
                VirtualService\nmetadata: {name: a, namespace: b}\nspec:\n  hosts: [a.example]\n  http:\n  - route: \
                [{destination: {host: a.example, subset: all}}]\n";
    assert_eq!(told(&[("a.yaml", text)]), ["refused"]);
}

/// So would one with a misspelt field, of which Istio gets the rest.
#[test]
fn what_a_misspelt_rule_would_do_is_not_missing() {
    let rule = |fields: &str| {
        format!(
            "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {{name: a, namespace: b}}\nspec:\n  \
             hosts: [a.example]\n  ports: [{{number: 80, name: http, protocol: HTTP, targetPort: 443}}]\n  \
             resolution: DNS\n---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: a, \
             namespace: b}}\nspec:\n  hosts: [a.example]\n  http:\n  - route: [{{destination: {{host: a.example, \
             subset: all}}}}]\n---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {{name: a, \
             namespace: b}}\nspec:\n  host: a.example\n{fields}"
        )
    };
    let tls = "{tls: {mode: SIMPLE}, connectionPool: {tcp: {connectTimeout: 1s}}}";
    for fields in [
        format!("  trafficPolcy: {tls}\n  subsets: [{{name: all}}]\n"),
        format!("  trafficPolicy: {tls}\n  subset: [{{name: all}}]\n"),
    ] {
        assert_eq!(told(&[("a.yaml", &rule(&fields))]), ["unknown-field"]);
    }
}

/// A route that is refused would have led HTTP to the port for which TLS is originated.
#[test]
fn what_a_refused_route_would_do_is_not_missing() {
    let text = |retry_on: &str| {
        format!(
            "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {{name: a, namespace: b}}\nspec:\n  \
             hosts: [a.example]\n  ports:\n  - {{number: 80, name: http, protocol: HTTP}}\n  \
             - {{number: 443, name: https, protocol: HTTPS}}\n  resolution: DNS\n---\napiVersion: \
             networking.istio.io/v1\nkind: DestinationRule\nmetadata: {{name: a, namespace: b}}\nspec:\n  host: \
             a.example\n  trafficPolicy:\n    portLevelSettings: [{{port: {{number: 443}}, tls: {{mode: SIMPLE}}}}]\n\
             ---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: a, namespace: b}}\n\
             spec:\n  hosts: [a.example]\n  http:\n  - retries: {{attempts: 2, retryOn: '{retry_on}'}}\n    route: \
             [{{destination: {{host: a.example, port: {{number: 443}}}}}}]\n"
        )
    };
    let said = |text: &str| {
        let folder = folder(&[("a.yaml", text)]);
        let output = run(&folder, &["--isolated", "--format=concise"]);
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(said(&text("reset,connect-failure")), "");
    let refused = said(&text("reset, connect-failure"));
    assert!(refused.contains("[retry-on-invalid]"), "{refused}");
    assert_eq!(refused.lines().count(), 1, "{refused}");
}

/// What is missing only because it is misspelt is told once, at the field.
#[test]
fn a_misspelt_field_is_told_once() {
    let entry = |spec: &str| {
        format!(
            "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {{name: a, namespace: b}}\nspec:\n  \
             hosts: [a.example]\n  ports: [{{number: 443, name: tls, protocol: TLS}}]\n{spec}---\n"
        )
    };
    let rule = |policy: &str| {
        let endpoints =
            "  resolution: STATIC\n  endpoints: [{address: 192.0.2.1}, {address: 192.0.2.2}]\n";
        format!(
            "{}apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {{name: a, namespace: b}}\nspec:\n  \
             host: a.example\n  trafficPolicy: {policy}\n",
            entry(endpoints)
        )
    };
    let retries = |retries: &str| {
        format!(
            "{}apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{name: a, namespace: b}}\nspec:\n  \
             hosts: [a.example]\n  http:\n  - retries: {retries}\n    route: [{{destination: {{host: a.example}}}}]\n",
            entry("  resolution: DNS\n").replace("protocol: TLS", "protocol: HTTP")
        )
    };
    for text in [
        entry("  resolution: STATIC\n  endpoint: [{address: 192.0.2.1}]\n"),
        entry("  resoluton: STATIC\n  endpoints: [{address: 192.0.2.1}]\n"),
        rule("{conectionPool: {tcp: {connectTimeout: 1s}}}"),
        rule("{connectionPool: {tpc: {connectTimeout: 1s}}}"),
        rule("{outlierDetection: {maxEjectionPercentage: 50}}"),
        rule("{tls: {mod: SIMPLE, sni: a.example}}"),
        rule(
            "{portLevelSettings: [{port: {number: 443}, conectionPool: {tcp: {connectTimeout: 1s}}}]}",
        ),
        rule(
            "{portLevelSettings: [{port: {num: 443}, connectionPool: {tcp: {connectTimeout: 1s}}}]}",
        ),
        retries("{attempt: 3, retryOn: reset}"),
        retries("{attempt: 3}"),
    ] {
        let folder = folder(&[("a.yaml", &text)]);
        let output = run(&folder, &["--isolated", "--format=concise"]);
        let said = String::from_utf8(output.stdout).unwrap();
        let loud: Vec<_> = said
            .lines()
            .filter(|it| !it.contains(": advice "))
            .collect();
        let [one] = loud.as_slice() else {
            panic!("{text}{said}");
        };
        assert!(one.contains("[unknown-field]"), "{text}{said}");
        // All else has been judged.
        let output = run(&folder, &["--isolated", "--format=text"]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(!said.contains("not checked"), "{text}{said}");
    }
}

/// What refuses an object beside a misspelt field is told, too. Where the field is the reason, it says by whom.
#[test]
fn what_is_refused_says_by_whom() {
    let told = |matches: &str| {
        let text = format!(
            "apiVersion: networking.istio.io/v1alpha3\nkind: EnvoyFilter\nmetadata: {{name: a, namespace: b}}\nspec:\n  \
             configPatches:\n  - applyTo: HTTP_FILTER\n    match: {matches}\n    patch: {{operation: INSERT_FIRST, value: {{}}}}\n"
        );
        let output = run(
            &folder(&[("a.yaml", &text)]),
            &["--isolated", "--format=json"],
        );
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let of = |it: &serde_json::Value| (it["rule"].clone(), it["refused_by"].clone());
        let all = report["diagnostics"].as_array().unwrap();
        all.iter().map(of).collect::<Vec<_>>()
    };
    let (refused, unknown, schema) = (
        || "refused".into(),
        || "unknown-field".into(),
        || "schema".into(),
    );
    let null = serde_json::Value::Null;
    assert_eq!(
        told("{context: GATEWAY, waypoint: {portNumbr: 80}}"),
        [(refused(), schema()), (unknown(), null)]
    );
    assert_eq!(
        told("{context: WAYPOINT, waipoint: {portNumber: 80}}"),
        [(unknown(), schema())]
    );
}

#[test]
fn a_filter_lets_pass_what_is_no_text() {
    let input = b"apiVersion: networking.istio.io/v1\nkind: \xff\xfe\n";
    let output = run_with(&folder(&[]), &["--isolated", "--fix", "-"], input);
    assert_eq!(output.stdout, input);
    assert_eq!(code(&output), 2);
}

/// Of what is refused that is said, and not that it is missing.
#[test]
fn what_is_refused_is_not_missing() {
    let gateway = "apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {name: egress, namespace: istio-egress}\n\
                   spec:\n  selector: {istio: egressgateway}\n  servers: []\n";
    let routes = "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {name: partner, namespace: payments}\n\
                  spec:\n  hosts: [pay.partner.example]\n  ports: [{number: 80, name: http, protocol: HTTP}]\n  \
                  resolution: DNS\n---\napiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: \
                  {name: partner, namespace: payments}\nspec:\n  hosts: [pay.partner.example]\n  gateways: \
                  [mesh, istio-egress/egress]\n  http:\n  - route:\n    - destination: {host: pay.partner.example}\n";
    let files = [("gateway.yaml", gateway), ("routes.yaml", routes)];
    assert_eq!(told(&files), ["refused"]);
}

/// Of two Gateways of one name either may be the one of the cluster: what one of them lacks is no finding.
#[test]
fn what_is_missing_is_missing_in_every_world() {
    let gateway = |host: &str| {
        format!(
            "apiVersion: networking.istio.io/v1\nkind: Gateway\nmetadata: {{name: egress, namespace: istio-egress}}\n\
             spec:\n  selector: {{istio: egressgateway}}\n  servers:\n  - port: {{number: 80, name: http, protocol: HTTP}}\n    \
             hosts: [{host}]\n"
        )
    };
    let routes = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {name: partner, namespace: payments}\n\
                  spec:\n  hosts: [pay.partner.example]\n  gateways: [istio-egress/egress]\n  http:\n  - route:\n    \
                  - destination: {host: pay.partner.example}\n";
    let found = |east: &str, west: &str| {
        let folder = folder(&[
            ("routes.yaml", routes),
            ("east/gateway.yaml", &gateway(east)),
            ("west/gateway.yaml", &gateway(west)),
        ]);
        let arguments = [
            "--isolated",
            "--only=gateway-host-mismatch",
            "--format=json",
        ];
        paths(&run(&folder, &arguments)).len()
    };
    assert_eq!(found("pay.partner.example", "api.partner.example"), 0);
    assert_eq!(found("api.partner.example", "api.partner.example"), 1);
}

/// Where the files of a folder are steps of a workshop, two of them need not be applied together.
#[test]
fn one_of_several_alternatives_contradicts_nothing_for_sure() {
    let rule = |name: &str, policy: &str| {
        format!(
            "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {{name: {name}, namespace: b}}\n\
             spec: {{host: a.example, trafficPolicy: {policy}}}\n"
        )
    };
    let level = |step: &str| {
        let folder = folder(&[
            ("a.yaml", &rule("a", "{loadBalancer: {simple: RANDOM}}")),
            (
                "b.yaml",
                &rule("b", "{loadBalancer: {simple: ROUND_ROBIN}}"),
            ),
            ("c.yaml", &rule(step, "{tls: {mode: DISABLE}}")),
        ]);
        let arguments = [
            "--isolated",
            "--only=destination-rule-duplicate",
            "--format=json",
        ];
        let report: serde_json::Value =
            serde_json::from_slice(&run(&folder, &arguments).stdout).unwrap();
        let found = report["diagnostics"].as_array().unwrap().clone();
        found
            .iter()
            .map(|it| it["severity"].to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(level("c"), ["\"warning\"", "\"warning\""]);
    assert_eq!(level("a"), ["\"advice\"", "\"advice\""]);
}

/// `kubectl` stops at it, so it counts beside what is read, and nowhere else.
#[test]
fn a_broken_deployment_is_others_to_judge() {
    let broken = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  annotations: {sidecar.istio.io/inject: 'true'}\n  name: [a\n";
    let beside = format!("{broken}---\n{}", bad());
    for (file, expected) in [(broken, 1), (&beside, 2)] {
        let folder = folder(&[("a.yaml", &bad()), ("b.yaml", file)]);
        let output = run(&folder, &["--isolated", "."]);
        assert_eq!(code(&output), expected, "{}", text(&output.stdout));
        // Who names a file wants to hear of it.
        let output = run(&folder, &["--isolated", "b.yaml"]);
        assert_eq!(code(&output), 2, "{}", text(&output.stdout));
    }
}

#[test]
fn one_world_can_be_asked_for() {
    let bad = bad();
    let folder = folder(&[
        ("prod/a.yaml", &bad),
        ("staging/a.yaml", &bad),
        ("base/b.yaml", ""),
    ]);
    let all = run(&folder, &["--isolated", "--format", "json", "."]);
    assert_eq!(paths(&all), ["prod/a.yaml", "staging/a.yaml"]);
    let one = run(
        &folder,
        &["--isolated", "--format", "json", "--world", "prod", "."],
    );
    assert_eq!(
        (code(&one), paths(&one)),
        (1, vec!["prod/a.yaml".to_owned()])
    );
    let none = run(&folder, &["--isolated", "--world", "nowhere", "."]);
    assert_eq!(code(&none), 2);
    assert!(
        text(&none.stderr).contains("prod"),
        "{}",
        text(&none.stderr)
    );
}

#[test]
fn values_of_options_that_cannot_be_meant_are_refused() {
    let folder = folder(&[("a.yaml", GOOD)]);
    for option in [
        "--threads=99999",
        "--threads=many",
        "--namespace=Not A Namespace",
        "--namespace=-a",
        "--namespace=",
    ] {
        assert_eq!(code(&run(&folder, &["check", option])), 2, "{option}");
    }
}

#[test]
fn a_folder_is_called_one_where_a_file_is_wanted() {
    let folder = folder(&[("a/a.yaml", GOOD)]);
    for option in ["--baseline=a", "--config=a"] {
        let said = run(&folder, &["check", option]);
        let text = String::from_utf8(said.stderr).unwrap();
        assert!(text.contains("`a` is a folder"), "{option}: {text}");
    }
}

#[test]
fn a_port_that_is_not_known_has_no_number() {
    let entry = "\
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: partner, annotations: {egress-lint/class: gslb}}
spec:
  hosts: [api.partner.example]
  location: MESH_EXTERNAL
  resolution: DNS_ROUND_ROBIN
  ports:
  - number: ${PORT}
    name: http
    protocol: HTTP
";
    let folder = folder(&[("a.yaml", entry)]);
    let said = run(&folder, &["check", "--isolated", "--format", "concise"]);
    let text = String::from_utf8(said.stdout).unwrap();
    assert!(text.contains("`api.partner.example`"), "{text}");
}
