//! Which addresses are on the public internet: a pure function over tables. A name is judged by what it resolves to, so
//! there are no names here.
//!
//! The tables follow IANA's registries of special-purpose addresses (RFC 6890 and its updates), with multicast, and with what
//! clouds serve to their machines. A mapped address is IPv4's by another name, and NAT64's well-known prefix is how a network without
//! IPv4 reaches it: both are judged by the IPv4 address that they carry. Every other way from IPv6 to IPv4 is refused whole, whatever
//! it carries: no page is served by one, and where it ends is some relay's choice.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// Why an address is none of the public internet's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reserved {
    /// No address, or this network's hosts.
    Unspecified,
    /// This machine.
    Loopback,
    /// A private network (RFC 1918), or a unique local one (RFC 4193).
    Private,
    /// The same link.
    LinkLocal,
    /// What a cloud tells its machines, credentials included.
    Metadata,
    /// A carrier's own network (RFC 6598).
    Shared,
    /// Several at once.
    Multicast,
    /// Everybody.
    Broadcast,
    /// Examples.
    Documentation,
    /// Measurements between devices.
    Benchmarking,
    /// A protocol's own, or nobody's yet.
    Special,
}

impl fmt::Display for Reserved {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Reserved::Unspecified => "an unspecified address",
            Reserved::Loopback => "a loopback address",
            Reserved::Private => "a private address",
            Reserved::LinkLocal => "a link-local address",
            Reserved::Metadata => "the address of a cloud's metadata service",
            Reserved::Shared => "an address of a carrier's shared range",
            Reserved::Multicast => "a multicast address",
            Reserved::Broadcast => "the broadcast address",
            Reserved::Documentation => "an address for documentation",
            Reserved::Benchmarking => "an address for benchmarking",
            Reserved::Special => "an address for special purposes",
        })
    }
}

/// The first row that matches counts.
const V4: [([u8; 4], u32, Reserved); 19] = [
    ([0, 0, 0, 0], 8, Reserved::Unspecified),
    ([10, 0, 0, 0], 8, Reserved::Private),
    ([100, 100, 100, 200], 32, Reserved::Metadata),
    ([100, 64, 0, 0], 10, Reserved::Shared),
    ([127, 0, 0, 0], 8, Reserved::Loopback),
    ([169, 254, 169, 254], 32, Reserved::Metadata),
    ([169, 254, 170, 2], 32, Reserved::Metadata),
    ([169, 254, 0, 0], 16, Reserved::LinkLocal),
    ([168, 63, 129, 16], 32, Reserved::Metadata),
    ([172, 16, 0, 0], 12, Reserved::Private),
    ([192, 168, 0, 0], 16, Reserved::Private),
    ([192, 0, 2, 0], 24, Reserved::Documentation),
    ([198, 51, 100, 0], 24, Reserved::Documentation),
    ([203, 0, 113, 0], 24, Reserved::Documentation),
    ([192, 0, 0, 0], 24, Reserved::Special),
    ([192, 88, 99, 0], 24, Reserved::Special),
    ([198, 18, 0, 0], 15, Reserved::Benchmarking),
    ([224, 0, 0, 0], 4, Reserved::Multicast),
    ([255, 255, 255, 255], 32, Reserved::Broadcast),
];

/// The first row that matches counts. What none names and is not in 2000::/3 is nobody's.
const V6: [([u16; 8], u32, Reserved); 18] = [
    ([0, 0, 0, 0, 0, 0, 0, 0], 128, Reserved::Unspecified),
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, Reserved::Loopback),
    // IPv4-compatible, which RFC 4291 gave up.
    ([0, 0, 0, 0, 0, 0, 0, 0], 96, Reserved::Special),
    ([0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254], 128, Reserved::Metadata),
    ([0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254], 128, Reserved::Metadata),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Reserved::Private),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Reserved::LinkLocal),
    // Site-local, which RFC 3879 gave up and networks may still use.
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Reserved::Private),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Reserved::Multicast),
    ([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32, Reserved::Documentation),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Reserved::Documentation),
    ([0x2001, 0x0002, 0, 0, 0, 0, 0, 0], 48, Reserved::Benchmarking),
    ([0x0100, 0, 0, 0, 0, 0, 0, 0], 64, Reserved::Special),
    // Locally-used NAT64 (RFC 8215): where the IPv4 address stands is the network's choice.
    ([0x0064, 0xff9b, 0x0001, 0, 0, 0, 0, 0], 48, Reserved::Special),
    ([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, Reserved::Special),
    // IPv4-translated (RFC 7915).
    ([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, Reserved::Special),
    // Protocol assignments, Teredo among them. Some can be reached (AS112, ORCHIDv2); pages are on none.
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Reserved::Special),
    // 6to4, whose relays RFC 7526 gave up.
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Reserved::Special),
];

/// Why this address is not the public internet's; `None` where it is.
pub fn reserved(address: IpAddr) -> Option<Reserved> {
    match address {
        IpAddr::V4(address) => reserved_v4(address),
        IpAddr::V6(address) => reserved_v6(address),
    }
}

fn reserved_v4(address: Ipv4Addr) -> Option<Reserved> {
    let bits = address.to_bits();
    let is_in = |network: [u8; 4], prefix: u32| {
        (bits ^ Ipv4Addr::from(network).to_bits()).checked_shr(32 - prefix).unwrap_or(0) == 0
    };
    let row = V4.iter().find(|(network, prefix, _)| is_in(*network, *prefix));
    // 240.0.0.0/4 is kept for later, and the last of it is the broadcast address.
    let later = (bits >> 28 == 0xf).then_some(Reserved::Special);
    row.map(|(_, _, why)| *why).or(later)
}

fn reserved_v6(address: Ipv6Addr) -> Option<Reserved> {
    let bits = address.to_bits();
    let is_in = |network: [u16; 8], prefix: u32| {
        (bits ^ Ipv6Addr::from(network).to_bits()).checked_shr(128 - prefix).unwrap_or(0) == 0
    };
    if let Some(carried) = carried(address) {
        return reserved_v4(carried);
    }
    let row = V6.iter().find(|(network, prefix, _)| is_in(*network, *prefix));
    // What an interface of ISATAP's is called (RFC 5214), below any prefix.
    let is_isatap = matches!(address.segments(), [_, _, _, _, 0 | 0x0200, 0x5efe, _, _]);
    let other = (bits >> 125 != 0b001 || is_isatap).then_some(Reserved::Special);
    row.map(|(_, _, why)| *why).or(other)
}

/// The IPv4 address that an IPv6 address stands for.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        // Mapped, NAT64 (RFC 6052).
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Option<Reserved> {
        reserved(text.parse().unwrap())
    }

    #[test]
    fn every_range_is_refused_from_its_first_address_to_its_last() {
        use Reserved::*;
        let ranges = [
            ("0.0.0.0", "0.255.255.255", Unspecified),
            ("10.0.0.0", "10.255.255.255", Private),
            ("100.64.0.0", "100.127.255.255", Shared),
            ("127.0.0.0", "127.255.255.255", Loopback),
            ("169.254.0.0", "169.254.255.255", LinkLocal),
            ("172.16.0.0", "172.31.255.255", Private),
            ("192.168.0.0", "192.168.255.255", Private),
            ("192.0.0.0", "192.0.0.255", Special),
            ("192.0.2.0", "192.0.2.255", Documentation),
            ("192.88.99.0", "192.88.99.255", Special),
            ("198.51.100.0", "198.51.100.255", Documentation),
            ("203.0.113.0", "203.0.113.255", Documentation),
            ("198.18.0.0", "198.19.255.255", Benchmarking),
            ("224.0.0.0", "239.255.255.255", Multicast),
            ("240.0.0.0", "255.255.255.254", Special),
            ("255.255.255.255", "255.255.255.255", Broadcast),
            ("169.254.169.254", "169.254.169.254", Metadata),
            ("169.254.170.2", "169.254.170.2", Metadata),
            ("100.100.100.200", "100.100.100.200", Metadata),
            ("168.63.129.16", "168.63.129.16", Metadata),
            ("::", "::", Unspecified),
            ("::1", "::1", Loopback),
            ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private),
            ("fd00:ec2::254", "fd20:ce::254", Metadata),
            ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", LinkLocal),
            ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Private),
            ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Multicast),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", Documentation),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", Documentation),
            ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", Benchmarking),
            ("2001:1::", "2001:1:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2001:2:1::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("::2", "::ffff:ffff", Special),
            ("::ffff:0:0:0", "::ffff:0:ffff:ffff", Special),
            ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("2606:4700::5efe:0:0", "2606:4700::5efe:ffff:ffff", Special),
            ("2606:4700::200:5efe:0:0", "2606:4700::200:5efe:ffff:ffff", Special),
            ("100::", "100::ffff:ffff:ffff:ffff", Special),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", Special),
            ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
            ("4000::", "fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Special),
        ];
        for (first, last, why) in ranges {
            assert_eq!((of(first), of(last)), (Some(why), Some(why)), "{first} to {last}");
        }
    }

    #[test]
    fn what_stands_beside_a_range_is_public() {
        let public = [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "192.0.1.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "8.8.8.8",
            "2000::1",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "2001:db7:ffff::1",
            "2001:200::1",
            "2003::1",
            "2606:4700::5eff:808:808",
            "2606:4700::100:5efe:808:808",
        ];
        for address in public {
            assert_eq!(of(address), None, "{address}");
        }
    }

    #[test]
    fn an_address_by_another_name_is_judged_by_what_it_carries() {
        use Reserved::*;
        let carriers = [
            ("::ffff:127.0.0.1", Some(Loopback)),
            ("::ffff:169.254.169.254", Some(Metadata)),
            ("::ffff:8.8.8.8", None),
            ("64:ff9b::10.1.2.3", Some(Private)),
            ("64:ff9b::169.254.169.254", Some(Metadata)),
            ("64:ff9b::8.8.8.8", None),
        ];
        for (address, why) in carriers {
            assert_eq!(of(address), why, "{address}");
        }
    }

    #[test]
    fn a_way_to_another_address_is_refused_whatever_it_carries() {
        use Reserved::*;
        let ways = [
            ("::1.1.1.1", Special),
            ("::127.0.0.1", Special),
            ("::ffff:0:8.8.8.8", Special),
            ("::ffff:0:10.0.0.1", Special),
            ("64:ff9b:1::8.8.8.8", Special),
            ("2002:101:101::1", Special),
            ("2002:7f00:1::1", Special),
            // Teredo, with 8.8.8.8 as server and as client, whose bits are turned.
            ("2001:0:808:808::f7f7:f7f7", Special),
            // ISATAP.
            ("2606:4700::5efe:8.8.8.8", Special),
            ("2606:4700::200:5efe:10.0.0.1", Special),
            ("2001:db8::5efe:8.8.8.8", Documentation),
            ("fe80::5efe:8.8.8.8", LinkLocal),
        ];
        for (address, why) in ways {
            assert_eq!(of(address), Some(why), "{address}");
        }
    }
}
