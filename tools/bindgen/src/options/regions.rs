//! Generated regions in hand-written files.

use super::Result;

/// The text with new lines in its region `name`.
pub(super) fn replace(text: &str, name: &str, lines: &[String]) -> Result<String> {
    let marker = format!("bindgen: {name}");
    let is_marker =
        |line: &str, marker: &str| line.trim_end_matches(['-', '>', '*', '/', ' ']).ends_with(marker);
    let mut written = String::new();
    let mut rest = text.lines();
    let mut found = false;
    while let Some(line) = rest.next() {
        written += line;
        written += "\n";
        if !is_marker(line, &marker) {
            continue;
        }
        found = true;
        for line in lines {
            written += line.trim_end();
            written += "\n";
        }
        let end = rest.find(|line| is_marker(line, "bindgen: end"));
        written += end.ok_or("a region has no `bindgen: end`")?;
        written += "\n";
    }
    if found {
        Ok(written)
    } else {
        Err(format!("no line has `{marker}`"))
    }
}

/// Wraps words, so that no line is longer than `width` with `first` before the first line and `next` before the others.
pub(super) fn wrap(text: &str, width: usize, first: &str, next: &str) -> Vec<String> {
    let mut lines = vec![first.to_owned()];
    for word in text.split_whitespace() {
        let is_empty = lines.len() == 1 && lines[0] == first || lines.last().is_some_and(|line| line == next);
        let last = lines.last_mut().expect("there is a first line");
        if !is_empty && last.chars().count() + 1 + word.chars().count() > width {
            lines.push(format!("{next}{word}"));
        } else {
            if !is_empty {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
