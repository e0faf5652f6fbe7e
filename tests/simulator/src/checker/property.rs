//! The properties by name.

use fencepost_tests::transcript::promise;

/// A property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(missing_docs, reason = "tests/transcripts/promises.json has their texts")]
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
    ///
    /// # Panics
    /// Never: each property is in the table of promises.
    #[must_use]
    pub fn promise(self) -> &'static str {
        promise(&format!("{self:?}")).expect("each property is in the table of promises")
    }
}
