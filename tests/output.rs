//! Every format, against the files of `testdata/output`. `BLESS=1 cargo test` writes them.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod harness;

use egress_lint::diag::{
    Diagnostic, Edit, Fix, Fixable, RefusedBy, Report, ResourceRef, RuleInfo, Safety, Severity,
    Silencer, Summary, Suppressed,
};
use egress_lint::output::{self, Format, Options};
use egress_lint::source::{SourceFile, Sources, Span};
use harness::{bless, root};
use proptest::prelude::*;

/// Compares with a file of `testdata/output`, or writes it.
fn golden(name: &str, got: &[u8]) {
    let file = root().join("testdata/output").join(name);
    let text = std::str::from_utf8(got).expect("UTF-8");
    bless::compare(&file, text).unwrap_or_else(|error| panic!("{error}"));
}

fn written(format: Format, report: &Report, sources: &Sources, options: &Options) -> Vec<u8> {
    let mut out = Vec::new();
    output::write(format, report, sources, options, &mut out).expect("a vector takes everything");
    out
}

const PARTNER: &str = "apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: partner, namespace: payments}
spec:
  hosts: [\"api.partner.example\"]   # 리전 VIP를 로드밸런싱하는 외부 도메인
  location: MESH_EXTERNAL
  resolution: DNS_ROUND_ROBIN
  ports:
  - number: 443
    name: tls
    protocol: TLS
    maxConections: 3
";

const RULE: &str = "apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: partner, namespace: payments}
spec:
  host: api.partner.example
  trafficPolicy:
    outlierDetection:
      consecutive5xxErrors: 5
      maxEjectionPercent: 50
";

const CONFIG: &str = "version: 1
hosts:
- host: \"*.partner.example\"
  class: gslb
  addresses: 1
";

/// The span of the `nth` occurrence of `text` in a file.
fn find(sources: &Sources, path: &str, text: &str) -> Span {
    let (id, file) = sources
        .iter()
        .find(|(_, file)| file.path == path)
        .expect("the file is there");
    let start = u32::try_from(file.text.find(text).expect("the text is there")).unwrap();
    Span::new(id, start, start + u32::try_from(text.len()).unwrap())
}

/// A report with all that a report can hold.
fn sample() -> (Report, Sources) {
    let mut sources = Sources::new();
    sources.add(SourceFile::new("egress-lint.yaml", CONFIG));
    sources.add(SourceFile::new("manifests/partner.yaml", PARTNER));
    sources.add(SourceFile::new("manifests/rule.yaml", RULE));
    let at = |path, text| find(&sources, path, text);
    let partner = "manifests/partner.yaml";
    let resolution = at(partner, "DNS_ROUND_ROBIN");
    let mut logical = Diagnostic::new(
        "logical-dns-on-gslb",
        Severity::Warning,
        resolution,
        "`DNS_ROUND_ROBIN` on a GSLB host: Envoy keeps one address, so outlier detection has no other VIP to turn to when it dies",
    )
    .because(resolution, "Envoy's LOGICAL_DNS: the first address of each answer")
    .because(at("egress-lint.yaml", "gslb"), "answers change on failover")
    .because(at("manifests/rule.yaml", "outlierDetection"), "ejects addresses, and finds one")
    .help("use `resolution: DNS`, which keeps all addresses of an answer as endpoints")
    .fix(Fix {
        safety: Safety::Unsafe,
        message: "set `resolution: DNS`".into(),
        edits: vec![Edit { span: resolution, text: "DNS".into() }],
    });
    logical.resource = Some(std::sync::Arc::new(ResourceRef {
        kind: "ServiceEntry",
        namespace: Some("payments".into()),
        name: Some("partner".into()),
    }));
    logical.extras_mut().field = Some("spec.resolution".into());
    logical.extras_mut().worlds = Some(Box::from(["prod".into(), "staging".into()]));
    let mut unknown = Diagnostic::new(
        "unknown-field",
        Severity::Error,
        at(partner, "maxConections"),
        "unknown field `maxConections` in `ServicePort`",
    )
    .refused_by(RefusedBy::Schema);
    unknown.resource = logical.resource.clone();
    unknown.extras_mut().field = Some("spec.ports[0].maxConections".into());
    let mut budget = Diagnostic::new(
        "ejection-budget-zero",
        Severity::Advice,
        at("manifests/rule.yaml", "50"),
        "50 % of 1 endpoint is 0: nothing is ever ejected",
    )
    .because(
        at("egress-lint.yaml", "addresses: 1"),
        "one address in each answer",
    )
    .fix(Fix {
        safety: Safety::Safe,
        message: "set `maxEjectionPercent: 100`".into(),
        edits: vec![Edit {
            span: at("manifests/rule.yaml", "50"),
            text: "100".into(),
        }],
    });
    budget.extras_mut().suppressed = Some(Suppressed {
        by: Silencer::Comment,
        reason: Some("two VIPs from May on".into()),
    });
    let rule = |name, severity, fixable, page| RuleInfo {
        name,
        summary: "what it is in one line",
        severity,
        fixable,
        since: "0.1.0",
        page,
    };
    let report = Report {
        istio_version: "1.30".into(),
        diagnostics: vec![logical, unknown, budget],
        summary: Summary {
            files: 3,
            resources: 2,
            errors: 1,
            warnings: 1,
            suppressed: 1,
            templates: 1,
            placeholders: 2,
            ..Summary::default()
        },
        rules: vec![
            rule(
                "ejection-budget-zero",
                Severity::Warning,
                Fixable::Always,
                "# ejection-budget-zero\n\nWhat happens.\n",
            ),
            rule(
                "logical-dns-on-gslb",
                Severity::Warning,
                Fixable::Always,
                "# logical-dns-on-gslb\n\nWhat happens.\n",
            ),
            rule(
                "unknown-field",
                Severity::Error,
                Fixable::Sometimes,
                "# unknown-field\n\nWhat happens.\n",
            ),
        ],
    };
    (report, sources)
}

#[test]
fn text() {
    let (report, sources) = sample();
    golden(
        "sample.txt",
        &written(Format::Text, &report, &sources, &Options::default()),
    );
    let all = Options {
        color: true,
        hyperlinks: true,
        width: 60,
        show_suppressed: true,
        ..Options::default()
    };
    golden(
        "sample-color.txt",
        &written(Format::Text, &report, &sources, &all),
    );
}

/// A report in which one rule says the same 25 times, and once more as a warning.
fn many() -> (Report, Sources) {
    let mut sources = Sources::new();
    let lines = "nope: 1\n".repeat(13);
    let (one, other) = (
        sources.add(SourceFile::new("a.yaml", lines.as_str())),
        sources.add(SourceFile::new("b.yaml", lines.as_str())),
    );
    let (mut report, _) = sample();
    report.diagnostics.clear();
    for (file, line) in [one, other]
        .into_iter()
        .flat_map(|file| (0..13).map(move |line| (file, line)))
    {
        let severity = match line {
            12 if file == other => Severity::Warning,
            _ => Severity::Advice,
        };
        let span = Span::new(file, line * 8, line * 8 + 4);
        report.diagnostics.push(Diagnostic::new(
            "unknown-field",
            severity,
            span,
            "no such field",
        ));
    }
    report.recount();
    (report, sources)
}

#[test]
fn what_is_said_often_is_folded_and_can_be_unfolded() {
    let (report, sources) = many();
    let folded = written(Format::Text, &report, &sources, &Options::default());
    golden("many.txt", &folded);
    let all = Options {
        verbose: true,
        ..Options::default()
    };
    let drawn = |options: &Options| {
        let text = String::from_utf8(written(Format::Text, &report, &sources, options)).unwrap();
        (text.matches("╭─[").count(), text.contains("--verbose"))
    };
    assert_eq!(drawn(&Options::default()), (4, true));
    assert_eq!(drawn(&all), (26, false));
    let lines = written(Format::Concise, &report, &sources, &Options::default());
    assert_eq!(String::from_utf8(lines).unwrap().lines().count(), 26);
}

#[test]
fn silenced_findings_are_folded_apart() {
    let (mut report, sources) = many();
    for finding in report.diagnostics.iter_mut().take(24) {
        finding.extras_mut().suppressed = Some(Suppressed {
            by: Silencer::Baseline,
            reason: None,
        });
    }
    let all = Options {
        show_suppressed: true,
        ..Options::default()
    };
    let text = String::from_utf8(written(Format::Text, &report, &sources, &all)).unwrap();
    assert_eq!(text.matches("╭─[").count(), 3 + 2);
    assert!(
        text.contains("advice[unknown-field]: 21 more silenced in 2 files"),
        "{text}"
    );
}

#[test]
fn the_findings_of_each_rule_are_counted() {
    let counted = Options {
        statistics: true,
        ..Options::default()
    };
    let (report, sources) = sample();
    let text = written(Format::Text, &report, &sources, &counted);
    golden("sample.statistics.txt", &text);
    let json = written(Format::Json, &report, &sources, &counted);
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(
        json["statistics"][0],
        serde_json::json!({
            "rule": "logical-dns-on-gslb", "errors": 0, "warnings": 1, "advice": 0, "suppressed": 0, "fixable": 1,
            "files": 1
        })
    );
}

#[test]
fn formats_for_programs() {
    let (report, sources) = sample();
    let options = Options {
        show_suppressed: true,
        ..Options::default()
    };
    for (format, name) in [
        (Format::Concise, "sample.concise"),
        (Format::Json, "sample.json"),
        (Format::Sarif, "sample.sarif"),
        (Format::Github, "sample.github"),
        (Format::Gitlab, "sample.gitlab.json"),
        (Format::Junit, "sample.junit.xml"),
    ] {
        let mut got = written(format, &report, &sources, &options);
        if let Ok(value) = serde_json::from_slice::<serde_json::Value>(&got) {
            got = format!("{value:#}\n").into_bytes();
        }
        golden(name, &got);
    }
}

#[test]
fn the_report_obeys_its_schema() {
    let schema = output::report_schema();
    golden("report.schema.json", format!("{schema:#}\n").as_bytes());
    let (report, sources) = sample();
    let options = Options {
        show_suppressed: true,
        statistics: true,
        ..Options::default()
    };
    let written = written(Format::Json, &report, &sources, &options);
    let value = serde_json::from_slice(&written).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<_> = validator
        .iter_errors(&value)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

/// Text with what is dangerous in it more often than chance would have it.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
            "\x1b[31m",
            "\u{9b}",
            "\u{202e}",
            "\u{2028}",
            "\u{85}",
            "\r\n",
            "\n",
            "\r",
            "\t",
            "\0",
            "::error::x",
            "##[x]",
            "`",
            "한글",
            "\u{301}",
            " ",
            "a",
            ": ",
            "%0A",
            "]]>",
            "<&\"",
            "\u{fffe}",
            "\u{feff}",
        ])
        .prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing of the input commands a terminal, a log or a reader; every format stays what it is.
    #[test]
    fn nothing_hidden_gets_out(
        path in hostile_text(),
        text in hostile_text(),
        message in hostile_text(),
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8),
        width in 10usize..120,
    ) {
        let mut sources = Sources::new();
        let file = sources.add(SourceFile::new(path, text.as_str()));
        let borders: Vec<u32> =
            text.char_indices().map(|(at, _)| at).chain([text.len()]).map(|at| at.try_into().unwrap()).collect();
        let mut spans = places.iter().map(|(a, b)| {
            let (a, b) = (*a.get(&borders), *b.get(&borders));
            Span::new(file, a.min(b), a.max(b))
        });
        let first = spans.next().unwrap();
        let mut finding = Diagnostic::new("rule", Severity::Warning, first, message.as_str()).help(message.clone());
        for span in spans {
            finding = finding.because(span, message.clone());
        }
        let edits = vec![Edit { span: first, text: message.clone() }];
        finding = finding.fix(Fix { safety: Safety::Safe, message: message.clone(), edits });
        let report = Report {
            istio_version: "1.30".into(),
            diagnostics: vec![finding],
            summary: Summary::default(),
            rules: Vec::new(),
        };
        let options = Options { width, ..Options::default() };
        for format in [Format::Text, Format::Concise, Format::Github, Format::Junit] {
            let got = String::from_utf8(written(format, &report, &sources, &options)).unwrap();
            let bad = got.chars().find(|&c| {
                c != '\n' && c.is_control() || matches!(c, '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
            });
            prop_assert_eq!(bad, None, "{:?}: {:?}", format, got);
            prop_assert!(format == Format::Github || !got.contains("##["), "{:?}", got);
            let commands = got.lines().filter(|line| line.trim_start().starts_with("::")).count();
            prop_assert_eq!(commands, usize::from(format == Format::Github), "{:?}: {}", format, got);
        }
        for format in [Format::Json, Format::Sarif, Format::Gitlab] {
            let got = written(format, &report, &sources, &options);
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&got).is_ok());
        }
    }
}
