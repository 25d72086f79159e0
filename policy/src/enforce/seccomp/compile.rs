//! From rules to classic BPF.
//!
//! Layout: `arch? → x32? → binary search over numbers → the number's rules in turn → allow`. Jumps within a rule
//! are short; jumps across halves of the search are unconditional ones, whose offset has 32 bits.

use super::trap::Trap;
use crate::sys::seccomp::Instruction;

/// What the filter answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The call goes on.
    Allow,
    /// The call fails with this error number; 0 is success without the call.
    Errno(i32),
    /// The call waits for the observer.
    Observe(Trap),
}

/// A test of one argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// The lower 32 bits equal the value.
    Is(u8, u32),
    /// The lower 32 bits differ from the value.
    IsNot(u8, u32),
    /// The lower 32 bits share a bit with the mask.
    HasAny(u8, u32),
    /// The lower 32 bits, masked, equal the value.
    MaskedIs(u8, u32, u32),
    /// All 64 bits: the argument is not zero.
    NotNull(u8),
}

impl Test {
    /// Whether it holds for these arguments.
    pub fn holds(self, arguments: &[u64; 6]) -> bool {
        let wide = |argument: u8| arguments.get(usize::from(argument)).copied().unwrap_or(0);
        // The lower half is what is compared.
        let word = |argument: u8| (wide(argument) & u64::from(u32::MAX)) as u32;
        match self {
            Test::Is(argument, value) => word(argument) == value,
            Test::IsNot(argument, value) => word(argument) != value,
            Test::HasAny(argument, mask) => word(argument) & mask != 0,
            Test::MaskedIs(argument, mask, value) => word(argument) & mask == value,
            Test::NotNull(argument) => wide(argument) != 0,
        }
    }
}

/// One row of the table: a call, what its arguments must be, the answer, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The call's number.
    pub number: i64,
    /// The call's name.
    pub name: &'static str,
    /// All of these must hold; none means always.
    pub tests: &'static [Test],
    /// The answer when they do.
    pub action: Action,
    /// Why the row is there.
    pub reason: &'static str,
}

const LOAD_WORD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
const JUMP_EQUAL: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const JUMP_AT_LEAST: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const JUMP_ANY_BIT: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const AND: u16 = 0x54; // BPF_ALU | BPF_AND | BPF_K
const RETURN: u16 = 0x06; // BPF_RET | BPF_K

const RET_ALLOW: u32 = 0x7fff_0000;
const RET_ERRNO: u32 = 0x0005_0000;
const RET_USER_NOTIF: u32 = 0x7fc0_0000;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const ARGUMENTS: u32 = 16;

/// Numbers from here on are x32 calls on x86_64 (`__X32_SYSCALL_BIT`).
const X32_BIT: u32 = 0x4000_0000;

#[cfg(target_arch = "x86_64")]
const NATIVE: Option<u32> = Some(0xc000_003e); // AUDIT_ARCH_X86_64
#[cfg(target_arch = "aarch64")]
const NATIVE: Option<u32> = Some(0xc000_00b7); // AUDIT_ARCH_AARCH64
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const NATIVE: Option<u32> = None;

/// Whether there is a filter for the architecture that this was built for.
pub fn is_supported() -> bool {
    NATIVE.is_some()
}

/// Compiles the rules. Rules of one call are tried in their order; a call that no rule answers is allowed.
pub fn compile(rules: &[Rule]) -> Vec<Instruction> {
    let mut numbers: Vec<u32> =
        rules.iter().filter_map(|rule| u32::try_from(rule.number).ok()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let mut filter = vec![
        load(ARCHITECTURE),
        branch(JUMP_EQUAL, NATIVE.unwrap_or(0), 1, 0),
        answer(Action::Errno(libc::EPERM)),
        load(NUMBER),
        branch(JUMP_AT_LEAST, X32_BIT, 0, 1),
        answer(Action::Errno(libc::ENOSYS)),
    ];
    filter.extend(search(&numbers, rules));
    filter
}

/// The code that finds the number, held in the accumulator, among the sorted `numbers` and answers it.
fn search(numbers: &[u32], rules: &[Rule]) -> Vec<Instruction> {
    match numbers {
        [] => vec![answer(Action::Allow)],
        [number] => {
            let mut code = vec![branch(JUMP_EQUAL, *number, 1, 0), answer(Action::Allow)];
            let own = rules.iter().filter(|rule| rule.number == i64::from(*number));
            code.extend(own.flat_map(rule));
            code.push(answer(Action::Allow));
            code
        }
        _ => {
            let (low, high) = numbers.split_at(numbers.len() / 2);
            let below = search(low, rules);
            let mut code = vec![branch(JUMP_AT_LEAST, high[0], 0, 1), jump(below.len())];
            code.extend(below);
            code.extend(search(high, rules));
            code
        }
    }
}

/// The code of one rule: falls through to what follows when a test fails.
fn rule(rule: &Rule) -> Vec<Instruction> {
    let mut code = vec![answer(rule.action)];
    for test in rule.tests.iter().rev() {
        let mut before = test_code(*test, code.len());
        before.append(&mut code);
        code = before;
    }
    code
}

/// The code of one test: skips the next `rest` instructions when it fails. Rules are short, so `rest` fits a byte;
/// a longer one would be caught by the table's own test.
fn test_code(test: Test, rest: usize) -> Vec<Instruction> {
    let rest = u8::try_from(rest).unwrap_or(u8::MAX);
    match test {
        Test::Is(argument, value) => vec![load(low(argument)), branch(JUMP_EQUAL, value, 0, rest)],
        Test::IsNot(argument, value) => {
            vec![load(low(argument)), branch(JUMP_EQUAL, value, rest, 0)]
        }
        Test::HasAny(argument, mask) => {
            vec![load(low(argument)), branch(JUMP_ANY_BIT, mask, 0, rest)]
        }
        Test::MaskedIs(argument, mask, value) => vec![
            load(low(argument)),
            Instruction { code: AND, jt: 0, jf: 0, k: mask },
            branch(JUMP_EQUAL, value, 0, rest),
        ],
        Test::NotNull(argument) => vec![
            load(low(argument)),
            branch(JUMP_EQUAL, 0, 0, 2),
            load(low(argument) + 4),
            branch(JUMP_EQUAL, 0, rest, 0),
        ],
    }
}

/// Both architectures are little-endian: the lower half comes first.
fn low(argument: u8) -> u32 {
    ARGUMENTS + 8 * u32::from(argument)
}

fn load(offset: u32) -> Instruction {
    Instruction { code: LOAD_WORD, jt: 0, jf: 0, k: offset }
}

fn branch(code: u16, k: u32, jt: u8, jf: u8) -> Instruction {
    Instruction { code, jt, jf, k }
}

fn jump(over: usize) -> Instruction {
    Instruction { code: JUMP, jt: 0, jf: 0, k: u32::try_from(over).unwrap_or(u32::MAX) }
}

fn answer(action: Action) -> Instruction {
    let k = match action {
        Action::Allow => RET_ALLOW,
        Action::Errno(number) => RET_ERRNO | number.unsigned_abs(),
        Action::Observe(_) => RET_USER_NOTIF,
    };
    Instruction { code: RETURN, jt: 0, jf: 0, k }
}
