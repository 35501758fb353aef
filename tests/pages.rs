//! The pages in `rules/`: their headings, the lines that are generated, and that their examples are true.

mod harness;

use std::collections::BTreeSet;

use egress_lint::diag::{Fixable, RuleInfo};
use egress_lint::engine::known_rules;
use egress_lint::rules;
use harness::run::Room;
use harness::{bless, list, name, read, root};
use libtest_mimic::{Arguments, Failed, Trial};

const HEADINGS: [&str; 6] = [
    "What happens",
    "Evidence",
    "Example",
    "Options",
    "When to ignore it",
    "References",
];

fn main() {
    let arguments = Arguments::from_args();
    let trials = known_rules()
        .into_iter()
        .map(|rule| Trial::test(rule.name, move || page(rule).map_err(Failed::from)))
        .collect();
    libtest_mimic::run(&arguments, trials).exit();
}

fn page(rule: RuleInfo) -> Result<(), String> {
    let file = root().join(format!("rules/{}.md", rule.name));
    let text = read(&file);
    if !text.starts_with(&format!("# {}\n\n", rule.name)) {
        return Err("the page begins with the rule's name".to_owned());
    }
    let headings: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .collect();
    if headings != HEADINGS {
        return Err(format!("headings: {headings:?}\ninstead of {HEADINGS:?}"));
    }
    let blocks = blocks(&text);
    for block in &blocks {
        example(rule, block)?;
    }
    let quiet = blocks.iter().all(|block| block.kind != Kind::Bad);
    if quiet && rule.name != "internal" {
        return Err("the page has no bad example".to_owned());
    }
    bless::compare(&file, &generated(rule, &text, &blocks))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Bad,
    Good,
}

/// An example of a page.
#[derive(Debug)]
struct Block {
    kind: Kind,
    text: String,
    /// The configuration that stands before it.
    config: Option<String>,
    /// The line after its last one, from 0.
    end: usize,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut config = None;
    let mut lines = page.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let Some(info) = line.strip_prefix("```yaml") else {
            continue;
        };
        let mut text = String::new();
        let mut end = 0;
        for (number, line) in lines.by_ref() {
            end = number + 1;
            if line == "```" {
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        match info.trim() {
            "config" => config = Some(text),
            "bad" | "good" => blocks.push(Block {
                kind: if info.trim() == "bad" {
                    Kind::Bad
                } else {
                    Kind::Good
                },
                text,
                config: config.clone(),
                end,
            }),
            _ => {}
        }
    }
    blocks
}

impl Block {
    fn room(&self) -> Room {
        let config = self
            .config
            .as_deref()
            .map(|text| ("egress-lint.yaml", text));
        Room::new(
            [("example.yaml", self.text.as_str())]
                .into_iter()
                .chain(config),
        )
    }
}

/// A bad example has this rule, a good one nothing that is louder than advice.
fn example(rule: RuleInfo, block: &Block) -> Result<(), String> {
    let findings = block.room().findings(&[], &["example.yaml"]);
    let found = findings.iter().any(|finding| finding.rule == rule.name);
    let right = match block.kind {
        Kind::Bad => found,
        Kind::Good => !found && findings.iter().all(|finding| !finding.is_loud()),
    };
    match right {
        true => Ok(()),
        false => Err(format!(
            "{:?} example: {findings:#?}\n{}",
            block.kind, block.text
        )),
    }
}

/// The page with its facts, and with the output of each bad example after it.
fn generated(rule: RuleInfo, page: &str, blocks: &[Block]) -> String {
    let mut out = String::new();
    let lines: Vec<&str> = page.lines().collect();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        out.push_str(if at == 2 { "" } else { line });
        if at == 2 {
            out.push_str(&facts(rule, page, blocks));
        }
        out.push('\n');
        at += 1;
        let Some(block) = blocks
            .iter()
            .find(|block| block.end == at && block.kind == Kind::Bad)
        else {
            continue;
        };
        let answer = block.room().check(&[], &["example.yaml"]);
        out.push_str(&format!("\n```text\n{}\n```\n", answer.stdout.trim_end()));
        if lines.get(at + 1) == Some(&"```text") {
            let end = lines.iter().skip(at + 2).position(|line| *line == "```");
            at += 3 + end.unwrap_or(0);
        }
    }
    out
}

/// The kinds are those that the bad examples and cases show, unless the rule is about all alike; the codes of `istioctl` and Kiali those of the references.
fn facts(rule: RuleInfo, page: &str, blocks: &[Block]) -> String {
    let fix = match rule.fixable {
        Fixable::Always => "always",
        Fixable::Sometimes => "sometimes",
        Fixable::Never => "none",
    };
    let bad = blocks.iter().filter(|block| block.kind == Kind::Bad);
    let rooms = bad.map(Block::room).chain(cases(rule));
    let found = rooms.flat_map(|room| room.findings(&[], &["example.yaml"]));
    let own = found.filter(|finding| finding.rule == rule.name);
    let is_check = rules::all().iter().any(|it| it.meta.name == rule.name);
    let kinds: BTreeSet<String> = own
        .filter(|_| is_check)
        .filter_map(|finding| finding.kind)
        .collect();
    let mut facts = format!(
        "Level: {} · fix: {fix} · since {}",
        rule.severity.name(),
        rule.since
    );
    for kind in kinds {
        facts.push_str(&format!(" · {kind}"));
    }
    let (_, references) = page.split_once("\n## References").unwrap_or_default();
    let words = references.split(|c: char| !c.is_ascii_alphanumeric());
    let codes: BTreeSet<&str> = words
        .filter(|word| ["IST", "KIA"].iter().any(|tool| word.starts_with(tool)))
        .filter(|word| word.len() == 7)
        .collect();
    if !codes.is_empty() {
        let codes: Vec<&str> = codes.into_iter().collect();
        facts.push_str(&format!(" · cf. {}", codes.join(", ")));
    }
    facts
}

/// Its bad cases of one file.
fn cases(rule: RuleInfo) -> impl Iterator<Item = Room> {
    let folder = root().join("testdata/rules").join(rule.name);
    let cases = list(&folder).into_iter().filter(|path| {
        let name = name(path);
        name.starts_with("bad") && name.ends_with(".yaml") && !name.contains(".fixed")
    });
    cases.map(|path| Room::new([("example.yaml", read(&path).as_str())]))
}
