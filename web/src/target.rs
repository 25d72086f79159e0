//! What a URL must be, and which reserved addresses are allowed all the same. Where its host leads is for `resolve` to find.

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use crate::fault::UrlFault;

/// Bytes of a URL that is taken, from wherever.
const LONGEST: usize = 8192;

/// `host:port` pairs that may be reached although their addresses are reserved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Allowance(Vec<String>);

impl Allowance {
    /// These pairs, each as the configuration writes it. They are read as the hosts of URLs are, so that spellings of one are one; what is no
    /// host with a port permits nothing.
    pub fn new(pairs: Vec<String>) -> Self {
        let canonical = |pair: &String| {
            let (host, port) = pair.rsplit_once(':')?;
            Some(host_and_port(&Host::parse(host).ok()?, port.parse().ok()?))
        };
        Allowance(pairs.iter().filter_map(canonical).collect())
    }

    /// Whether exactly this host and port are among them.
    pub fn permits(&self, target: &Target) -> bool {
        self.0.contains(&target.host_and_port())
    }
}

/// An IPv6 address stands in brackets, the dot that ends a name is left out.
fn host_and_port(host: &Host, port: u16) -> String {
    let host = host.to_string();
    format!("{}:{port}", host.strip_suffix('.').unwrap_or(&host))
}

/// A URL that may be asked for, if its addresses may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    url: Url,
    host: Host,
    port: u16,
}

impl Target {
    /// Reads a URL.
    ///
    /// # Errors
    /// See [`UrlFault`].
    pub fn parse(text: &str) -> Result<Self, UrlFault> {
        let text = text.trim();
        if text.len() > LONGEST {
            return Err(UrlFault::Long { longest: LONGEST });
        }
        let url = Url::parse(text).map_err(|error| match error {
            url::ParseError::RelativeUrlWithoutBase => UrlFault::Relative,
            other => UrlFault::Malformed { reason: other.to_string() },
        })?;
        Target::of(url)
    }

    /// Where a `Location` leads from here.
    ///
    /// # Errors
    /// See [`UrlFault`].
    pub fn join(&self, location: &str) -> Result<Self, UrlFault> {
        let location = location.trim();
        if location.len() > LONGEST {
            return Err(UrlFault::Long { longest: LONGEST });
        }
        let joined = self.url.join(location);
        Target::of(joined.map_err(|error| UrlFault::Malformed { reason: error.to_string() })?)
    }

    fn of(mut url: Url) -> Result<Self, UrlFault> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlFault::Scheme { scheme: url.scheme().to_owned() });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlFault::Credentials);
        }
        url.set_fragment(None);
        // What is encoded takes three times the room.
        if url.as_str().len() > LONGEST {
            return Err(UrlFault::Long { longest: LONGEST });
        }
        let host = url.host().map(|host| host.to_owned()).ok_or(UrlFault::NoHost)?;
        let port = url.port_or_known_default().ok_or(UrlFault::NoHost)?;
        Ok(Target { url, host, port })
    }

    /// The whole URL, without a fragment.
    pub fn as_str(&self) -> &str {
        self.url.as_str()
    }

    /// The URL.
    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// Its host.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Host and port, as the configuration writes them.
    pub(crate) fn host_and_port(&self) -> String {
        host_and_port(&self.host, self.port)
    }

    /// Whether both have one host, whatever their ports.
    pub(crate) fn is_beside(&self, other: &Target) -> bool {
        self.host == other.host
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_as_browsers_read_them() {
        let spelled = [
            ("http://2130706433/", "127.0.0.1:80"),
            ("http://0x7f.1/", "127.0.0.1:80"),
            ("http://0177.0.0.1:8080/", "127.0.0.1:8080"),
            ("http://127.1/", "127.0.0.1:80"),
            ("http://127.0.0.1./", "127.0.0.1:80"),
            ("http://１２７.0.0.1/", "127.0.0.1:80"),
            ("http://[::FFFF:7f00:1]/", "[::ffff:7f00:1]:80"),
            ("https://Example.COM./x", "example.com:443"),
            ("http:\\\\example.com\\x", "example.com:80"),
            ("https://bücher.example/", "xn--bcher-kva.example:443"),
        ];
        for (text, wanted) in spelled {
            assert_eq!(Target::parse(text).unwrap().host_and_port(), wanted, "{text}");
        }
    }

    #[test]
    fn what_is_no_page_of_the_web_is_refused_with_its_reason() {
        let malformed = |reason: &str| UrlFault::Malformed { reason: reason.to_owned() };
        let scheme = |scheme: &str| UrlFault::Scheme { scheme: scheme.to_owned() };
        let refused = [
            ("file:///etc/passwd", scheme("file")),
            ("ftp://example.com/", scheme("ftp")),
            ("javascript:alert(1)", scheme("javascript")),
            ("data:text/html,x", scheme("data")),
            ("/page", UrlFault::Relative),
            ("example.com/page", UrlFault::Relative),
            ("", UrlFault::Relative),
            ("http://", malformed("empty host")),
            ("http://a b/", malformed("invalid international domain name")),
            ("http://256.256.256.256/", malformed("invalid IPv4 address")),
            ("http://me@example.com/", UrlFault::Credentials),
            ("http://me:secret@example.com/", UrlFault::Credentials),
        ];
        for (text, fault) in refused {
            assert_eq!(Target::parse(text).unwrap_err(), fault, "{text}");
        }
        let long = format!("http://example.com/{}", "x".repeat(LONGEST));
        assert_eq!(Target::parse(&long).unwrap_err(), UrlFault::Long { longest: LONGEST });
        let encoded = format!("http://example.com/{}", "ä".repeat(LONGEST / 4));
        assert_eq!(Target::parse(&encoded).unwrap_err(), UrlFault::Long { longest: LONGEST });
    }

    #[test]
    fn an_allowance_is_one_host_and_one_port() {
        let allowed = Allowance::new(vec![
            "127.0.0.1:8080".into(),
            "Wiki.example:443".into(),
            "[::1]:80".into(),
        ]);
        let permits = |url: &str| allowed.permits(&Target::parse(url).unwrap());
        assert!(permits("http://127.0.0.1:8080/x"));
        assert!(permits("http://0x7f000001:8080/"));
        assert!(permits("https://wiki.example/"));
        assert!(permits("https://wiki.example./"));
        assert!(permits("http://[0:0::1]/"));
        assert!(!permits("http://127.0.0.1/"));
        assert!(!permits("http://127.0.0.1:8081/"));
        assert!(!permits("http://127.0.0.2:8080/"));
        assert!(!permits("http://wiki.example/"));
        assert!(!permits("https://a.wiki.example/"));
    }

    #[test]
    fn an_allowance_is_the_host_that_it_spells() {
        let pairs = [
            ("[0:0::1]:80", "http://[::1]/"),
            ("[::FFFF:127.0.0.1]:80", "http://[::ffff:7f00:1]/"),
            ("bücher.example:443", "https://xn--bcher-kva.example/"),
            ("XN--bcher-kva.example:443", "https://bücher.example/"),
            ("a.example.:443", "https://a.example/"),
            ("a.example:443", "https://a.example./"),
            ("127.1:80", "http://127.0.0.1/"),
        ];
        for (pair, url) in pairs {
            let allowed = Allowance::new(vec![pair.to_owned()]);
            assert!(allowed.permits(&Target::parse(url).unwrap()), "{pair}");
        }
        for pair in ["::1:80", "a.example", "a.example:", "u@a.example:80", "a.example/x:80", ":80"]
        {
            assert_eq!(Allowance::new(vec![pair.to_owned()]), Allowance::default(), "{pair}");
        }
    }

    #[test]
    fn a_location_is_read_from_where_it_was_found() {
        let from = Target::parse("http://a.example/x/y?q#f").unwrap();
        let joined = |location: &str| from.join(location).map(|target| target.as_str().to_owned());
        assert_eq!(joined("z"), Ok("http://a.example/x/z".to_owned()));
        assert_eq!(joined("//b.example/z"), Ok("http://b.example/z".to_owned()));
        assert_eq!(joined("file:///etc"), Err(UrlFault::Scheme { scheme: "file".to_owned() }));
        let long = Err(UrlFault::Long { longest: LONGEST });
        assert_eq!(joined(&"z".repeat(LONGEST)), long);
        assert_eq!(joined(&format!("{}:x", "z".repeat(LONGEST))), long);
        assert!(from.is_beside(&from.join("https://a.example:8443/").unwrap()));
        assert!(!from.is_beside(&from.join("//a.example.net/").unwrap()));
    }
}
