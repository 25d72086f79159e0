//! From a host to addresses that may be connected to. Resolved once: what was judged here is what is connected to, so that a
//! name that answers differently the next time changes nothing.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs as _};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use url::Host;

use crate::address::reserved;
use crate::fault::PageFault;
use crate::target::{Allowance, Target};

/// Addresses of a name that are tried.
const MOST: usize = 16;

/// Addresses that were judged, of one host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judged(Vec<SocketAddr>);

impl Judged {
    pub(crate) fn addresses(&self) -> &[SocketAddr] {
        &self.0
    }
}

/// Resolves and judges. A name of which one address is reserved is refused as a whole: it is not asked again until another
/// one comes first.
///
/// # Errors
/// [`PageFault::Name`], [`PageFault::Refused`].
pub(crate) fn resolve(
    target: &Target,
    allowed: &Allowance,
    until: Instant,
) -> Result<Judged, PageFault> {
    let addresses = match target.host() {
        Host::Ipv4(address) => vec![SocketAddr::from((*address, target.port()))],
        Host::Ipv6(address) => vec![SocketAddr::from((*address, target.port()))],
        Host::Domain(name) => look_up(name, target.port(), until)?,
    };
    judge(target, allowed, addresses)
}

fn judge(
    target: &Target,
    allowed: &Allowance,
    addresses: Vec<SocketAddr>,
) -> Result<Judged, PageFault> {
    if !allowed.permits(target) {
        let refused = |address: IpAddr| reserved(address).map(|why| (address, why));
        if let Some((address, why)) = addresses.iter().find_map(|at| refused(at.ip())) {
            return Err(PageFault::Refused { host: target.host_and_port(), address, why });
        }
    }
    Ok(Judged(addresses))
}

/// The resolver takes no deadline, so it is asked on a thread of its own, which may outlive the question.
fn look_up(name: &str, port: u16, until: Instant) -> Result<Vec<SocketAddr>, PageFault> {
    let (told, answer) = mpsc::sync_channel(1);
    let asked = name.to_owned();
    let fault = |reason: String| PageFault::Name { host: name.to_owned(), reason };
    let ask = move || {
        let found = (asked.as_str(), port).to_socket_addrs();
        // Nobody may be listening by now.
        told.send(found.map(|found| found.take(MOST).collect::<Vec<_>>())).ok();
    };
    thread::Builder::new().spawn(ask).map_err(|error| fault(error.to_string()))?;
    let left = until.saturating_duration_since(Instant::now());
    match answer.recv_timeout(left.max(Duration::from_millis(1))) {
        Ok(Ok(found)) if found.is_empty() => Err(fault("it has no address".to_owned())),
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(fault(error.to_string())),
        Err(_) => Err(fault("the resolver did not answer in time".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Reserved;

    fn judged(url: &str, allowed: &[&str], addresses: &[&str]) -> Result<usize, PageFault> {
        let target = Target::parse(url).unwrap();
        let allowed = Allowance::new(allowed.iter().map(|pair| (*pair).to_owned()).collect());
        let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
        judge(&target, &allowed, addresses).map(|judged| judged.addresses().len())
    }

    #[test]
    fn one_reserved_address_refuses_a_name() {
        let refused = |address: &str, why| {
            Err(PageFault::Refused {
                host: "a.example:80".to_owned(),
                address: address.parse().unwrap(),
                why,
            })
        };
        let url = "http://a.example/";
        assert_eq!(judged(url, &[], &["8.8.8.8:80", "[2606:4700::1]:80"]), Ok(2));
        let mixed = ["8.8.8.8:80", "127.0.0.1:80"];
        assert_eq!(judged(url, &[], &mixed), refused("127.0.0.1", Reserved::Loopback));
        assert_eq!(judged(url, &["a.example:80"], &mixed), Ok(2));
        assert_eq!(
            judged(url, &["127.0.0.1:80"], &mixed),
            refused("127.0.0.1", Reserved::Loopback)
        );
    }

    #[test]
    fn an_address_needs_no_resolver() {
        let until = Instant::now();
        let of = |url: &str| resolve(&Target::parse(url).unwrap(), &Allowance::default(), until);
        assert_eq!(of("http://8.8.8.8:81/").unwrap().addresses(), ["8.8.8.8:81".parse().unwrap()]);
        assert!(matches!(
            of("http://[::ffff:10.0.0.1]/").unwrap_err(),
            PageFault::Refused { why: Reserved::Private, .. }
        ));
    }

    #[test]
    fn this_machine_by_its_name_is_this_machine() {
        let target = Target::parse("http://localhost:9/").unwrap();
        let until = Instant::now() + Duration::from_secs(10);
        assert!(matches!(
            resolve(&target, &Allowance::default(), until).unwrap_err(),
            PageFault::Refused { why: Reserved::Loopback, .. }
        ));
    }
}
