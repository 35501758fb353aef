//! What the control planes of several revisions see of one cluster.
//!
//! istiod leaves out the objects whose label `istio.io/rev` names another revision than its own. A tag is no revision
//! there. Kubernetes' own objects are for all. Source: `LabelsInRevision` in `pkg/config/model.go`, and who calls it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::mesh::Mesh;
use super::worlds::{World, around};
use crate::istio::resource::{REVISION, Resource, Spec};
use crate::manifest::{Assigned, Kustomizations};
use crate::source::Span;

/// So many named revisions of one cluster are looked at. What only others see is judged by nobody.
const MOST: usize = 4;

/// The revision of a control plane that is installed without one. Source: `REVISION` in the chart of istiod.
pub(super) const UNNAMED: &str = "default";

/// Gives the objects of the file at `place` the revision that the labels of kustomizations give them.
pub fn assign_revisions(resources: &mut [Resource], place: &str, kustomizations: &Kustomizations) {
    for resource in resources.iter_mut().filter(|it| is_parted(it)) {
        let written = resource.meta.labels.get(REVISION);
        match kustomizations.revision(place, written.map(|it| it.value.as_str())) {
            Assigned::To(revision) => resource.set_revision(Some(revision)),
            Assigned::Differs => resource.set_revision(None),
            Assigned::AsWritten => {}
        }
    }
}

/// The world as each revision sees it; the world itself where all objects are for one.
///
/// Which revision the pods of a namespace have is not asked: what its labels name may be a tag, which no file resolves.
/// That pods without a named revision exist is therefore assumed, unless an object is for just those.
pub(super) fn views(world: World<'_>) -> Vec<World<'_>> {
    let mut named: BTreeSet<&str> = BTreeSet::new();
    let mut for_all = false;
    for resource in world.resources.iter().filter(|it| is_parted(it)) {
        match of(resource) {
            Some(revision) => _ = named.insert(revision),
            None => for_all = true,
        }
    }
    let is_unnamed_known = named.remove(UNNAMED);
    let unnamed = (is_unnamed_known || for_all).then_some(UNNAMED);
    if named.len() + usize::from(unnamed.is_some()) < 2 {
        return vec![world];
    }
    let all: Vec<&str> = named.into_iter().take(MOST).chain(unnamed).collect();
    let view = |revision: &&str| World {
        is_assumed: *revision == UNNAMED && !is_unnamed_known,
        revisions: all.len(),
        ..view(&world, revision)
    };
    all.iter().map(view).collect()
}

fn view<'a>(world: &World<'a>, revision: &str) -> World<'a> {
    let (resources, left_out): (Vec<_>, Vec<_>) = world
        .resources
        .iter()
        .copied()
        .partition(|it| !is_parted(it) || of(it).is_none_or(|own| own == revision));
    let mut left_out: Vec<_> = left_out.iter().map(|it| it.span).collect();
    left_out.sort_unstable();
    let mesh = match world.meshes.as_slice() {
        [] => world.mesh,
        meshes => Mesh::of_revision(meshes, revision),
    };
    let name = match &world.name {
        Some(name) => Arc::from(format!("{name}@{revision}")),
        None => Arc::from(revision),
    };
    World {
        name: Some(name),
        resources,
        mesh,
        left_out,
        ..world.clone()
    }
}

/// Whether objects of the kind are left out by their label. Of Kubernetes' `Gateway` the label may name a tag, too.
fn is_parted(resource: &Resource) -> bool {
    resource.spec.is_of_mesh() && !matches!(resource.spec, Spec::KubeGateway(_))
}

/// The revision that alone sees the resource. One that is not known may be any.
fn of(resource: &Resource) -> Option<&str> {
    let label = resource.meta.labels.get(REVISION)?;
    let is_known = !label.value.is_empty() && !resource.placeholders().contains(&label.span);
    is_known.then_some(&label.value)
}

/// The resources that some world leaves out.
pub(super) struct Parted {
    /// Sorted.
    resources: Vec<Span>,
    /// By how many worlds each is left out.
    counts: Vec<usize>,
}

impl Parted {
    pub(super) fn new(worlds: &[World<'_>]) -> Self {
        let mut all: Vec<Span> = worlds.iter().flat_map(|it| &it.left_out).copied().collect();
        all.sort_unstable();
        let resources = all.chunk_by(|a, b| a == b);
        let (resources, counts) = resources
            .filter_map(|same| Some((*same.first()?, same.len())))
            .unzip();
        Self { resources, counts }
    }

    /// How many worlds leave out what stands here.
    pub(super) fn left_out(&self, span: Span) -> usize {
        let found = around(span, &self.resources);
        found.and_then(|at| self.counts.get(at)).map_or(0, |it| *it)
    }
}
