//! Every case of `testdata/rules` against the invariants that each rule must keep.
//!
//! `bad….yaml` and `good….yaml` are cases of one file, folders of these names are cases of several, with their own
//! `egress-lint.yaml` if they need one. Findings are exactly the marked lines (`# ~ rule-name`).

mod harness;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use egress_lint::diag::{Fixable, RuleInfo};
use egress_lint::engine::known_rules;
use egress_lint::rules::{self, Options};
use harness::documents::{self, Part};
use harness::facts::{Change, Fact, Facts, Line};
use harness::marks::{self, Mark};
use harness::run::{Finding, Place, Room};
use harness::{bless, list, name, read};
use libtest_mimic::{Arguments, Failed, Trial};

/// Rules that speak about the files themselves: not to be silenced in them, or not the same in others.
const ABOUT_FILES: [&str; 4] = [
    "config",
    "duplicate-resource",
    "unused-ignore",
    "yaml-syntax",
];

/// Rules that speak, or speak louder, where documents share a file.
const ABOUT_SHARING: [&str; 3] = [
    "document-lost-by-istioctl",
    "duplicate-host",
    "virtual-service-duplicate",
];

/// What a message may have.
const MOST_WORDS: usize = 25;

fn main() {
    let arguments = Arguments::from_args();
    let rules = known_rules();
    let mut trials = vec![Trial::test("demo", || demo().map_err(Failed::from))];
    for path in list(&harness::root().join("testdata/egress-gateway")) {
        let test = format!("egress-gateway::{}", name(&path).trim_end_matches(".yaml"));
        trials.push(Trial::test(test, move || {
            set_up(&path).map_err(Failed::from)
        }));
    }
    for folder in list(&harness::root().join("testdata/rules")) {
        let rule = name(&folder).to_owned();
        let info = rules.iter().copied().find(|info| info.name == rule);
        let cases = Case::all(&folder);
        let bad: Vec<Case> = cases.iter().filter(|case| case.is_bad()).cloned().collect();
        if let Some(info) = info {
            trials.push(Trial::test(format!("{rule}::fixable"), move || {
                fixable(info, &bad).map_err(Failed::from)
            }));
        }
        for case in cases {
            let test = format!("{rule}::{}", name(&case.path).trim_end_matches(".yaml"));
            let rule = rule.clone();
            trials.push(Trial::test(test, move || {
                case.check(&rule).map_err(Failed::from)
            }));
        }
    }
    for rule in rules::all() {
        let name = rule.meta.name;
        let check = (rule.build)(Options::new(name, None));
        for &special in check.iter().flat_map(|check| check.yields_to()) {
            let test = format!("{name}::yields-to-{special}");
            trials.push(Trial::test(test, move || {
                yields(name, special).map_err(Failed::from)
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

#[derive(Clone, Debug)]
struct Case {
    path: PathBuf,
    /// Names relative to the case, and texts.
    files: Vec<(String, String)>,
}

/// Says what is wrong with the case.
type Outcome = Result<(), String>;

impl Case {
    fn all(folder: &Path) -> Vec<Case> {
        list(folder)
            .into_iter()
            .filter(|path| {
                let name = name(path);
                (name.starts_with("bad") || name.starts_with("good"))
                    && !name.contains(".fixed")
                    && !name.ends_with(".out")
            })
            .map(|path| {
                let mut files = Vec::new();
                collect(&path, &path, &mut files);
                Case { path, files }
            })
            .collect()
    }

    fn is_bad(&self) -> bool {
        name(&self.path).starts_with("bad")
    }

    fn inputs(&self) -> Vec<&str> {
        let names = self.files.iter().map(|(name, _)| name.as_str());
        names.filter(|name| *name != "egress-lint.yaml").collect()
    }

    fn room(&self) -> Room {
        Room::new(self.files.iter().map(|(n, t)| (n.as_str(), t.as_str())))
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let stem = name(&self.path).trim_end_matches(".yaml");
        self.path.with_file_name(format!("{stem}{suffix}"))
    }

    fn check(&self, rule: &str) -> Outcome {
        let room = self.room();
        let findings = room.findings(&[], &self.inputs());
        self.marked(rule, &findings)?;
        self.spans(&findings)?;
        self.arrangements(&room, &findings)?;
        if self.is_bad() {
            self.output()?;
            self.fixes(&findings)?;
        }
        self.silencers(rule)
    }

    /// 1. Findings are exactly the marked lines. Advice of other rules may be marked, or be left unsaid.
    fn marked(&self, rule: &str, findings: &[Finding]) -> Outcome {
        let mut wanted: Vec<Mark> = Vec::new();
        for (file, text) in &self.files {
            wanted.extend(marks::of(file, text));
        }
        wanted.sort();
        let counts = |finding: &&Finding| {
            finding.is_loud() || finding.rule == rule || wanted.contains(&mark(finding))
        };
        let mut found: Vec<Mark> = findings.iter().filter(counts).map(mark).collect();
        found.sort();
        if found != wanted {
            return Err(format!("marked: {wanted:#?}\nfound: {findings:#?}"));
        }
        let own = wanted.iter().any(|(_, _, marked)| marked == rule);
        if own != self.is_bad() {
            return Err(format!("a bad case marks `{rule}`, a good one does not"));
        }
        Ok(())
    }

    /// 2. Spans are inside their file, on character boundaries, and not empty; messages are short.
    fn spans(&self, findings: &[Finding]) -> Outcome {
        for finding in findings {
            let (_, text) = self
                .files
                .iter()
                .find(|(name, _)| *name == finding.at.file)
                .ok_or_else(|| format!("no such file: {finding:#?}"))?;
            let (start, end) = (finding.start as usize, finding.end as usize);
            let empty = start == end && finding.rule != "yaml-syntax";
            if empty || text.get(start..end).is_none() {
                return Err(format!("a bad span: {finding:#?}"));
            }
            if finding.message.split_whitespace().count() > MOST_WORDS {
                return Err(format!("more than {MOST_WORDS} words: {finding:#?}"));
            }
        }
        Ok(())
    }

    /// 3. The report does not depend on the order of the files, on threads, on the prefilter, or on how the documents
    ///    are spread over files.
    fn arrangements(&self, room: &Room, findings: &[Finding]) -> Outcome {
        let mut backwards = self.inputs();
        backwards.reverse();
        same("in reverse order", findings, room.findings(&[], &backwards))?;
        let inputs = self.inputs();
        let one = room.findings(&["--threads", "1"], &inputs);
        same("on one thread", findings, one)?;
        let unfiltered = room.findings(&["--no-prefilter"], &inputs);
        same("without the prefilter", findings, unfiltered)?;

        let about_files = findings.iter().any(|finding| {
            let rule = finding.rule.as_str();
            ABOUT_FILES.contains(&rule) || ABOUT_SHARING.contains(&rule)
        });
        let flat = inputs.iter().all(|name| !name.contains('/'));
        if about_files || !flat {
            return Ok(());
        }
        let (config, manifests): (Vec<_>, Vec<_>) = self
            .files
            .iter()
            .cloned()
            .partition(|(name, _)| name == "egress-lint.yaml");
        let split = documents::split(&manifests);
        same("split", findings, rearranged(&config, &split))?;
        let joined = documents::join(&manifests);
        same("joined", findings, rearranged(&config, &[joined]))
    }

    /// What a person reads.
    fn output(&self) -> Outcome {
        let files: Vec<(&str, String)> = self
            .files
            .iter()
            .map(|(name, text)| (name.as_str(), marks::strip(text)))
            .collect();
        let room = Room::new(files.iter().map(|(name, text)| (*name, text.as_str())));
        let answer = room.check(&[], &self.inputs());
        bless::compare(&self.beside(".out"), &answer.stdout)
    }

    /// 4. and 6. Fixes converge, mend what they name and nothing else, and keep comments.
    fn fixes(&self, findings: &[Finding]) -> Outcome {
        let fixed = self.beside(".fixed.yaml");
        if findings.iter().all(|finding| finding.fix.is_none()) {
            return match fixed.exists() {
                true => Err(format!("{}: there is no fix", fixed.display())),
                false => Ok(()),
            };
        }
        self.safe_fixes(findings)?;
        let inputs = self.inputs();
        let room = self.room();
        let reached = room.reached(&inputs);
        room.check(&["--fix=unsafe"], &inputs);
        let once = self.texts(&room);
        self.mended(findings, &room.findings(&[], &inputs), |_| true)?;
        self.comments_kept(&room)?;
        if !room.reached(&inputs).is_subset(&reached) {
            return Err("a fix widened egress".to_owned());
        }
        room.check(&["--fix=unsafe"], &inputs);
        if self.texts(&room) != once {
            return Err("a second run changed something".to_owned());
        }
        bless::compare(&fixed, &once)
    }

    /// What needs no look: beside all that holds of any fix, no fact changes of which the findings say nothing.
    fn safe_fixes(&self, findings: &[Finding]) -> Outcome {
        let inputs = self.inputs();
        let room = self.room();
        let before = Facts::read(&room.trace(&inputs));
        room.check(&["--fix"], &inputs);
        let is_safe = |fix: &str| fix == "safe";
        self.mended(findings, &room.findings(&[], &inputs), is_safe)?;
        self.comments_kept(&room)?;
        let after = Facts::read(&room.trace(&inputs));
        let safe = findings
            .iter()
            .filter(|it| it.fix.as_deref() == Some("safe"));
        let said = Said::new(self, &room, safe);
        let unsaid = |change: &Change| !said.covers(change);
        match before.changes(&after).into_iter().find(unsaid) {
            Some(change) => Err(format!(
                "no finding says what a safe fix changes: {change:#?}"
            )),
            None => Ok(()),
        }
    }

    /// What has such a fix is gone, and nothing new is there, not even advice.
    fn mended(&self, before: &[Finding], after: &[Finding], of: impl Fn(&str) -> bool) -> Outcome {
        let fixed = |finding: &Finding| finding.fix.as_deref().is_some_and(&of);
        let left = count(before, |finding| !fixed(finding));
        for (rule, number) in count(after, |_| true) {
            if number > left.get(&rule).copied().unwrap_or(0) {
                return Err(format!(
                    "after the fix `{rule}` finds {number}: {after:#?}\nbefore: {before:#?}"
                ));
            }
        }
        Ok(())
    }

    fn comments_kept(&self, room: &Room) -> Outcome {
        for (file, text) in &self.files {
            let kept = comments(&room.read(file));
            if let Some(lost) = comments(text).difference(&kept).next() {
                return Err(format!("a fix lost the comment `{lost}` of {file}"));
            }
        }
        Ok(())
    }

    /// All inputs, one after the other.
    fn texts(&self, room: &Room) -> String {
        match self.inputs()[..] {
            [one] => room.read(one),
            ref many => many
                .iter()
                .map(|file| format!("# {file}\n{}", room.read(file)))
                .collect(),
        }
    }

    /// 7. A comment silences the finding, and is itself a finding where it has nothing to silence.
    fn silencers(&self, rule: &str) -> Outcome {
        if ABOUT_FILES.contains(&rule) {
            return Ok(());
        }
        let inputs = self.inputs();
        if self.is_bad() {
            let files: Vec<(&str, String)> = self
                .files
                .iter()
                .map(|(name, text)| (name.as_str(), marks::silence(text)))
                .collect();
            let room = Room::new(files.iter().map(|(name, text)| (*name, text.as_str())));
            // The configuration is no place for comments of this kind.
            let left = room.findings(&[], &inputs).into_iter();
            let mut left = left.filter(|finding| {
                let counts = finding.is_loud() || finding.rule == rule;
                counts && finding.at.file != "egress-lint.yaml"
            });
            return match left.next() {
                None => Ok(()),
                Some(finding) => Err(format!("not silenced: {finding:#?}")),
            };
        }
        let Some((file, text)) = self
            .files
            .iter()
            .find(|(name, text)| inputs.contains(&name.as_str()) && text.starts_with("apiVersion"))
        else {
            return Ok(());
        };
        let silencer = format!("# egress-lint: ignore[{rule}] meant\n{text}");
        let files = self.files.iter().map(|(name, text)| match name == file {
            true => (name.as_str(), silencer.as_str()),
            false => (name.as_str(), text.as_str()),
        });
        let left = Room::new(files).findings(&[], &inputs);
        let unused = |finding: &&Finding| finding.rule == "unused-ignore" && finding.at.line == 1;
        match left.iter().filter(unused).count() {
            1 => Ok(()),
            _ => Err(format!("the silencer is not found to be unused: {left:#?}")),
        }
    }
}

/// What findings and their fixes speak of.
struct Said {
    /// The lines that the findings name, in the old texts.
    named: BTreeSet<Line>,
    /// The lines that are new, in the new texts.
    written: BTreeSet<Line>,
    /// All words about it: the messages, and the named lines.
    words: String,
}

impl Said {
    fn new<'f>(case: &Case, room: &Room, findings: impl Iterator<Item = &'f Finding>) -> Self {
        let mut named = BTreeSet::new();
        let mut words = String::new();
        for finding in findings {
            words.push_str(&finding.message);
            let places = finding.related.iter().chain([&finding.at]);
            named.extend(places.map(|place| (place.file.clone(), u64::from(place.line))));
        }
        let mut written = BTreeSet::new();
        for (file, text) in &case.files {
            let old: BTreeSet<&str> = text.lines().collect();
            for (line, number) in text.lines().zip(1u64..) {
                if named.contains(&(file.clone(), number)) {
                    words.push_str(line);
                }
            }
            for (line, number) in room.read(file).lines().zip(1u64..) {
                if !old.contains(line) {
                    written.insert((file.clone(), number));
                }
            }
        }
        Self {
            named,
            written,
            words,
        }
    }

    /// Whether the change is at a host that is spoken of, and rests on a line that is. What no line decides, before
    /// and after, follows from other facts.
    fn covers(&self, change: &Change) -> bool {
        let rests = |fact: &Option<Fact>, on: &BTreeSet<Line>| {
            fact.as_ref()
                .is_some_and(|fact| !fact.lines.is_disjoint(on))
        };
        let default = |fact: &Option<Fact>| fact.as_ref().is_none_or(|fact| fact.lines.is_empty());
        let lines = rests(&change.before, &self.named)
            || rests(&change.after, &self.written)
            || default(&change.before) && default(&change.after);
        lines && self.words.contains(&change.host)
    }
}

/// The set-ups that Istio documents give no warning.
fn set_up(path: &Path) -> Outcome {
    let room = Room::new([(name(path), read(path).as_str())]);
    let findings = room.findings(&[], &[name(path)]);
    match findings.iter().find(|finding| finding.is_loud()) {
        Some(loud) => Err(format!("{loud:#?}")),
        None => Ok(()),
    }
}

/// The example of the README shows what the program is for, with and without its configuration.
fn demo() -> Outcome {
    let mut files = Vec::new();
    let folder = harness::root().join("testdata/demo");
    collect(&folder, &folder, &mut files);
    let room = Room::new(files.iter().map(|(n, t)| (n.as_str(), t.as_str())));
    let wanted = [
        "dns-round-robin-endpoints",
        "ejection-budget-zero",
        "logical-dns-on-gslb",
        "port-level-drops-policy",
        "retries-disabled",
    ];
    for config in [&["--isolated"][..], &["--config", "egress-lint.yaml"]] {
        let answer = room.run(&[&["check", "--format", "json"], config, &["."]].concat());
        let loud = answer.findings().into_iter().filter(Finding::is_loud);
        let mut found: Vec<String> = loud.map(|finding| finding.rule).collect();
        found.sort();
        if found != wanted || answer.code != 1 {
            return Err(format!("exit code {}: {found:?}", answer.code));
        }
    }
    Ok(())
}

/// Some bad case of `special` has a finding of `general`, too, which is told only if `special` is off.
fn yields(general: &str, special: &str) -> Outcome {
    let off = format!("{special}=off");
    let folder = harness::root().join("testdata/rules").join(special);
    let cases = Case::all(&folder);
    let shows = |case: &Case| {
        let inputs = case.inputs();
        let number = |options: &[&str]| {
            let findings = case.room().findings(options, &inputs);
            findings.iter().filter(|it| it.rule == general).count()
        };
        number(&[]) < number(&["--rule", &off])
    };
    match cases.iter().filter(|case| case.is_bad()).any(shows) {
        true => Ok(()),
        false => Err(format!(
            "no case shows that `{general}` yields to `{special}`"
        )),
    }
}

/// 5. What the rule says about its fixes is true of all its cases.
fn fixable(rule: RuleInfo, cases: &[Case]) -> Outcome {
    let mut with = 0;
    let mut without = 0;
    for case in cases {
        for finding in case.room().findings(&[], &case.inputs()) {
            if finding.rule == rule.name {
                *(match finding.fix {
                    Some(_) => &mut with,
                    None => &mut without,
                }) += 1;
            }
        }
    }
    let right = match rule.fixable {
        Fixable::Always => without == 0 && with > 0,
        Fixable::Sometimes => with > 0 && without > 0,
        Fixable::Never => with == 0,
    };
    match right {
        true => Ok(()),
        false => Err(format!(
            "fixable is {:?}, but {with} findings have a fix and {without} have none",
            rule.fixable
        )),
    }
}

fn collect(top: &Path, path: &Path, files: &mut Vec<(String, String)>) {
    if path.is_dir() {
        for entry in list(path) {
            collect(top, &entry, files);
        }
        return;
    }
    let relative = match path.strip_prefix(top) {
        Ok(relative) if !relative.as_os_str().is_empty() => relative,
        _ => Path::new("input.yaml"),
    };
    files.push((relative.to_string_lossy().replace('\\', "/"), read(path)));
}

fn mark(finding: &Finding) -> Mark {
    (
        finding.at.file.clone(),
        finding.at.line,
        finding.rule.clone(),
    )
}

/// The findings of other files, at the places of the documents they came from.
fn rearranged(config: &[(String, String)], parts: &[Part]) -> Vec<Finding> {
    let config = config
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    let files = parts
        .iter()
        .map(|part| (part.name.as_str(), part.text.as_str()));
    let room = Room::new(config.chain(files));
    let inputs: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let back = |place: &mut Place| {
        let part = parts.iter().find(|part| part.name == place.file);
        let origin = part.and_then(|part| part.origin.get(place.line as usize - 1));
        if let Some((file, line)) = origin {
            place.file.clone_from(file);
            place.line = *line;
        }
    };
    let mut findings = room.findings(&[], &inputs);
    for finding in &mut findings {
        back(&mut finding.at);
        finding.related.iter_mut().for_each(back);
        finding.related.sort();
    }
    findings
}

/// Compares findings by what they say about which places.
fn same(how: &str, wanted: &[Finding], found: Vec<Finding>) -> Outcome {
    let plain = |findings: &[Finding]| {
        let mut plain: Vec<Finding> = findings
            .iter()
            .map(|finding| Finding {
                start: 0,
                end: 0,
                ..finding.clone()
            })
            .collect();
        plain.sort();
        plain
    };
    let (wanted, found) = (plain(wanted), plain(&found));
    match wanted == found {
        true => Ok(()),
        false => Err(format!("{how}: {found:#?}\ninstead of {wanted:#?}")),
    }
}

fn count(findings: &[Finding], of: impl Fn(&Finding) -> bool) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for finding in findings.iter().filter(|finding| of(finding)) {
        *counts.entry(finding.rule.clone()).or_default() += 1;
    }
    counts
}

/// The comments of a text, by their words.
fn comments(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| {
            let at = line.find("# ")?;
            Some(line.get(at..)?.trim_end().to_owned())
        })
        .collect()
}
