//! Which addresses a network service may reach.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::config::AddressRules;

/// Parsed rules: an address is let through when one of `allow` matches it and none of `deny` does.
#[derive(Clone, Debug)]
pub(super) struct Addresses {
    allow: Vec<Rule>,
    deny: Vec<Rule>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The machine itself.
    Local,
    /// Networks that are not routed on the Internet, the machine itself among them.
    Private,
    Public,
    /// Any IP address.
    Network,
    /// Unix sockets, which no URL names.
    Unix,
    Block {
        base: IpAddr,
        prefix: u8,
    },
}

impl Addresses {
    /// Reads rules; the error names the one that is none.
    pub(super) fn new(rules: &AddressRules) -> Result<Self, String> {
        let parse = |list: &[String]| list.iter().map(|rule| Rule::parse(rule)).collect::<Result<Vec<_>, _>>();
        Ok(Self { allow: parse(&rules.allow)?, deny: parse(&rules.deny)? })
    }

    pub(super) fn permit(&self, address: IpAddr) -> bool {
        let address = canonical(address);
        let any = |rules: &[Rule]| rules.iter().any(|rule| rule.matches(address));
        any(&self.allow) && !any(&self.deny)
    }
}

/// An IPv4 address that is written as IPv6 is the IPv4 address.
fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

impl Rule {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(match text {
            "local" => Self::Local,
            "private" => Self::Private,
            "public" => Self::Public,
            "network" => Self::Network,
            "unix" | "unix-abstract" => Self::Unix,
            block => {
                let bad = || format!("\"{block}\" is neither a CIDR block nor a known group of addresses.");
                let (base, prefix) = block.split_once('/').ok_or_else(bad)?;
                let base: IpAddr = base.parse().map_err(|_| bad())?;
                let prefix: u8 = prefix.parse().map_err(|_| bad())?;
                let longest = if base.is_ipv4() { 32 } else { 128 };
                if prefix > longest {
                    return Err(bad());
                }
                Self::Block { base, prefix }
            }
        })
    }

    fn matches(self, address: IpAddr) -> bool {
        match self {
            Self::Network => true,
            Self::Unix => false,
            Self::Local => is_local(address),
            Self::Private => is_private(address),
            Self::Public => !is_private(address),
            Self::Block { base: IpAddr::V4(base), prefix } => match address {
                IpAddr::V4(address) => {
                    same_prefix(u128::from(base.to_bits()), u128::from(address.to_bits()), 32, prefix)
                }
                IpAddr::V6(_) => false,
            },
            Self::Block { base: IpAddr::V6(base), prefix } => match address {
                IpAddr::V6(address) => same_prefix(base.to_bits(), address.to_bits(), 128, prefix),
                IpAddr::V4(_) => false,
            },
        }
    }
}

fn same_prefix(a: u128, b: u128, width: u32, prefix: u8) -> bool {
    let rest = width - u32::from(prefix);
    // Shifting by the whole width is not defined, and a prefix of nothing matches everything.
    a.checked_shr(rest) == b.checked_shr(rest)
}

fn is_local(address: IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified()
}

fn is_private(address: IpAddr) -> bool {
    is_local(address)
        || match address {
            IpAddr::V4(v4) => is_private_v4(v4),
            IpAddr::V6(v6) => is_private_v6(v6),
        }
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    let octets = address.octets();
    address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_multicast()
        || octets[0] == 0
        // Shared address space of carriers; protocol assignments; benchmarks; reserved.
        || (octets[0] == 100 && octets[1] & 0xc0 == 64)
        || (octets[0] == 192 && octets[1] == 0 && octets[2] == 0)
        || (octets[0] == 198 && octets[1] & 0xfe == 18)
        || octets[0] >= 240
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    address.is_unique_local() || address.is_unicast_link_local() || address.is_multicast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_decide_over_addresses() {
        let cases: &[(&[&str], &[&str], &str, bool)] = &[
            (&["public"], &[], "93.184.216.34", true),
            (&["public"], &[], "127.0.0.1", false),
            (&["public"], &[], "::ffff:127.0.0.1", false),
            (&["public"], &[], "10.1.2.3", false),
            (&["public"], &[], "169.254.169.254", false),
            (&["public"], &[], "100.64.0.1", false),
            (&["public"], &[], "0.0.0.0", false),
            (&["public"], &[], "fd00::1", false),
            (&["public"], &[], "2606:4700::1", true),
            (&["private"], &[], "192.168.0.1", true),
            (&["private"], &[], "::1", true),
            (&["local"], &[], "192.168.0.1", false),
            (&["network"], &["10.0.0.0/8"], "10.200.0.1", false),
            (&["network"], &["10.0.0.0/8"], "11.0.0.1", true),
            (&["2001:db8::/32"], &[], "2001:db8:1::1", true),
            (&["0.0.0.0/0"], &[], "8.8.8.8", true),
            (&["::/0"], &[], "2001:db8::1", true),
            (&["unix"], &[], "8.8.8.8", false),
        ];
        for (allow, deny, address, permitted) in cases {
            let strings = |list: &[&str]| list.iter().map(|rule| (*rule).to_owned()).collect();
            let rules = AddressRules { allow: strings(allow), deny: strings(deny) };
            let addresses = Addresses::new(&rules).expect("rules");
            assert_eq!(
                addresses.permit(address.parse().expect("an address")),
                *permitted,
                "{allow:?} {deny:?} {address}"
            );
        }
        for bad in ["", "10.0.0.0", "10.0.0.0/33", "everything"] {
            assert!(Rule::parse(bad).is_err(), "{bad}");
        }
    }
}
