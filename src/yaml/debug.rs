//! `egress-lint debug yaml`: prints what Kubernetes reads, as JSON.

use serde_json::{Map, Value, json};

use crate::source::{FileId, Position, SourceFile, Span};

use super::{Kind, Node, Scalar, Tree};

/// What `debug yaml` prints, and whether the file is refused.
pub struct Dump {
    pub json: Value,
    pub refused: bool,
}

/// Reads a file's text and describes it; with `spans` also where every value stands.
pub fn dump(text: &str, spans: bool) -> Dump {
    let file = SourceFile::new("", text);
    let tree = Tree::parse(FileId(0), text);
    let documents: Vec<Value> = tree
        .documents(text)
        .map(|document| value(document.root))
        .collect();
    let first = tree.errors().iter().min_by_key(|error| error.span.start);
    let error = first.map_or(Value::Null, |error| {
        let mut place = position(&file, error.span.start);
        place["message"] = Value::from(error.message.clone());
        if let Some(help) = &error.help {
            place["help"] = Value::from(help.clone());
        }
        place
    });
    let mut json = json!({"documents": documents, "error": error});
    if spans {
        let mut out = Vec::new();
        for (index, document) in tree.documents(text).enumerate() {
            let mut walk = Walk {
                file: &file,
                document: index,
                out: &mut out,
            };
            walk.node(document.root, None, &mut String::new());
        }
        json["spans"] = Value::from(out);
    }
    Dump {
        json,
        refused: first.is_some(),
    }
}

/// Describes a file that is refused for its encoding.
pub fn undecoded(text: &str, at: u32, message: &str) -> Dump {
    let mut place = position(&SourceFile::new("", text), at);
    place["message"] = Value::from(message);
    Dump {
        json: json!({"documents": [], "error": place}),
        refused: true,
    }
}

fn position(file: &SourceFile, offset: u32) -> Value {
    let Position {
        line,
        column,
        offset,
    } = file.position(offset);
    json!({"line": line, "column": column, "offset": offset})
}

/// The JSON that Kubernetes makes of a node. Depth is bounded by the tree's own limit.
fn value(node: Node<'_>) -> Value {
    match node.kind() {
        Kind::Map => {
            let entries = node
                .entries()
                .map(|entry| (entry.name.into_owned(), value(entry.value)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
        Kind::List => Value::Array(node.items().map(value).collect()),
        Kind::Scalar => match node.scalar() {
            None | Some(Scalar::Null) => Value::Null,
            Some(Scalar::Bool(value)) => Value::from(value),
            Some(Scalar::Int(value)) => Value::from(value),
            Some(Scalar::Float(value)) => Value::from(value),
            Some(Scalar::Str(value)) => Value::from(value.into_owned()),
        },
    }
}

struct Walk<'w> {
    file: &'w SourceFile,
    document: usize,
    out: &'w mut Vec<Value>,
}

impl Walk<'_> {
    fn node(&mut self, node: Node<'_>, key: Option<Span>, pointer: &mut String) {
        let at = |span: Span| {
            (
                position(self.file, span.start),
                position(self.file, span.end),
            )
        };
        let (key_start, key_end) = key.map_or((Value::Null, Value::Null), at);
        let (value_start, value_end) = at(node.span());
        self.out.push(json!({
            "document": self.document, "pointer": pointer,
            "key_start": key_start, "key_end": key_end, "value_start": value_start, "value_end": value_end,
        }));
        let length = pointer.len();
        for entry in node.entries() {
            pointer.push('/');
            pointer.push_str(&entry.name.replace('~', "~0").replace('/', "~1"));
            self.node(entry.value, Some(entry.key.span()), pointer);
            pointer.truncate(length);
        }
        for (index, item) in node.items().enumerate() {
            pointer.push('/');
            pointer.push_str(&index.to_string());
            self.node(item, None, pointer);
            pointer.truncate(length);
        }
    }
}
