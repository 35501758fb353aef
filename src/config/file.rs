//! `egress-lint.yaml` as it is written: serde reads these types, and the published schema is made from them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::duration;
use super::facts::Class;
use super::settings::{FailOn, Level};
use super::value::Value;
use crate::source::Spanned;

/// Settings of egress-lint and facts that only you know about the hosts you call.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(title = "egress-lint.yaml")]
pub(super) struct File {
    /// The version of this format: 1.
    #[expect(dead_code, reason = "the schema says all there is to say about it")]
    #[schemars(extend("const" = 1))]
    version: Option<u32>,
    /// The version of Istio that the manifests are for, in quotes; 1.30 if left out.
    #[schemars(regex(pattern = ISTIO))]
    pub(super) istio: Option<Spanned<String>>,
    /// These files are all there is in the cluster: what is missing here is missing there.
    pub(super) closed_world: Option<Spanned<bool>>,
    /// The namespace of manifests that name none. Left out it is unknown, and may equal any other.
    #[schemars(regex(pattern = NAMESPACE))]
    pub(super) namespace: Option<Spanned<String>>,
    /// Istio's root namespace, whose resources count everywhere; `istio-system` if left out.
    #[schemars(regex(pattern = NAMESPACE))]
    pub(super) root_namespace: Option<Spanned<String>>,
    /// Files and folders that are not looked at, as globs.
    pub(super) exclude: Option<Vec<Spanned<String>>>,
    /// What each cluster holds: its name, and globs of its files.
    pub(super) worlds: Option<Entries<Vec<Spanned<String>>>>,
    /// MeshConfig as Istio spells it: the path of a file, or the map itself.
    pub(super) mesh_config: Option<Mesh>,
    /// What only you know about the other side. The first entry that matches a host wins.
    pub(super) hosts: Option<Vec<Host>>,
    /// Levels of rules, where they are silent, and their options.
    pub(super) rules: Option<Entries<Rule>>,
    /// Policies of your own. Not yet supported.
    pub(super) policies: Option<Spanned<Policies>>,
    /// The file with the findings that are accepted, below the folder of this one; as with `--baseline`.
    pub(super) baseline: Option<Spanned<String>>,
    /// The level from which on findings make the run fail; `warning` if left out.
    pub(super) fail_on: Option<Spanned<FailOn>>,
}

/// A version of Istio: 1.30, or 1.30.2.
pub(super) const ISTIO: &str = r"^1\.[0-9]{1,3}(\.[0-9]{1,3})?$";
/// A name as Kubernetes gives it to a namespace.
pub(super) const NAMESPACE: &str = "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$";
/// A duration as Go writes it.
pub(super) const DURATION: &str = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$";

/// What you know about the hosts that a glob matches.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Host {
    /// A glob over host names, such as `*.partner.example`.
    pub(super) host: Spanned<String>,
    /// How its addresses behave over time.
    pub(super) class: Option<Spanned<Class>>,
    /// How many A or AAAA records one answer holds.
    #[schemars(range(min = 1))]
    pub(super) addresses: Option<Spanned<u32>>,
    /// How long an answer may be kept.
    pub(super) ttl: Option<Spanned<Duration>>,
    /// `false`: a request must not be sent twice, so that retries are a danger.
    pub(super) repeatable: Option<Spanned<bool>>,
    /// How long the other side keeps the old address alive after a flip.
    pub(super) drain: Option<Spanned<Duration>>,
    /// The longest session or stream that your clients hold.
    pub(super) session: Option<Spanned<Duration>>,
}

/// Milliseconds.
pub(super) struct Duration(pub(super) i64);

impl<'de> Deserialize<'de> for Duration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        match duration::milliseconds(&text) {
            Some(milliseconds) => Ok(Self(milliseconds)),
            None => Err(serde::de::Error::custom(format!(
                "`{text}` is not a duration such as `30s` of at most a century"
            ))),
        }
    }
}

impl JsonSchema for Duration {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A duration as Go writes it, such as `30s`, `5m` or `1h30m`.",
            "type": "string",
            "pattern": DURATION,
        })
    }
}

/// MeshConfig, whose fields somebody else knows.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Mesh(pub(super) Value);

impl JsonSchema for Mesh {
    fn schema_name() -> Cow<'static, str> {
        "MeshConfig".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The path of a file below the folder of this one, or MeshConfig itself.",
            "type": ["string", "object"],
        })
    }
}

/// What the rule shall do.
pub(super) struct Rule {
    pub(super) level: Option<Spanned<Level>>,
    pub(super) ignore: Vec<Spanned<String>>,
    pub(super) options: Option<Value>,
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use super::deserialize::read;
        use super::value::ValueKind;
        let error = |error: super::deserialize::ReadError| serde::de::Error::custom(error);
        let value = Value::deserialize(deserializer)?;
        let ValueKind::Map(entries) = value.kind else {
            let level = Some(read(&value).map_err(error)?);
            return Ok(Self {
                level,
                ignore: Vec::new(),
                options: None,
            });
        };
        let mut rule = Self {
            level: None,
            ignore: Vec::new(),
            options: None,
        };
        let mut options = Vec::new();
        for (name, part) in entries {
            match name.value.as_str() {
                "level" => rule.level = read(&part).map_err(error)?,
                "ignore" => {
                    rule.ignore = read::<Option<_>>(&part).map_err(error)?.unwrap_or_default()
                }
                _ => options.push((name, part)),
            }
        }
        if !options.is_empty() {
            rule.options = Some(Value {
                span: value.span,
                kind: ValueKind::Map(options),
            });
        }
        Ok(rule)
    }
}

impl JsonSchema for Rule {
    fn schema_name() -> Cow<'static, str> {
        "Rule".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let level = generator.subschema_for::<Level>();
        let globs = generator.subschema_for::<Option<Vec<String>>>();
        json_schema!({
            "description": "A level, or a map with a level, globs of files to ignore, and the rule's own options.",
            "anyOf": [level, {
                "type": "object",
                "properties": {
                    "level": level,
                    "ignore": globs,
                },
            }],
        })
    }
}

/// Whatever stands there.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct Policies(#[expect(dead_code, reason = "not yet read")] Value);

impl JsonSchema for Policies {
    fn schema_name() -> Cow<'static, str> {
        "Policies".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!(true)
    }
}

/// A map with free keys, in its order.
pub(super) struct Entries<T>(pub(super) Vec<(Spanned<String>, T)>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Entries<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

struct EntriesVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for EntriesVisitor<T> {
    type Value = Entries<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Entries<T>, A::Error> {
        let mut out = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            out.push(entry);
        }
        Ok(Entries(out))
    }
}

impl<T: JsonSchema> JsonSchema for Entries<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Map_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>();
        json_schema!({"type": "object", "additionalProperties": value})
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }

    fn _schemars_private_non_optional_json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::_schemars_private_non_optional_json_schema(generator)
    }

    fn _schemars_private_is_option() -> bool {
        T::_schemars_private_is_option()
    }
}
