//! Who holds how many of a bounded number of places, so that no tenant takes them all from the others.
//!
//! As long as only one tenant has ever asked, it may hold every place. From then on each may hold so many times as many as
//! are free ([`TIMES_FREE`]): one alone has three quarters, two that want all have three sevenths each, and there is always
//! something left for whoever comes next. Places that their holders do not need, and can be made to give up, count as free for
//! everybody else.

use std::collections::HashMap;
use std::sync::Arc;

/// On whose behalf. Those without a label count as one tenant.
pub(crate) type Tenant = Option<Arc<str>>;

/// How many times as many places as are free one tenant may hold, where there are others.
const TIMES_FREE: usize = 3;

/// How many of something each tenant has; of tenants that have any.
#[derive(Default)]
pub(crate) struct Tally(HashMap<Tenant, usize>);

impl Tally {
    /// One more.
    pub(crate) fn add(&mut self, tenant: &Tenant) {
        match self.0.get_mut(tenant) {
            Some(count) => *count += 1,
            None => {
                self.0.insert(tenant.clone(), 1);
            }
        }
    }

    /// One less; whether there was one.
    pub(crate) fn remove(&mut self, tenant: &Tenant) -> bool {
        let Some(count) = self.0.get_mut(tenant) else { return false };
        *count -= 1;
        if *count == 0 {
            self.0.remove(tenant);
        }
        true
    }

    /// How many a tenant has.
    pub(crate) fn of(&self, tenant: &Tenant) -> usize {
        self.0.get(tenant).copied().unwrap_or(0)
    }

    /// How many the tenant has that has most.
    pub(crate) fn most(&self) -> usize {
        self.0.values().copied().max().unwrap_or(0)
    }

    /// How many tenants have any.
    fn tenants(&self) -> usize {
        self.0.len()
    }
}

/// See the module.
pub(crate) struct Shares {
    max: usize,
    total: usize,
    held: Tally,
    asked: Asked,
}

/// Who has asked so far.
enum Asked {
    Nobody,
    One(Tenant),
    Several,
}

/// Why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// None is free.
    Full,
    /// Those that are free are for others: the tenant holds so many.
    Share { held: usize },
}

impl Shares {
    pub(crate) fn new(max: usize) -> Self {
        Self { max, total: 0, held: Tally::default(), asked: Asked::Nobody }
    }

    /// Takes a place, if there is one for this tenant.
    pub(crate) fn take(&mut self, tenant: &Tenant) -> Result<(), NoPlace> {
        self.take_beside(tenant, 0)
    }

    /// The same where others hold so many that they do not need.
    pub(crate) fn take_beside(&mut self, tenant: &Tenant, spare: usize) -> Result<(), NoPlace> {
        match &self.asked {
            Asked::Nobody => self.asked = Asked::One(tenant.clone()),
            Asked::One(known) if known != tenant => self.asked = Asked::Several,
            Asked::One(_) | Asked::Several => {}
        }
        if self.total >= self.max {
            return Err(NoPlace::Full);
        }
        if !self.is_within_share(tenant, spare) {
            return Err(NoPlace::Share { held: self.held_by(tenant) });
        }
        self.take_anyway(tenant);
        Ok(())
    }

    /// Whether a tenant may have one more, if it can be had.
    fn is_within_share(&self, tenant: &Tenant, spare: usize) -> bool {
        let free = self.max.saturating_add(spare).saturating_sub(self.total);
        !matches!(self.asked, Asked::Several) || self.held_by(tenant) < free.saturating_mul(TIMES_FREE)
    }

    /// Whether a tenant for whom there is no place may have one that another does not need: within its share, or where it has
    /// less than others have.
    pub(crate) fn may_displace(&self, tenant: &Tenant, spare: usize) -> bool {
        self.is_within_share(tenant, spare) || self.is_below_average(tenant)
    }

    /// Takes a place, whether there is one or not.
    pub(crate) fn take_anyway(&mut self, tenant: &Tenant) {
        self.total += 1;
        self.held.add(tenant);
    }

    /// Gives a place back.
    pub(crate) fn give_back(&mut self, tenant: &Tenant) {
        if self.held.remove(tenant) {
            self.total -= 1;
        }
    }

    /// Places that are taken.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// Places that a tenant holds.
    pub(crate) fn held_by(&self, tenant: &Tenant) -> usize {
        self.held.of(tenant)
    }

    /// Whether a tenant holds less than it would if all that hold some held the same.
    fn is_below_average(&self, tenant: &Tenant) -> bool {
        let held = self.held_by(tenant);
        let tenants = self.held.tenants() + usize::from(held == 0);
        (held + 1).saturating_mul(tenants) <= self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tenant(label: &str) -> Tenant {
        (!label.is_empty()).then(|| label.into())
    }

    /// Takes as many places as there are for a tenant.
    fn fill(shares: &mut Shares, label: &str) -> (usize, NoPlace) {
        let mut taken = 0;
        loop {
            match shares.take(&tenant(label)) {
                Ok(()) => taken += 1,
                Err(why) => return (taken, why),
            }
        }
    }

    #[test]
    fn one_tenant_has_everything_and_of_several_none_has() {
        let cases: [(usize, &[(&str, usize, NoPlace)]); 4] = [
            (8, &[("a", 8, NoPlace::Full), ("a", 0, NoPlace::Full), ("b", 0, NoPlace::Full)]),
            (1, &[("", 1, NoPlace::Full)]),
            (2, &[("", 2, NoPlace::Full)]),
            (0, &[("a", 0, NoPlace::Full)]),
        ];
        for (max, steps) in cases {
            let mut shares = Shares::new(max);
            for (label, taken, why) in steps {
                assert_eq!(fill(&mut shares, label), (*taken, *why), "{label:?} of {max}");
            }
        }
    }

    #[test]
    fn where_there_are_several_each_leaves_something_free() {
        let mut shares = Shares::new(64);
        for label in ["a", "b"] {
            assert_eq!(shares.take(&tenant(label)), Ok(()));
        }
        shares.give_back(&tenant("b"));
        assert_eq!(fill(&mut shares, "a"), (47, NoPlace::Share { held: 48 }), "three quarters with the one before");
        assert_eq!(fill(&mut shares, "b"), (12, NoPlace::Share { held: 12 }));
        assert_eq!(fill(&mut shares, ""), (3, NoPlace::Share { held: 3 }));
        assert_eq!(fill(&mut shares, "c").0, 1);
        // Whoever holds much gets nothing more until it is within its share again.
        for _ in 0..30 {
            shares.give_back(&tenant("a"));
        }
        assert_eq!(shares.total(), 34);
        assert_eq!(fill(&mut shares, "c").0, 23);
    }

    #[test]
    fn places_given_back_by_who_holds_none_count_nowhere() {
        let mut shares = Shares::new(2);
        shares.give_back(&tenant("a"));
        assert_eq!((shares.total(), shares.held_by(&tenant("a"))), (0, 0));
        assert_eq!(shares.take(&tenant("a")), Ok(()));
        assert_eq!((shares.total(), shares.held_by(&tenant("a"))), (1, 1));
    }

    #[test]
    fn what_others_do_not_need_counts_as_free_and_may_be_displaced_within_the_share() {
        let mut shares = Shares::new(8);
        for label in ["b", "b", "b", "b", "a"] {
            assert_eq!(shares.take(&tenant(label)), Ok(()), "{label}");
        }
        let mut spare = 4;
        for held in 1..4 {
            assert_eq!(shares.take_beside(&tenant("a"), spare), Ok(()), "with {held}");
        }
        // It is full; what follows comes from the other, until three quarters are reached.
        for held in 4..6 {
            assert_eq!(shares.take_beside(&tenant("a"), spare), Err(NoPlace::Full), "with {held}");
            assert!(shares.may_displace(&tenant("a"), spare), "with {held}");
            shares.give_back(&tenant("b"));
            shares.take_anyway(&tenant("a"));
            spare -= 1;
        }
        assert!(!shares.may_displace(&tenant("a"), spare));
        assert!(shares.may_displace(&tenant("c"), spare), "who has nothing");
    }

    #[test]
    fn who_holds_less_than_the_others_is_below_average() {
        let mut shares = Shares::new(4);
        for label in ["a", "a", "a", "b"] {
            shares.take_anyway(&tenant(label));
        }
        for (label, below) in [("a", false), ("b", true), ("c", true)] {
            assert_eq!(shares.is_below_average(&tenant(label)), below, "{label}");
        }
        assert!(!Shares::new(0).is_below_average(&tenant("a")));
    }
}
