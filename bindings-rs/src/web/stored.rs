//! The stored response: its bytes, and its replay.

use bytes::Bytes;
use http::{
    HeaderName, HeaderValue, Method, Response, StatusCode,
    header::{self, CONTENT_LENGTH},
};
use http_body::Body as _;

use super::{body::Body, form::trimmed};
use crate::Record;

/// The tag of a stored response.
pub(super) const TAG: &str = "http-response:1";

/// The response headers that are stored.
pub(super) const STORED_HEADERS: [HeaderName; 12] = [
    header::CACHE_CONTROL,
    header::CONTENT_DISPOSITION,
    header::CONTENT_ENCODING,
    header::CONTENT_LANGUAGE,
    header::CONTENT_LOCATION,
    header::CONTENT_TYPE,
    header::ETAG,
    header::EXPIRES,
    header::LAST_MODIFIED,
    header::LINK,
    header::LOCATION,
    header::VARY,
];
/// The response headers that are never stored, even if the program names them.
pub(super) const NEVER_STORED: [&str; 16] = [
    "connection",
    "content-length",
    "date",
    "idempotency-stored",
    "idempotent-replayed",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-connection",
    "server",
    "set-cookie",
    "set-cookie2",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");
/// The header of a response whose body is not stored.
pub(super) const STORED: HeaderName = HeaderName::from_static("idempotency-stored");
pub(super) const FALSE: HeaderValue = HeaderValue::from_static("false");

/// The result of the record of a response. `names` are the headers that are stored.
pub(super) fn encode<'a>(
    status: u16,
    headers: impl Iterator<Item = (&'a str, &'a [u8])>,
    body: &[u8],
    names: &[HeaderName],
) -> Vec<u8> {
    let mut result = format!("{status}\n").into_bytes();
    for (name, value) in headers {
        let is_stored = names
            .iter()
            .any(|stored| stored.as_str().eq_ignore_ascii_case(name));
        if is_stored && !value.iter().any(|byte| matches!(byte, b'\n' | b'\r' | 0)) {
            result.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
            result.extend(b": ");
            result.extend(trimmed(value));
            result.push(b'\n');
        }
    }
    result.push(b'\n');
    result.extend(body);
    result
}

/// The result of the record of a response whose body is not stored.
pub(super) fn encode_status(status: u16) -> Vec<u8> {
    format!("{status} status-only\n\n").into_bytes()
}

/// The replay of the response in a record, for a request with this method; `None` if the record has no response.
pub(super) fn replay(record: &Record, method: &Method) -> Option<Response<Body>> {
    let mut response = (record.tag == TAG).then(|| decode(&record.result))??;
    // The length would be that of the response to GET, which is not stored.
    if *method == Method::HEAD && response.body().is_end_stream() {
        response.headers_mut().remove(CONTENT_LENGTH);
        *response.body_mut() = Body::of_unknown_size();
    }
    Some(response)
}

/// The replay of a stored response; `None` if the bytes are not from [`encode`] or [`encode_status`].
pub(super) fn decode(result: &[u8]) -> Option<Response<Body>> {
    let (line, mut rest) = line_of(result)?;
    let (status, is_alone) = match line.strip_suffix(b" status-only") {
        Some(status) => (status, true),
        None => (line, false),
    };
    let status = StatusCode::from_bytes(status).ok()?;
    if !(200..600).contains(&status.as_u16()) {
        return None;
    }
    let mut response = Response::new(Body::default());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    loop {
        let (line, after) = line_of(rest)?;
        rest = after;
        if line.is_empty() {
            break;
        }
        let (name, value) = header_of(line)?;
        headers.append(name, value);
    }
    if is_alone && !(headers.is_empty() && rest.is_empty()) {
        return None;
    }
    headers.insert(REPLAYED, HeaderValue::from_static("true"));
    if is_alone {
        headers.insert(STORED, FALSE);
    }
    if !matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        headers.insert(CONTENT_LENGTH, rest.len().into());
    }
    *response.body_mut() = Body::whole(Bytes::copy_from_slice(rest));
    Some(response)
}

/// The first line, and the rest.
fn line_of(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    Some((&text[..end], &text[end + 1..]))
}

fn header_of(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let colon = line.windows(2).position(|pair| pair == b": ")?;
    let (name, value) = (&line[..colon], &line[colon + 2..]);
    let name = HeaderName::from_lowercase(name).ok()?;
    let is_sound = value == trimmed(value);
    is_sound.then(|| Some((name, HeaderValue::from_bytes(value).ok()?)))?
}
