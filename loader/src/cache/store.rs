//! Entries by namespace, name of cache and URL, under bounds; the least recently used goes first.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;

use super::{CacheLimits, Head};

/// What an entry takes beside its text and its body, in bytes; generous.
pub(super) const ENTRY_OVERHEAD_BYTES: usize = 512;

/// A response that is kept.
pub(super) struct Stored {
    pub(super) head: Head,
    pub(super) body: Bytes,
    pub(super) kept_at: Instant,
    pub(super) lifetime: Duration,
}

impl Stored {
    fn is_fresh(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.kept_at) < self.lifetime
    }
}

/// There is no room, whatever goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

#[derive(PartialEq, Eq, Hash)]
struct Key {
    namespace: u64,
    cache: Box<str>,
    url: Box<str>,
}

struct Entry {
    stored: Arc<Stored>,
    bytes: usize,
    /// When it was last used, counted in uses of the store.
    used: u64,
}

/// What one namespace has.
#[derive(Default)]
struct Share {
    bytes: usize,
    /// By last use.
    order: BTreeMap<u64, Arc<Key>>,
}

#[derive(Default)]
struct State {
    entries: HashMap<Arc<Key>, Entry>,
    /// By last use.
    order: BTreeMap<u64, Arc<Key>>,
    shares: HashMap<u64, Share>,
    bytes: usize,
    uses: u64,
}

/// All that a cache keeps.
pub(super) struct Store {
    limits: CacheLimits,
    state: Mutex<State>,
}

impl Store {
    pub(super) fn new(limits: CacheLimits) -> Arc<Self> {
        Arc::new(Self { limits, state: Mutex::default() })
    }

    pub(super) fn namespace(store: &Arc<Self>) -> Arc<Namespace> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Namespace { store: Arc::clone(store), id: NEXT.fetch_add(1, Ordering::Relaxed) })
    }

    pub(super) fn bytes(&self) -> usize {
        self.state.lock().bytes
    }
}

impl State {
    fn next_use(&mut self) -> u64 {
        self.uses += 1;
        self.uses
    }

    fn remove(&mut self, key: &Key) -> Option<Entry> {
        let entry = self.entries.remove(key)?;
        self.order.remove(&entry.used);
        self.bytes -= entry.bytes;
        if let Some(share) = self.shares.get_mut(&key.namespace) {
            share.order.remove(&entry.used);
            share.bytes -= entry.bytes;
        }
        Some(entry)
    }

    /// Makes room until the bounds hold. `Full`: they do not when everything that can go has gone.
    fn shrink(&mut self, namespace: u64, limits: &CacheLimits) -> Result<(), Full> {
        loop {
            let share = self.shares.entry(namespace).or_default();
            if share.bytes <= limits.share_bytes_max && share.order.len() <= limits.share_entries_max {
                break;
            }
            let oldest = share.order.values().next().cloned().ok_or(Full)?;
            self.remove(&oldest);
        }
        while self.bytes > limits.bytes_max || self.entries.len() > limits.entries_max {
            let oldest = self.order.values().next().cloned().ok_or(Full)?;
            self.remove(&oldest);
        }
        Ok(())
    }

    fn release(&mut self, namespace: u64, bytes: usize) {
        self.bytes -= bytes;
        if let Some(share) = self.shares.get_mut(&namespace) {
            share.bytes -= bytes;
        }
    }
}

/// One Worker's part of a store. What it has goes with it.
pub(super) struct Namespace {
    store: Arc<Store>,
    id: u64,
}

impl Namespace {
    fn key(&self, cache: &str, url: &str) -> Key {
        Key { namespace: self.id, cache: cache.into(), url: url.into() }
    }

    /// What is kept and still fresh.
    pub(super) fn find(&self, cache: &str, url: &str, now: Instant) -> Option<Arc<Stored>> {
        let key = self.key(cache, url);
        let mut state = self.store.state.lock();
        let used = state.next_use();
        let (kept, entry) = state.entries.get_key_value(&key)?;
        if !entry.stored.is_fresh(now) {
            state.remove(&key);
            return None;
        }
        let (kept, before) = (Arc::clone(kept), entry.used);
        state.order.remove(&before);
        state.order.insert(used, Arc::clone(&kept));
        if let Some(share) = state.shares.get_mut(&self.id) {
            share.order.remove(&before);
            share.order.insert(used, Arc::clone(&kept));
        }
        let entry = state.entries.get_mut(&key)?;
        entry.used = used;
        Some(Arc::clone(&entry.stored))
    }

    /// Deletes an entry; whether there was one.
    pub(super) fn remove(&self, cache: &str, url: &str) -> bool {
        let removed = self.store.state.lock().remove(&self.key(cache, url));
        removed.is_some_and(|entry| entry.stored.is_fresh(Instant::now()))
    }

    /// Room for an entry on its way in; none yet.
    pub(super) fn reserve(self: &Arc<Self>) -> Room {
        Room { namespace: Arc::clone(self), bytes: 0 }
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let mut state = self.store.state.lock();
        let Some(share) = state.shares.remove(&self.id) else { return };
        for key in share.order.values() {
            state.remove(key);
        }
    }
}

/// Bytes that are taken for an entry on its way in, and given back when it does not arrive.
pub(super) struct Room {
    namespace: Arc<Namespace>,
    bytes: usize,
}

impl Room {
    /// Takes more. `Full`: there is not so much.
    pub(super) fn grow(&mut self, bytes: usize) -> Result<(), Full> {
        let Namespace { store, id } = &*self.namespace;
        if self.bytes + bytes > store.limits.entry_bytes_max {
            return Err(Full);
        }
        let mut state = store.state.lock();
        self.bytes += bytes;
        state.bytes += bytes;
        state.shares.entry(*id).or_default().bytes += bytes;
        state.shrink(*id, &store.limits)
    }

    /// The entry is there; it replaces what was.
    pub(super) fn keep(mut self, cache: &str, url: &str, stored: Stored) {
        let bytes = std::mem::take(&mut self.bytes);
        let Namespace { store, id } = &*self.namespace;
        let key = Arc::new(self.namespace.key(cache, url));
        let mut state = store.state.lock();
        let replaced = state.remove(&key);
        let used = state.next_use();
        state.order.insert(used, Arc::clone(&key));
        state.shares.entry(*id).or_default().order.insert(used, Arc::clone(&key));
        state.entries.insert(key, Entry { stored: Arc::new(stored), bytes, used });
        // Its bytes are counted already; of entries there may be one too many. It is the last that could go.
        let _fits = state.shrink(*id, &store.limits);
        drop(state);
        drop(replaced);
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.namespace.store.state.lock().release(self.namespace.id, self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(seconds: u64) -> Stored {
        let head = Head { status: 200, status_text: String::new(), headers: Vec::new() };
        Stored { head, body: Bytes::new(), kept_at: Instant::now(), lifetime: Duration::from_secs(seconds) }
    }

    fn put(namespace: &Arc<Namespace>, url: &str, bytes: usize) -> Result<(), Full> {
        let mut room = namespace.reserve();
        room.grow(bytes)?;
        room.keep("", url, stored(60));
        Ok(())
    }

    fn has(namespace: &Namespace, url: &str) -> bool {
        namespace.find("", url, Instant::now()).is_some()
    }

    fn store() -> Arc<Store> {
        Store::new(CacheLimits {
            bytes_max: 100,
            entries_max: 5,
            entry_bytes_max: 50,
            share_bytes_max: 60,
            share_entries_max: 3,
        })
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let store = store();
        let one = Store::namespace(&store);
        for url in ["a", "b", "c"] {
            put(&one, url, 20).unwrap();
        }
        assert!(has(&one, "a"));
        put(&one, "d", 20).unwrap();
        assert!(has(&one, "a") && !has(&one, "b") && has(&one, "c") && has(&one, "d"));
        put(&one, "e", 1).unwrap();
        assert!(!has(&one, "a"), "a fourth entry goes over the share of entries");
    }

    #[test]
    fn nobody_takes_more_than_a_share_or_reaches_another() {
        let store = store();
        let (one, other) = (Store::namespace(&store), Store::namespace(&store));
        put(&one, "a", 40).unwrap();
        put(&other, "a", 30).unwrap();
        put(&other, "b", 30).unwrap();
        assert!(has(&one, "a") && has(&other, "a") && has(&other, "b"));
        put(&other, "c", 30).unwrap();
        assert!(has(&one, "a") && !has(&other, "a"), "who is over its share loses its own");
        assert!(!one.remove("", "b") && other.remove("", "b"));
        drop(other);
        assert_eq!(store.bytes(), 40);
    }

    #[test]
    fn what_is_on_its_way_counts() {
        let store = store();
        let one = Store::namespace(&store);
        let (mut first, mut second) = (one.reserve(), one.reserve());
        first.grow(50).unwrap();
        assert_eq!(first.grow(1), Err(Full), "over what one entry may have");
        assert_eq!(second.grow(20), Err(Full), "over the share, and nothing can go");
        drop((first, second));
        assert_eq!(store.bytes(), 0);
        let mut third = one.reserve();
        third.grow(10).unwrap();
        third.keep("", "a", stored(0));
        assert!(!has(&one, "a"), "stale at once");
        assert_eq!(store.bytes(), 0);
    }

    #[test]
    fn an_entry_is_replaced() {
        let store = store();
        let one = Store::namespace(&store);
        put(&one, "a", 50).unwrap();
        put(&one, "a", 10).unwrap();
        assert_eq!(store.bytes(), 10);
    }
}
