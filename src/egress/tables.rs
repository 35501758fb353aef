//! What the proxies of one client have in common, held once however many follow its paths side by side.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use foldhash::HashMap;

use super::client::Client;
use super::effective::EffectiveService;
use super::listener::PortListeners;
use super::virtual_host::PortServices;

/// Large where many services have a port.
#[derive(Debug, Default)]
pub(super) struct Tables<'m> {
    /// By the place of the egress listener, and the port.
    pub(super) imported: Table<(usize, u32), Vec<EffectiveService<'m>>>,
    pub(super) listeners: Table<u32, PortListeners<'m>>,
    pub(super) services: Table<u32, PortServices<'m>>,
}

/// The tables of the clients that somebody looks at right now.
#[derive(Debug, Default)]
pub(super) struct SharedTables<'m>(Mutex<Known<'m>>);

#[derive(Debug, Default)]
struct Known<'m> {
    by_client: HashMap<Client, Weak<Tables<'m>>>,
    /// Those that were asked for last: who follows a client's next paths finds them still there.
    last: Option<Arc<Tables<'m>>>,
}

impl<'m> SharedTables<'m> {
    pub(super) fn of(&self, client: &Client) -> Arc<Tables<'m>> {
        let mut known = lock(&self.0);
        let tables = known.by_client.get(client).and_then(Weak::upgrade);
        let tables = tables.unwrap_or_else(|| {
            known.last = None;
            known.by_client.retain(|_, it| it.strong_count() > 0);
            let tables = Arc::default();
            let weak = Arc::downgrade(&tables);
            known.by_client.insert(client.clone(), weak);
            tables
        });
        known.last = Some(Arc::clone(&tables));
        tables
    }
}

/// Values by key, each made by whoever asks for it first. Making one takes no second thread, on which somebody might wait
/// for it.
#[derive(Debug)]
pub(super) struct Table<K, V>(Mutex<HashMap<K, Arc<OnceLock<Arc<V>>>>>);

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V> Table<K, V> {
    pub(super) fn get(&self, key: K, make: impl FnOnce() -> V) -> Arc<V> {
        let place = Arc::clone(lock(&self.0).entry(key).or_default());
        Arc::clone(place.get_or_init(|| Arc::new(make())))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
