//! Whole runs of the program against ripgrep on one tree, in the same run: the figures are ratios.
//!
//! `cargo bench --bench speed -- 100000` makes a tree of so many files, a fifth of them with Istio resources.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs of each command; the fastest counts.
const ROUNDS: usize = 5;

fn main() {
    let files = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(20_000);
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("no folder: {error}"));
    let tree = folder.path().join("tree");
    let istio = write_tree(&tree, files);
    let large = folder.path().join("large.yaml");
    let bytes = write_large(&large, 10_000_000);
    let program = env!("CARGO_BIN_EXE_egress-lint");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    say(&format!(
        "{files} files, {istio} bytes of them about Istio, {cores} cores"
    ));

    let mut grep = Command::new("rg");
    grep.args(["-l", "istio.io"]).arg(&tree);
    let mut quiet = check(program);
    quiet.arg("--quiet").arg(&tree);
    let mut verbose = check(program);
    verbose.arg("--verbose").arg(&tree);
    let mut one = check(program);
    one.arg("--quiet").arg(&large);
    let [reference, quiet, verbose, one] = times([grep, quiet, verbose, one]);
    match reference {
        Some(reference) => {
            say(&format!(
                "rg -l istio.io   {:>8.3} s",
                reference.as_secs_f64()
            ));
            ratio("check --quiet", quiet, reference);
            ratio("check --verbose", verbose, reference);
        }
        None => say("ripgrep is not installed: no ratio"),
    }
    if let Some(one) = one {
        let rate = f64::from(u32::try_from(bytes).unwrap_or(u32::MAX)) / 1e6 / one.as_secs_f64();
        say(&format!(
            "one large file   {:>8.3} s  {rate:.1} MB/s",
            one.as_secs_f64()
        ));
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn ratio(name: &str, time: Option<Duration>, reference: Duration) {
    if let Some(time) = time {
        let times = time.as_secs_f64() / reference.as_secs_f64();
        say(&format!(
            "{name:<16} {:>8.3} s  {times:.1} x",
            time.as_secs_f64()
        ));
    }
}

fn check(program: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["check", "--isolated", "--color", "never"]);
    command
}

/// The fastest run of each; `None` where the program cannot be started. They take turns, so that whatever else the machine
/// does meets them alike.
fn times<const N: usize>(mut commands: [Command; N]) -> [Option<Duration>; N] {
    let mut fastest = [None; N];
    for _ in 0..ROUNDS {
        for (command, fastest) in commands.iter_mut().zip(&mut fastest) {
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let start = Instant::now();
            if command.status().is_ok() {
                let took = start.elapsed();
                *fastest = Some(fastest.map_or(took, |least: Duration| least.min(took)));
            }
        }
    }
    fastest
}

/// How many bytes stand in files about Istio.
fn write_tree(tree: &Path, files: usize) -> usize {
    let mut bytes = 0;
    for number in 0..files {
        let folder = tree.join(format!("d{}", number % 200));
        let text = if number.is_multiple_of(5) {
            let text = egress(number);
            bytes += text.len();
            text
        } else {
            other(number)
        };
        let done = fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join(format!("f{number}.yaml")), text));
        done.unwrap_or_else(|error| panic!("cannot write the tree: {error}"));
    }
    bytes
}

fn write_large(path: &Path, least: usize) -> usize {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < least {
        text.push_str("---\n");
        text.push_str(&egress(number));
        number += 1;
    }
    fs::write(path, &text).unwrap_or_else(|error| panic!("cannot write the file: {error}"));
    text.len()
}

/// An external host with its policy and its route.
fn egress(number: usize) -> String {
    let namespace = format!("team-{}", number % 15);
    let host = format!("api{number}.partner.example");
    let head = |kind: &str| {
        format!(
            "apiVersion: networking.istio.io/v1\nkind: {kind}\nmetadata:\n  name: ext-{number}\n  namespace: {namespace}\nspec:\n"
        )
    };
    format!(
        "# partner {number}\n{}  hosts:\n  - {host}\n  location: MESH_EXTERNAL\n  ports:\n  - number: 80\n    name: http\n    protocol: HTTP\n    targetPort: 443\n  resolution: DNS\n\
         ---\n{}  host: {host}\n  trafficPolicy:\n    connectionPool:\n      tcp:\n        connectTimeout: 1s\n    tls:\n      mode: SIMPLE\n    outlierDetection:\n      consecutive5xxErrors: 5\n      maxEjectionPercent: {}\n\
         ---\n{}  hosts:\n  - {host}\n  http:\n  - route:\n    - destination:\n        host: {host}\n    timeout: 10s\n    retries:\n      attempts: {}\n",
        head("ServiceEntry"),
        head("DestinationRule"),
        if number.is_multiple_of(3) { 10 } else { 50 },
        head("VirtualService"),
        number % 4,
    )
}

/// Ordinary Kubernetes.
fn other(number: usize) -> String {
    let lines: String = (0..30)
        .map(|line| format!("    endpoint.{line}: https://service-{line}.example/\n"))
        .collect();
    format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: conf-{number}\n  namespace: team-{}\ndata:\n  application.yaml: |\n{lines}",
        number % 15
    )
}
