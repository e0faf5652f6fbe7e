//! The properties by name.

/// A property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the table of the module above says what they are")]
pub enum Property {
    S1,
    S2,
    S3,
    S4,
    S5,
    S7,
    S8,
    S9,
    L1,
    L2,
    L3,
    D,
}

impl Property {
    /// The property with that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        const ALL: [Property; 12] = [
            Property::S1,
            Property::S2,
            Property::S3,
            Property::S4,
            Property::S5,
            Property::S7,
            Property::S8,
            Property::S9,
            Property::L1,
            Property::L2,
            Property::L3,
            Property::D,
        ];
        ALL.into_iter().find(|property| format!("{property:?}") == name)
    }

    /// The text of the promise.
    #[must_use]
    pub const fn promise(self) -> &'static str {
        match self {
            Self::S1 => "never two grants at once that exclude each other",
            Self::S2 => "fences grow from exclusive grant to exclusive grant",
            Self::S3 => "a client that believes in its grant has it on the server",
            Self::S4 => "a resource accepts no write that is older than one it has accepted",
            Self::S5 => "no client touches the node or key of another",
            Self::S7 => "no panic, no unreasonable error, no endless output",
            Self::S8 => "nothing is left behind",
            Self::S9 => "the answer of an inspection is true",
            Self::L1 => "every waiter is granted in turn",
            Self::L2 => "a release wakes one waiter, or one group of readers",
            Self::L3 => "a revocation request reaches the holder",
            Self::D => "an acquire ends when its timeout expires",
        }
    }
}
