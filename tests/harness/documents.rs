//! The same documents in other files: one file each, or all in one.

/// A file of another arrangement, and where its lines come from.
#[derive(Debug)]
pub struct Part {
    pub name: String,
    pub text: String,
    /// For each line: the file and the line it was.
    pub origin: Vec<(String, u32)>,
}

impl Part {
    fn new(name: String) -> Self {
        Self {
            name,
            text: String::new(),
            origin: Vec::new(),
        }
    }

    fn push(&mut self, line: &str, file: &str, number: u32) {
        self.text.push_str(line);
        if !line.ends_with('\n') {
            self.text.push('\n');
        }
        self.origin.push((file.to_owned(), number));
    }
}

/// One file for each document. Border lines (`---`) belong to the document that they begin.
pub fn split(files: &[(String, String)]) -> Vec<Part> {
    let mut parts = Vec::new();
    for (file, text) in files {
        let stem = file.trim_end_matches(".yaml");
        let mut part = Part::new(format!("{stem}-000.yaml"));
        for (line, number) in text.split_inclusive('\n').zip(1u32..) {
            if line.trim_end() == "---" && !part.text.is_empty() {
                let next = Part::new(format!("{stem}-{number:03}.yaml"));
                parts.push(std::mem::replace(&mut part, next));
            }
            part.push(line, file, number);
        }
        parts.push(part);
    }
    parts
}

/// All documents in one file.
pub fn join(files: &[(String, String)]) -> Part {
    let mut joined = Part::new("joined.yaml".to_owned());
    for (file, text) in files {
        if !text.starts_with("---") {
            joined.push("---\n", file, 0);
        }
        for (line, number) in text.split_inclusive('\n').zip(1u32..) {
            joined.push(line, file, number);
        }
    }
    joined
}
