//! What waits for a place, and whose turn it is: tenants take turns, and each is served in the order of its asking.

use std::collections::{HashMap, VecDeque};

use crate::shares::{NoPlace, Shares, Tenant};

/// See the module.
pub(super) struct Queue<T> {
    shares: Shares,
    /// Of each tenant that has any.
    waiting: HashMap<Tenant, VecDeque<T>>,
    /// The same tenants, the next one first.
    turns: VecDeque<Tenant>,
}

impl<T> Queue<T> {
    /// A queue in which so many may wait.
    pub(super) fn new(max: usize) -> Self {
        Self { shares: Shares::new(max), waiting: HashMap::new(), turns: VecDeque::new() }
    }

    /// Adds what a tenant wants last, unless there is no place for it.
    pub(super) fn push(&mut self, tenant: &Tenant, item: T) -> Result<(), (T, NoPlace)> {
        match self.shares.take(tenant) {
            Ok(()) => {
                self.of(tenant).push_back(item);
                Ok(())
            }
            Err(why) => Err((item, why)),
        }
    }

    /// Puts back what a tenant wanted before what it wants now, whether there is a place for it or not.
    pub(super) fn put_back(&mut self, tenant: &Tenant, item: T) {
        self.shares.take_anyway(tenant);
        self.of(tenant).push_front(item);
    }

    fn of(&mut self, tenant: &Tenant) -> &mut VecDeque<T> {
        let Self { waiting, turns, .. } = self;
        waiting.entry(tenant.clone()).or_insert_with(|| {
            turns.push_back(tenant.clone());
            VecDeque::new()
        })
    }

    /// Whose turn it is when so many tenants are passed over.
    pub(super) fn turn(&self, passed_over: usize) -> Option<&Tenant> {
        self.turns.get(passed_over)
    }

    /// What a tenant has waited for longest.
    pub(super) fn first_of(&self, tenant: &Tenant) -> Option<&T> {
        self.waiting.get(tenant)?.front()
    }

    /// Takes what that tenant has waited for longest; its next turn comes after those of all others.
    pub(super) fn take(&mut self, passed_over: usize) -> Option<T> {
        let tenant = self.turns.remove(passed_over)?;
        let mut mine = self.waiting.remove(&tenant)?;
        let item = mine.pop_front();
        self.shares.give_back(&tenant);
        if !mine.is_empty() {
            self.waiting.insert(tenant.clone(), mine);
            self.turns.push_back(tenant);
        }
        item
    }

    /// Takes out all of which this is true.
    pub(super) fn extract(&mut self, mut is_one: impl FnMut(&T) -> bool) -> Vec<T> {
        let mut out = Vec::new();
        let Self { shares, waiting, turns } = self;
        for (tenant, mine) in waiting.iter_mut() {
            if !mine.iter().any(&mut is_one) {
                continue;
            }
            let (gone, stay): (VecDeque<T>, VecDeque<T>) = std::mem::take(mine).into_iter().partition(&mut is_one);
            *mine = stay;
            gone.iter().for_each(|_| shares.give_back(tenant));
            out.extend(gone);
        }
        waiting.retain(|_, mine| !mine.is_empty());
        turns.retain(|tenant| waiting.contains_key(tenant));
        out
    }

    /// Takes everything.
    pub(super) fn take_all(&mut self) -> Vec<T> {
        self.extract(|_| true)
    }

    pub(super) fn len(&self) -> usize {
        self.shares.total()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(max: usize, items: &[&'static str]) -> Queue<&'static str> {
        let mut queue = Queue::new(max);
        for &item in items {
            assert_eq!(queue.push(&tenant(item), item), Ok(()), "{item}");
        }
        queue
    }

    /// The first letter says whose it is.
    fn tenant(item: &str) -> Tenant {
        Some(item[..1].into())
    }

    /// What is served while there is no room for some tenants.
    fn served(queue: &mut Queue<&'static str>, without_room: &[&str]) -> Vec<&'static str> {
        let (mut passed_over, mut served) = (0, Vec::new());
        while let Some(tenant) = queue.turn(passed_over) {
            if without_room.contains(&tenant.as_deref().unwrap_or("")) {
                passed_over += 1;
            } else {
                served.extend(queue.take(passed_over));
            }
        }
        served
    }

    #[test]
    fn tenants_take_turns_and_each_is_served_in_order() {
        let many = ["a1", "a2", "a3", "a4", "b1", "c1", "c2"];
        let cases: [(&[&str], &[&str]); 3] = [
            (&[], &["a1", "b1", "c1", "a2", "c2", "a3", "a4"]),
            (&["a"], &["b1", "c1", "c2"]),
            (&["a", "b", "c"], &[]),
        ];
        for (without_room, expected) in cases {
            let mut queue = queue(64, &many);
            assert_eq!(served(&mut queue, without_room), expected, "without room: {without_room:?}");
            assert_eq!(queue.len(), many.len() - expected.len());
        }
    }

    #[test]
    fn who_was_passed_over_is_served_before_those_that_were_not() {
        let mut queue = queue(64, &["a1", "b1", "b2"]);
        assert_eq!(served(&mut queue, &["a"]), ["b1", "b2"]);
        assert_eq!(queue.push(&tenant("b3"), "b3"), Ok(()));
        assert_eq!(served(&mut queue, &[]), ["a1", "b3"]);
    }

    #[test]
    fn what_is_put_back_comes_first_and_needs_no_place() {
        let mut queue = queue(2, &["a1", "a2"]);
        queue.put_back(&tenant("a0"), "a0");
        assert_eq!(queue.push(&tenant("a3"), "a3"), Err(("a3", NoPlace::Full)));
        assert_eq!(served(&mut queue, &[]), ["a0", "a1", "a2"]);
        assert!(queue.is_empty());
    }

    #[test]
    fn a_tenant_that_asks_without_end_leaves_places_for_others() {
        let mut queue = queue(8, &["a1", "b1"]);
        let refused = std::iter::repeat_with(|| queue.push(&tenant("a"), "a")).find_map(Result::err);
        assert_eq!(refused, Some(("a", NoPlace::Share { held: 6 })));
        assert_eq!(queue.push(&tenant("c1"), "c1"), Ok(()));
    }

    #[test]
    fn what_is_taken_out_leaves_its_places() {
        let mut queue = queue(4, &["a1", "a2", "b1"]);
        let mut out = queue.extract(|item| item.ends_with('1'));
        out.sort_unstable();
        assert_eq!((out, queue.len()), (vec!["a1", "b1"], 1));
        assert_eq!(queue.push(&tenant("b2"), "b2"), Ok(()));
        assert_eq!(served(&mut queue, &[]), ["a2", "b2"]);
        assert_eq!(queue.take_all(), Vec::<&str>::new());
    }
}
