//! Numbers that a seed repeats (xorshift64*, Vigna 2016).

/// A source of them.
pub(crate) struct Random(u64);

impl Random {
    /// The one of this seed.
    pub(crate) fn of(seed: u64) -> Random {
        // Zero is the one state that it does not leave.
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    /// One from `from` to `to`, both included.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.next() % (to - from + 1)
    }

    /// Whether something happens that does in so many of a hundred cases.
    pub(crate) fn in_percent(&mut self, percent: u64) -> bool {
        self.between(1, 100) <= percent
    }

    /// One of these.
    pub(crate) fn one_of<T: Copy>(&mut self, those: &[T]) -> T {
        let last = those.len() as u64 - 1;
        those[usize::try_from(self.between(0, last)).expect("an index fits")]
    }
}
