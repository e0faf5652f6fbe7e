//! Short texts. The standard library's search prepares itself for long ones: that takes longer than finding a mark in a node's name, and
//! weighs a fiftieth of the WebAssembly module.

/// Where a part of a text begins.
pub(crate) fn find(text: &str, part: &str) -> Option<usize> {
    let last = text.len().checked_sub(part.len())?;
    (0..=last).find(|at| is_at(text, *at, part))
}

/// A whole number. All but fences are read here, and not by a reader of its own for every type: each weighs as much as the search.
#[inline(never)]
#[must_use]
pub(crate) fn whole(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn is_at(text: &str, at: usize, part: &str) -> bool {
    let rest = text.as_bytes().get(at..);
    rest.is_some_and(|rest| rest.starts_with(part.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_what_the_standard_library_finds() {
        let texts = [
            "",
            "a",
            "ab",
            "aab",
            "abab-ab",
            "_c_1-lock-lock-7",
            "ünïcode-ü-",
            "üü",
        ];
        for text in texts {
            for part in ["", "a", "ab", "lock-", "-", "ü", "ü-", "longer than all"] {
                assert_eq!(find(text, part), text.find(part), "{text} {part}");
            }
        }
    }
}
