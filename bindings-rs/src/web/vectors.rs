//! Tests with the examples of `tests/http.json`.

use core::time::Duration;

use http::{HeaderName, Response};
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::{
    answers::{self, Answer, End, Problem, retry_after},
    body::Body,
    form::{Fingerprints, binding_of, key_of, record_key, route_of, token_in, token_key, token_of},
    stored::{NEVER_STORED, STORED_HEADERS, decode, encode, encode_status},
};

/// The examples of one kind.
fn examples(of: &str) -> Vec<Value> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/http.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let examples = all[of].as_array().unwrap().clone();
    assert!(!examples.is_empty(), "{of}");
    examples
}

/// A text in UTF-8.
fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Converts each character of a text to one byte.
fn bytes(value: &Value) -> Vec<u8> {
    text(value)
        .chars()
        .map(|each| u8::try_from(each).unwrap())
        .collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The names and values of headers, and the body.
async fn parts(response: Response<Body>) -> (u16, Vec<(String, Vec<u8>)>, Vec<u8>) {
    let (parts, body) = response.into_parts();
    let headers = parts.headers.iter();
    let headers = headers.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()));
    let body = body.collect().await.unwrap().to_bytes().to_vec();
    (parts.status.as_u16(), headers.collect(), body)
}

/// The headers of an example.
fn headers(value: &Value) -> Vec<(String, Vec<u8>)> {
    let headers = value.as_array().unwrap().iter();
    headers
        .map(|header| (text(&header[0]).to_owned(), bytes(&header[1])))
        .collect()
}

#[test]
fn keys() {
    for example in examples("keys") {
        let lines: Vec<_> = example["lines"].as_array().unwrap().iter().map(bytes).collect();
        let lines: Vec<_> = lines.iter().map(Vec::as_slice).collect();
        assert_eq!(key_of(&lines).as_deref(), example["key"].as_str(), "{example}");
    }
    for example in examples("record_keys") {
        let key = record_key(text(&example["tenant"]), text(&example["key"]));
        assert_eq!(key, text(&example["record_key"]));
    }
}

#[test]
fn tokens() {
    for example in examples("tokens") {
        let token = token_of(&bytes(&example["token"]));
        assert_eq!(token.is_some(), example["valid"] == true, "{example}");
        if let Some(token) = token {
            assert_eq!(token_key(&token), text(&example["record_key"]));
        }
    }
    for example in examples("forms") {
        let token = example["token"].as_str().map(|_| bytes(&example["token"]));
        assert_eq!(token_in(&bytes(&example["body"])), token, "{example}");
    }
    for example in examples("bindings") {
        assert_eq!(
            hex(&binding_of(text(&example["tenant"]))),
            text(&example["binding"])
        );
    }
}

#[test]
fn fingerprints() {
    for example in examples("routes") {
        assert_eq!(
            route_of(text(&example["path"])),
            bytes(&example["route"]),
            "{example}"
        );
    }
    for example in examples("fingerprints") {
        let made = Fingerprints::new(&bytes(&example["secret"])).unwrap().of(
            &bytes(&example["method"]),
            &bytes(&example["route"]),
            &bytes(&example["query"]),
            &bytes(&example["body"]),
        );
        assert_eq!(hex(&made), text(&example["fingerprint"]), "{example}");
    }
}

#[test]
fn stored_responses() {
    for example in examples("responses") {
        let status = u16::try_from(example["status"].as_u64().unwrap()).unwrap();
        let mut names = STORED_HEADERS.to_vec();
        for name in example["stored_headers"].as_array().into_iter().flatten() {
            names.push(HeaderName::from_bytes(&bytes(name)).unwrap());
        }
        let headers = headers(&example["headers"]);
        let headers = headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()));
        let whole = encode(status, headers, &bytes(&example["body"]), &names);
        let most = example["max_result"].as_u64().unwrap_or(u64::MAX);
        let stored = if whole.len() as u64 <= most {
            whole
        } else {
            encode_status(status)
        };
        assert_eq!(stored, bytes(&example["stored"]), "{example}");
    }
    let default: Vec<_> = STORED_HEADERS.iter().map(HeaderName::as_str).collect();
    assert_eq!(examples("default_headers"), default);
    for name in examples("forbidden_headers") {
        let name = HeaderName::from_bytes(text(&name).as_bytes());
        assert!(name.is_err() || NEVER_STORED.contains(&name.unwrap().as_str()));
    }
}

#[tokio::test]
async fn replays() {
    for example in examples("replays") {
        let replay = decode(&bytes(&example["stored"])).unwrap_or_else(|| panic!("{example}"));
        let (status, found, body) = parts(replay).await;
        assert_eq!(Value::from(status), example["status"]);
        assert_eq!(found, headers(&example["headers"]), "{example}");
        assert_eq!(body, bytes(&example["body"]));
    }
    for example in examples("corrupt") {
        assert!(decode(&bytes(&example)).is_none(), "{example}");
    }
}

#[test]
fn ends() {
    let of = |name: &Value| match text(name) {
        "complete" => End::Complete,
        "release" => End::Release,
        "leave" => End::Leave,
        other => panic!("{other}"),
    };
    for example in examples("ends") {
        let given = example["ends"].as_object().into_iter().flatten();
        let ends: Vec<_> = given
            .map(|(status, end)| (status.parse().unwrap(), of(end)))
            .collect();
        let status = example["status"].to_string().parse().unwrap();
        assert_eq!(End::of(status, &ends), of(&example["end"]), "{example}");
    }
    for example in examples("retry_after") {
        let rest = example["seconds"].as_f64().map(Duration::from_secs_f64);
        assert_eq!(
            Value::from(retry_after(rest)),
            example["retry_after"],
            "{example}"
        );
    }
}

#[tokio::test]
async fn problems() {
    const PROBLEMS: [&Problem; 9] = [
        &answers::KEY_MISSING,
        &answers::KEY_MALFORMED,
        &answers::IN_PROGRESS,
        &answers::INDETERMINATE,
        &answers::BODY_TOO_LARGE,
        &answers::MISMATCH,
        &answers::UNKNOWN_TOKEN,
        &answers::CORRUPT_RECORD,
        &answers::STORE_UNAVAILABLE,
    ];
    let examples = examples("problems");
    assert_eq!(examples.len(), PROBLEMS.len());
    for (problem, example) in PROBLEMS.iter().zip(examples) {
        let (status, found, body) = parts(Answer::Problem(problem).response()).await;
        assert_eq!(Value::from(status), example["status"]);
        assert_eq!(found, headers(&example["headers"]), "{example}");
        assert_eq!(String::from_utf8(body).unwrap(), text(&example["body"]));
    }
}
