//! Transcripts played wrongly: lines left out, played twice or too late, with other numbers, with broken
//! bytes. They reach states that random bytes rarely reach, and also test the parser.

use std::{collections::BTreeSet, fs, path::Path};

use fencepost_tests::{
    cases,
    transcript::{Header, Player, Step},
};

/// The most lines that one input may cause: more than in any transcript.
const MOST_LINES: usize = 200;

/// The transcripts: the header and the input lines of each.
pub(crate) struct Stories(Vec<(Header, Vec<String>)>);

impl Stories {
    pub(crate) fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("transcripts");
        let names: BTreeSet<_> = cases::all().iter().map(|case| case.file()).collect();
        let stories = names.into_iter().map(|name| {
            let text = fs::read_to_string(root.join(&name)).unwrap();
            let (header, rest) = text.split_once('\n').unwrap();
            let inputs = rest.lines().filter(|line| line.contains("\"do\":"));
            (
                serde_json::from_str(header).unwrap(),
                inputs.map(ToOwned::to_owned).collect(),
            )
        });
        Self(stories.collect())
    }

    /// Plays one of the transcripts, with the changes that the bytes choose.
    pub(crate) fn tell_wrongly(&self, bytes: &[u8]) {
        let mut bytes = bytes.iter().copied();
        let mut next = || bytes.next().unwrap_or(u8::MAX);
        let which = usize::from(next()) * 256 + usize::from(next());
        let (header, lines) = &self.0[which % self.0.len()];
        let mut player = Player::new(header).unwrap();
        let mut late = None;
        for line in lines {
            match next() {
                0..8 => {}
                8..16 => put(&mut player, line.as_bytes(), 2),
                16..24 => {
                    if let Some(before) = late.replace(line) {
                        put(&mut player, before.as_bytes(), 1);
                    }
                }
                24..44 => put(&mut player, &other_number(line, next(), next()), 1),
                44..52 => {
                    let mut broken = line.clone().into_bytes();
                    let at = usize::from(next()) % broken.len();
                    broken[at] = next();
                    put(&mut player, &broken, 1);
                }
                _ => put(&mut player, line.as_bytes(), 1),
            }
        }
        late.into_iter()
            .for_each(|line| put(&mut player, line.as_bytes(), 1));
        put(&mut player, br#"{"at": 0, "do": "shutdown"}"#, 1);
    }
}

/// Passes a line to the player, if it can be parsed. Does not compare the output: the test only checks that
/// the player ends.
fn put(player: &mut Player, line: &[u8], times: u32) {
    if let Ok(step) = serde_json::from_slice::<Step>(line) {
        for _ in 0..times {
            let said = player.put(&step).unwrap_or_default();
            assert!(said.len() <= MOST_LINES, "{said:?}");
        }
    }
}

/// The line with another digit in one of its numbers.
fn other_number(line: &str, which: u8, digit: u8) -> Vec<u8> {
    let mut line = line.as_bytes().to_vec();
    let digits = line.iter_mut().filter(|byte| byte.is_ascii_digit());
    let mut digits: Vec<_> = digits.collect();
    let count = digits.len().max(1);
    if let Some(byte) = digits.get_mut(usize::from(which) % count) {
        **byte = b'0' + digit % 10;
    }
    line
}
