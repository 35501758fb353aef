//! Expectations beside the line: `# ~ rule-a, rule-b`.

/// Where a finding is expected: file, line, rule.
pub type Mark = (String, u32, String);

/// The marks of one file, in order.
pub fn of(file: &str, text: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (line, number) in text.lines().zip(1u32..) {
        let Some((_, rules)) = line.split_once("# ~ ") else {
            continue;
        };
        for rule in rules.split(',') {
            marks.push((file.to_owned(), number, rule.trim().to_owned()));
        }
    }
    marks
}

/// The text without its marks, for outputs that people read.
pub fn strip(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.split_once("# ~ ") {
            Some((before, _)) => format!("{}\n", before.trim_end()),
            None => line.to_owned(),
        })
        .collect()
}

/// Puts `# egress-lint: ignore[…]` alone above each marked line.
pub fn silence(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        if let Some((_, rules)) = line.split_once("# ~ ") {
            let indent: String = line.chars().take_while(|c| *c == ' ').collect();
            let rules = rules.trim();
            out.push_str(&format!("{indent}# egress-lint: ignore[{rules}] meant\n"));
        }
        out.push_str(line);
    }
    out
}
