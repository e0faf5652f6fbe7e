//! The possible faults of a run: all, or some by their names.

use crate::step::{ClientFault, ServerFault};

/// A choice of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(Option<Vec<&'static str>>);

impl Faults {
    /// All faults.
    pub const ALL: Self = Self(None);

    /// Only these, by their names.
    ///
    /// # Errors
    /// An unknown name; the error lists all names.
    pub fn only<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let all = || ClientFault::NAMES.iter().chain(ServerFault::NAMES).copied();
        let known = names.into_iter().map(|name| {
            all().find(|known| *known == name).ok_or_else(|| {
                let all: Vec<_> = all().collect();
                format!("there is no fault {name:?}; there are {}", all.join(", "))
            })
        });
        Ok(Self(Some(known.collect::<Result<_, _>>()?)))
    }

    /// Whether a fault with that name may happen.
    #[must_use]
    pub fn allow(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|some| some.contains(&name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_fault_is_an_error_that_lists_what_exists() {
        let error = Faults::only(["crash", "earthquake"]).unwrap_err();
        assert!(
            error.contains("\"earthquake\"") && error.contains("fail-over"),
            "{error}"
        );
        let some = Faults::only(["crash"]).unwrap();
        assert!(some.allow("crash") && !some.allow("pause") && Faults::ALL.allow("pause"));
    }
}
