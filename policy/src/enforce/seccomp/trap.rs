//! What the observer is told of a call that the filter hands to it: where its arguments stand, and what they mean.

/// An argument that holds a word, or a word that the call implies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The argument of this number.
    Argument(u8),
    /// Always this.
    Fixed(u32),
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folder {
    /// In the caller's working directory.
    Current,
    /// In the folder whose descriptor is this argument.
    Argument(u8),
}

/// A path of a call: the folder in which it begins, and the argument that points to its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Where it begins.
    pub folder: Folder,
    /// The argument.
    pub path: u8,
}

/// A file whose metadata a call changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Behind a path; the flags are `AT_SYMLINK_NOFOLLOW` and `AT_EMPTY_PATH` (openat(2)).
    Path(Place, Word),
    /// Behind a descriptor.
    Descriptor(u8),
}

/// Where the times of a change stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Two numbers of seconds (utime(2)).
    Seconds(u8),
    /// Two pairs of seconds and microseconds (utimes(2)).
    Microseconds(u8),
    /// Two pairs of seconds and nanoseconds (utimensat(2)).
    Nanoseconds(u8),
}

/// A change of metadata.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The mode, in this argument.
    Mode(u8),
    /// Owner and group, in these arguments.
    Owner(u8, u8),
    /// The times.
    Times(Times),
    /// Sets an extended attribute: its name, its value, the value's length, flags.
    SetAttribute {
        /// Argument that points to the name.
        name: u8,
        /// Argument that points to the value.
        value: u8,
        /// Argument with the value's length.
        size: u8,
        /// Argument with the flags of setxattr(2).
        flags: u8,
    },
    /// Sets an extended attribute whose value, length and flags stand in a structure (setxattrat(2)).
    SetAttributeBy {
        /// Argument that points to the name.
        name: u8,
        /// Argument that points to the structure.
        arguments: u8,
        /// Argument with its size.
        size: u8,
    },
    /// Removes the extended attribute whose name this argument points to.
    RemoveAttribute(u8),
}

/// A call that the observer looks into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    /// Opens for writing, or makes a file (open(2)).
    Open(Place, Word),
    /// Cuts a file off (truncate(2)).
    Truncate(Place),
    /// Makes a folder.
    MakeFolder(Place),
    /// Makes what the mode in the second argument says (mknod(2)).
    MakeNode(Place, u8),
    /// Makes a symbolic link.
    MakeLink(Place),
    /// Removes a name; the flags say whether a folder's (`AT_REMOVEDIR`).
    Remove(Place, Word),
    /// Renames; the flags are renameat2(2)'s.
    Rename(Place, Place, Word),
    /// Links; the flags are linkat(2)'s.
    Link(Place, Place, Word),
    /// Gives the socket in argument 0 the address behind argument 1: a path makes a file.
    Bind,
    /// Changes metadata, on the caller's behalf.
    Change(Target, Change),
    /// Connects the socket in argument 0 to the address behind argument 1, on the caller's behalf.
    Connect,
    /// Makes a datagram socket of the Unix family, or a pair.
    Datagram,
    /// Sends a signal (kill(2)).
    Signal,
    /// Changes limits or scheduling of the process whose number is in this argument.
    Process(u8),
    /// Confines itself further (landlock_restrict_self(2)).
    Confine,
    /// Refused in any case, with this error number.
    Refused(i32),
}
