//! What every object has. What stands in `status` is written by controllers, and is not ours to judge.

use super::{
    ANY, BOOL, Field, LABELS, Rule, STRING, STRINGS, Schema, UINT64, cel, field, list, object,
};

const METADATA: Schema = object(&[
    field("annotations", LABELS),
    field("creationTimestamp", ANY),
    field("deletionGracePeriodSeconds", UINT64),
    field("deletionTimestamp", ANY),
    field("finalizers", STRINGS),
    field("generateName", STRING),
    field("generation", ANY),
    field("labels", LABELS),
    field("managedFields", list(&ANY)),
    field("name", STRING.rules(&[Rule::Cel(cel::object_name)])),
    field("namespace", STRING.rules(&[Rule::Cel(cel::namespace_name)])),
    field("ownerReferences", list(&OWNER)),
    field("resourceVersion", STRING),
    field("selfLink", STRING),
    field("uid", STRING),
]);

const OWNER: Schema = object(&[
    field("apiVersion", STRING),
    field("blockOwnerDeletion", BOOL),
    field("controller", BOOL),
    field("kind", STRING),
    field("name", STRING),
    field("uid", STRING),
]);

/// What is asked of the whole object.
pub(super) const RULES: &[Rule] = &[Rule::Cel(cel::named_object)];

/// The fields of an object around its `spec`.
pub(super) const fn fields(spec: Field) -> [Field; 5] {
    [
        field("apiVersion", STRING),
        field("kind", STRING),
        field("metadata", METADATA),
        spec,
        field("status", ANY),
    ]
}
