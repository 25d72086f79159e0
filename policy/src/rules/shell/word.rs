//! Words, as far as they are known before anything runs.

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::rules) struct Word {
    /// Its text after the removal of quotes, where no part of it is expanded.
    known: Option<String>,
    /// What follows the last slash, where that much is known.
    base: Option<String>,
    /// Whether it may become no word or several: an expansion outside of quotes, a pattern, braces.
    pub(in crate::rules) splits: bool,
    /// Whether every character stands for itself, so that it can be a reserved word.
    pub(super) is_plain: bool,
    /// Whether it begins with `name=`, `name+=` or `name[…]=`.
    pub(in crate::rules) is_assignment: bool,
}

impl Word {
    /// A word that is known in full.
    pub(in crate::rules) fn of(text: &str) -> Word {
        let mut builder = Builder::default();
        text.bytes().for_each(|byte| builder.push(byte));
        let is_assignment = is_assignment(text.as_bytes());
        Word { is_assignment, is_plain: false, ..builder.build() }
    }

    /// A word of which nothing is known.
    pub(in crate::rules) fn unknown() -> Word {
        Word { known: None, base: None, splits: false, is_plain: false, is_assignment: false }
    }

    /// Its text, where it is known.
    pub(in crate::rules) fn literal(&self) -> Option<&str> {
        self.known.as_deref()
    }

    /// The name of the program that it would be, where it is known.
    pub(in crate::rules) fn base_name(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// It for people.
    pub(in crate::rules) fn told(&self) -> String {
        match (&self.known, &self.base) {
            (Some(text), _) => text.clone(),
            (None, Some(base)) => format!("…/{base}"),
            (None, None) => "…".to_owned(),
        }
    }

    /// Whether it is this reserved word.
    pub(super) fn is_reserved(&self, word: &str) -> bool {
        self.is_plain && self.literal() == Some(word)
    }
}

/// A word that is being read.
#[derive(Debug)]
pub(super) struct Builder {
    text: Vec<u8>,
    tail: Option<Vec<u8>>,
    is_known: bool,
    splits: bool,
    is_plain: bool,
}

/// Whether an expansion stands within quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// It does, and is one word or a part of one.
    Quoted,
    /// It does not, and may become any number of words.
    Bare,
}

impl Default for Builder {
    fn default() -> Self {
        // All of a word without a slash is its base name.
        let tail = Some(Vec::new());
        Builder { text: Vec::new(), tail, is_known: true, splits: false, is_plain: true }
    }
}

impl Builder {
    /// A byte that stands for itself.
    pub(super) fn push(&mut self, byte: u8) {
        self.text.push(byte);
        match (byte, &mut self.tail) {
            (b'/', tail) => *tail = Some(Vec::new()),
            (byte, Some(tail)) => tail.push(byte),
            (_, None) => {}
        }
    }

    /// Something was quoted.
    pub(super) fn quoted(&mut self) {
        self.is_plain = false;
    }

    /// Something that is expanded when the word is.
    pub(super) fn expanded(&mut self, quoting: Quoting) {
        (self.is_known, self.is_plain, self.tail) = (false, false, None);
        self.splits |= quoting == Quoting::Bare;
    }

    /// The word, of which this is the raw text.
    pub(super) fn word(self, raw: &[u8]) -> Word {
        Word { is_assignment: is_assignment(raw), ..self.build() }
    }

    pub(super) fn build(self) -> Word {
        let Builder { text, tail, is_known, splits, is_plain } = self;
        let lossy = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let base = tail.filter(|_| !splits).map(lossy);
        let known = is_known.then(|| lossy(text));
        Word { known, base, splits, is_plain, is_assignment: false }
    }
}

/// Whether the raw text of a word is an assignment (bash(1), "PARAMETERS").
pub(super) fn is_assignment(raw: &[u8]) -> bool {
    let name = raw.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if name == 0 || raw[0].is_ascii_digit() {
        return false;
    }
    match &raw[name..] {
        [b'=', ..] | [b'+', b'=', ..] => true,
        // Where the subscript ends is not looked for: a word that is none is no program's name either.
        [b'[', rest @ ..] => {
            rest.windows(2).any(|pair| pair == b"]=")
                || rest.windows(3).any(|three| three == b"]+=")
        }
        _ => false,
    }
}
