//! What one cluster holds, and all of them together.

use std::sync::Arc;

use foldhash::HashMap;

use super::mesh::{FoundMesh, Mesh};
use super::rivals::{FileIndex, Rivals};
use crate::diag::Diagnostic;
use crate::istio::Resource;
use crate::manifest::{Kinds, Kustomizations, folder};
use crate::source::{FileId, Span};

/// What one cluster holds, as one revision of its control plane sees it.
#[derive(Clone, Debug)]
pub struct World<'a> {
    /// What tells it from the others; `None` where it is the only one.
    pub name: Option<Arc<str>>,
    /// In the order of (place, line). Of several definitions in one file the last, as it is the one that stays.
    pub resources: Vec<&'a Resource>,
    pub mesh: Mesh<'a>,
    /// Those that its files carry, unless the user has given one.
    pub(super) meshes: Vec<&'a FoundMesh>,
    /// Nothing else exists in the cluster: what is missing here is missing.
    pub closed: bool,
    /// A file says of single pods of an ambient namespace whether they have a sidecar.
    pub pods_differ: bool,
    /// What templates among its files would make.
    pub templates: Kinds,
    /// Whole resources that have several definitions here, sorted.
    pub(super) undecided: Vec<Span>,
    /// Files, of all worlds, that others of their folder can stand for, sorted.
    pub(super) alternatives: Arc<[FileId]>,
    /// Sorted.
    pub(super) files: Vec<FileId>,
    /// Where each of them lies.
    pub(super) places: Vec<&'a str>,
    /// The configuration says that these files are one cluster's.
    pub(super) declared: bool,
    /// Whole resources of its files that are for other revisions, sorted.
    pub(super) left_out: Vec<Span>,
    /// Nothing proves that it has clients.
    pub(super) is_assumed: bool,
    /// Worlds of one number are what several revisions see of one cluster.
    pub(super) cluster: usize,
    /// How many revisions do.
    pub(super) revisions: usize,
    pub(super) kustomizations: &'a Kustomizations,
}

impl World<'_> {
    pub fn holds(&self, file: FileId) -> bool {
        self.files.binary_search(&file).is_ok()
    }

    /// Whether what stands here is a part of it, or at least lies in one of its files.
    pub fn sees(&self, span: Span) -> bool {
        self.holds(span.file) && around(span, &self.left_out).is_none()
    }

    pub fn files(&self) -> &[FileId] {
        &self.files
    }

    /// Whether two files are surely applied to one cluster: they are one, one kustomization reaches them, or the user
    /// says so.
    pub fn is_one_unit(&self, a: FileId, b: FileId) -> bool {
        self.closed || self.is_tied(a, b)
    }

    fn is_tied(&self, a: FileId, b: FileId) -> bool {
        let places = || Some((self.place(a)?, self.place(b)?));
        a == b
            || self.declared
            || places().is_some_and(|(a, b)| self.kustomizations.share_a_root(a, b))
    }

    /// Whether two files are one unit, or lie in one folder of which no kustomization takes a part, and neither is one
    /// of several alternatives there.
    pub fn is_one_folder(&self, a: FileId, b: FileId) -> bool {
        self.closed || self.belong_together(a, b)
    }

    /// As `is_one_folder`, for a resource and one that it names: another world may define that otherwise. That nothing
    /// else exists in the cluster does not tell for which of them the first is.
    pub fn is_one_choice(&self, a: FileId, b: FileId) -> bool {
        self.closed && self.name.is_none() || self.belong_together(a, b)
    }

    /// As `is_one_folder`, whether or not anything else exists: what is written there without a namespace is applied to
    /// one.
    pub fn belong_together(&self, a: FileId, b: FileId) -> bool {
        let free = |place| self.kustomizations.listing(place).is_empty();
        let is_fixed = |file| self.alternatives.binary_search(&file).is_err();
        let places = || Some((self.place(a)?, self.place(b)?));
        self.is_tied(a, b)
            || is_fixed(a)
                && is_fixed(b)
                && places().is_some_and(|(a, b)| folder(a) == folder(b) && free(a) && free(b))
    }

    fn place(&self, file: FileId) -> Option<&str> {
        let at = self.files.binary_search(&file).ok()?;
        self.places.get(at).copied()
    }

    /// Whether what stands here may be concluded from. A resource with several definitions exists, and nothing
    /// follows from its content.
    pub fn is_decided(&self, span: Span) -> bool {
        around(span, &self.undecided).is_none()
    }

    /// Whether a kustomization gives the objects of a file other names.
    pub fn is_renamed(&self, file: FileId) -> bool {
        let place = self.place(file);
        place.is_some_and(|place| self.kustomizations.is_renamed(place))
    }

    /// Whether it is certain that nothing of a kind exists but what is here.
    pub fn knows_all(&self, kind: &str) -> bool {
        self.closed && !self.templates.may_hold(kind)
    }

    /// As `knows_all`, for what is missing beside a file. Where a fork of the tree was taken for several clusters, it may be
    /// meant to come from another side, unless a kustomization or the user says what belongs to the file.
    pub fn knows_all_beside(&self, kind: &str, file: FileId) -> bool {
        let listing = |place| self.kustomizations.listing(place);
        let is_listed = || self.place(file).is_some_and(|it| !listing(it).is_empty());
        self.knows_all(kind) && (self.name.is_none() || self.declared || is_listed())
    }
}

/// The one of these resources, which are sorted, in which a place lies.
pub(super) fn around(span: Span, resources: &[Span]) -> Option<usize> {
    let upto = Span {
        end: u32::MAX,
        ..span
    };
    let after = resources.partition_point(|resource| *resource <= upto);
    let before = after.checked_sub(1)?;
    let resource = resources.get(before)?;
    resource.contains(span).then_some(before)
}

/// All worlds of a run.
#[derive(Debug)]
pub struct Worlds<'a> {
    /// At least one, by name.
    pub list: Vec<World<'a>>,
    /// Resources that one file or one kustomization defines more than once.
    pub duplicates: Vec<Diagnostic>,
    /// None where the configuration names the worlds.
    pub(super) rivals: Option<Rivals>,
    /// The place and the number in `rivals` of each file.
    pub(super) numbers: HashMap<FileId, (FileIndex, &'a str)>,
    pub(super) kustomizations: &'a Kustomizations,
}

impl Worlds<'_> {
    /// Whether two files can lie in one cluster. In a world with an undecided fork some do not.
    pub fn lie_together(&self, a: FileId, b: FileId) -> bool {
        let (Some(rivals), Some(&(x, place)), Some(&(y, other))) =
            (&self.rivals, self.numbers.get(&a), self.numbers.get(&b))
        else {
            return true;
        };
        !rivals.are_parted(x, y) || self.kustomizations.share_a_root(place, other)
    }
}
