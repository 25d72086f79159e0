//! The filter is run in an interpreter: each row of the table answers what it says, and nothing else is touched.

use proptest::prelude::*;

use super::*;

const X86_64: u32 = 0xc000_003e;
const NATIVE: u32 = if cfg!(target_arch = "x86_64") { X86_64 } else { 0xc000_00b7 };
const ALLOW: u32 = 0x7fff_0000;
const OBSERVED: u32 = 0x7fc0_0000;

/// Runs classic BPF over `struct seccomp_data`.
fn run(filter: &[Instruction], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend(number.to_le_bytes());
    data.extend(architecture.to_le_bytes());
    data.extend([0u8; 8]);
    arguments.iter().for_each(|argument| data.extend(argument.to_le_bytes()));
    let (mut at, mut a) = (0usize, 0u32);
    loop {
        let Instruction { code, jt, jf, k } = filter[at];
        at += 1;
        let mut branch = |holds: bool| at += usize::from(if holds { jt } else { jf });
        match code {
            0x20 => a = u32::from_le_bytes(data[k as usize..k as usize + 4].try_into().unwrap()),
            0x05 => at += k as usize,
            0x15 => branch(a == k),
            0x35 => branch(a >= k),
            0x45 => branch(a & k != 0),
            0x54 => a &= k,
            0x06 => return k,
            other => panic!("unknown instruction {other:#x}"),
        }
    }
}

fn verdict(filter: &[Instruction], number: i64, arguments: [u64; 6]) -> u32 {
    run(filter, NATIVE, u32::try_from(number).unwrap(), arguments)
}

fn code(action: Action) -> u32 {
    match action {
        Action::Allow => ALLOW,
        Action::Errno(number) => 0x0005_0000 | number.unsigned_abs(),
        Action::Observe(_) => OBSERVED,
    }
}

/// What the table says, read without the compiler.
fn expected(rules: &[Rule], number: i64, arguments: [u64; 6]) -> u32 {
    let number = i32::try_from(number).unwrap();
    let call = TrappedCall { number, arguments, ..TrappedCall::default() };
    decide(rules, &call).map_or(ALLOW, |rule| code(rule.action))
}

fn unobserved(network: Network) -> Selection {
    Selection { network, scoped: true, observer: Observer::Off }
}

fn observed(network: Network) -> Selection {
    Selection { network, scoped: true, observer: Observer::On }
}

fn selections() -> impl Iterator<Item = Selection> {
    let observers = [Observer::On, Observer::WithoutSockets, Observer::Off];
    let kinds =
        observers.into_iter().flat_map(|observer| [true, false].map(|scoped| (observer, scoped)));
    Network::ALL.into_iter().flat_map(move |network| {
        kinds.clone().map(move |(observer, scoped)| Selection { network, scoped, observer })
    })
}

#[test]
fn foreign_architectures_and_x32_numbers_are_refused() {
    let filter = filter(unobserved(Network::Full));
    let i386 = 0x4000_0003;
    assert_eq!(run(&filter, i386, 5, [0; 6]), code(Action::Errno(libc::EPERM)));
    assert_eq!(run(&filter, NATIVE, 0x4000_0000 | 59, [0; 6]), code(Action::Errno(libc::ENOSYS)));
    assert_eq!(run(&filter, NATIVE, u32::MAX, [0; 6]), code(Action::Errno(libc::ENOSYS)));
}

#[test]
fn upper_halves_of_int_arguments_are_noise() {
    let filter = filter(unobserved(Network::Full));
    let refused = code(Action::Errno(libc::EPERM));
    let noise = 0xdead_beef_0000_0000;
    assert_eq!(verdict(&filter, libc::SYS_ioctl, [0, noise | 0x5412, 0, 0, 0, 0]), refused);
    assert_eq!(verdict(&filter, libc::SYS_clone, [noise | 0x1000_0000, 0, 0, 0, 0, 0]), refused);
    assert_eq!(verdict(&filter, libc::SYS_prlimit64, [noise, 7, 1, 0, 0, 0]), ALLOW);
    assert_eq!(verdict(&filter, libc::SYS_prlimit64, [noise | 1, 7, 1 << 40, 0, 0, 0]), refused);
    assert_eq!(verdict(&filter, libc::SYS_prlimit64, [1, 7, 0, 1, 0, 0]), ALLOW);
}

#[test]
fn sockets_follow_the_network() {
    let full = filter(unobserved(Network::Full));
    let none = filter(unobserved(Network::None));
    let (access, family) =
        (code(Action::Errno(libc::EACCES)), code(Action::Errno(libc::EAFNOSUPPORT)));
    let socket = |filter: &[Instruction], family: u64, kind: u64, protocol: u64| {
        verdict(filter, libc::SYS_socket, [family, kind, protocol, 0, 0, 0])
    };
    let pair = |kind: u64| verdict(&none, libc::SYS_socketpair, [1, kind, 0, 0, 0, 0]);
    let cases = [
        (1, 1, 0, access),
        (2, 1, 0, ALLOW),
        (10, 2, 0, ALLOW),
        (16, 3, 0, ALLOW),
        (16, 3, 15, family),
        (40, 1, 0, family),
    ];
    for (domain, kind, protocol, expected) in cases {
        assert_eq!(socket(&full, domain, kind, protocol), expected, "family {domain}");
        assert_eq!(socket(&none, domain, kind, protocol), access, "family {domain}");
    }
    let flags = 0o2_000_000 | 0o4000;
    assert_eq!([1, 1 | flags, 5].map(pair), [ALLOW; 3]);
    assert_eq!([2, 3, 2 | flags].map(pair), [access; 3]);
}

#[test]
fn tracing_is_allowed_only_a_domain_below_the_keeper() {
    for selection in selections() {
        let filter = filter(selection);
        let answer = if selection.scoped { ALLOW } else { code(Action::Errno(libc::EPERM)) };
        assert_eq!(verdict(&filter, libc::SYS_ptrace, [0; 6]), answer);
    }
}

#[test]
fn every_rule_has_a_reason_and_is_reached() {
    for selection in selections() {
        let rules = rules(selection);
        for (index, rule) in rules.iter().enumerate() {
            assert!(!rule.reason.is_empty() && rule.number >= -1, "{}", rule.name);
            let earlier = rules[..index]
                .iter()
                .any(|other| other.number == rule.number && other.tests.is_empty());
            assert!(!earlier, "{} stands behind a rule that always answers", rule.name);
        }
        assert!(filter(selection).len() <= 4096);
    }
}

#[test]
fn the_observer_sees_writing_and_no_reading() {
    let filter = filter(observed(Network::Full));
    let open = |flags: i32| verdict(&filter, libc::SYS_openat, [0, 0, flags as u64, 0, 0, 0]);
    let reads =
        [libc::O_RDONLY, libc::O_DIRECTORY, libc::O_NOFOLLOW | libc::O_CLOEXEC, libc::O_PATH];
    assert_eq!(reads.map(open), [ALLOW; 4]);
    let writes = [
        libc::O_WRONLY,
        libc::O_RDWR,
        libc::O_RDONLY | libc::O_TRUNC,
        libc::O_RDONLY | libc::O_CREAT,
        libc::O_TMPFILE | libc::O_WRONLY,
    ];
    assert_eq!(writes.map(open), [OBSERVED; 5]);
    for call in [
        libc::SYS_read,
        libc::SYS_write,
        libc::SYS_close,
        libc::SYS_execve,
        libc::SYS_wait4,
        libc::SYS_sendmsg,
    ] {
        assert_eq!(verdict(&filter, call, [1; 6]), ALLOW, "call {call}");
    }
}

#[test]
fn with_an_observer_unix_streams_can_be_made_and_datagrams_are_told() {
    for network in [Network::Full, Network::None] {
        let filter = filter(observed(network));
        let socket = |kind: u64| verdict(&filter, libc::SYS_socket, [1, kind, 0, 0, 0, 0]);
        assert_eq!([1, 2, 3, 5].map(socket), [ALLOW, OBSERVED, OBSERVED, ALLOW], "{network}");
        assert_eq!(verdict(&filter, libc::SYS_connect, [3, 1, 16, 0, 0, 0]), OBSERVED);
    }
}

/// A second listener would answer for ours: refused even where nobody listens any more (the kernel answers ENOSYS then).
#[test]
fn no_other_listener_can_be_installed() {
    let filter = filter(observed(Network::Full));
    assert_eq!(verdict(&filter, libc::SYS_seccomp, [1, 1 << 3, 0, 0, 0, 0]), OBSERVED);
    let rules = rules(observed(Network::Full));
    let call =
        TrappedCall { number: 317, arguments: [1, 1 << 3, 0, 0, 0, 0], ..TrappedCall::default() };
    let refused = Action::Observe(trap::Trap::Refused(libc::EPERM));
    #[cfg(target_arch = "x86_64")]
    assert_eq!(decide(&rules, &call).map(|rule| rule.action), Some(refused));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn the_filter_says_what_the_table_says(
        number in 0i64..480,
        small in proptest::array::uniform6(0u64..20),
        wide in any::<[u64; 6]>(),
        mix in any::<[bool; 6]>(),
    ) {
        let arguments = std::array::from_fn(|index| if mix[index] { wide[index] } else { small[index] });
        for selection in selections() {
            prop_assert_eq!(
                verdict(&filter(selection), number, arguments),
                expected(&rules(selection), number, arguments)
            );
        }
    }
}
