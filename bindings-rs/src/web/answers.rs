//! The responses of the layer itself, and the end of the claim for each status of the handler.

use core::time::Duration;

use bytes::Bytes;
use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER},
};

use super::body::Body;

/// The `Retry-After` of a running operation whose lease is not known, in seconds.
const UNKNOWN_WAIT: u64 = 30;

/// How a response ends the claim of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The response is the result: a retry gets it.
    Complete,
    /// The handler had no effect: a retry runs it.
    Release,
    /// The outcome is unknown: the scope's [policy](crate::IdempotencyOptions::on_lease_end) decides what a retry gets.
    Leave,
}

impl End {
    /// The end for a status. `ends` are the program's exceptions; the last one counts.
    pub(super) fn of(status: StatusCode, ends: &[(StatusCode, Self)]) -> Self {
        if let Some((_, given)) = ends.iter().rev().find(|(of, _)| *of == status) {
            return *given;
        }
        match status.as_u16() {
            307 | 308 | 401 | 403 | 409 | 425 | 429 => Self::Release,
            // A status below 200 is not final, and cannot be stored. The layer has the whole request before the handler
            // runs, so a 408 means that a timeout (of tower-http, for example) has ended the handler before its end.
            0..200 | 408 | 500.. => Self::Leave,
            _ => Self::Complete,
        }
    }
}

/// A response of the layer itself.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer {
    Problem(&'static Problem),
    /// The operation is running. The duration is its remaining lease, if known.
    InProgress(Option<Duration>),
    /// Only a status.
    Status(StatusCode),
}

impl Answer {
    /// The response to an error of the program.
    pub(super) const FAILED: Self = Self::Status(StatusCode::INTERNAL_SERVER_ERROR);

    pub(super) fn response(self) -> Response<Body> {
        match self {
            Self::Problem(problem) => problem.response(),
            Self::InProgress(rest) => {
                let mut response = IN_PROGRESS.response();
                let wait = retry_after(rest);
                response.headers_mut().insert(RETRY_AFTER, wait.into());
                response
            }
            Self::Status(status) => {
                let mut response = Response::new(Body::default());
                *response.status_mut() = status;
                response
            }
        }
    }
}

/// The `Retry-After` of an operation whose lease ends after so long, in seconds.
pub(super) fn retry_after(rest: Option<Duration>) -> u64 {
    rest.map_or(UNKNOWN_WAIT, |rest| {
        let part = u64::from(rest.subsec_nanos() > 0);
        rest.as_secs().saturating_add(part).max(1)
    })
}

/// A problem document (RFC 9457).
#[derive(Debug)]
pub(super) struct Problem {
    name: &'static str,
    status: StatusCode,
    title: &'static str,
    detail: &'static str,
}

impl Problem {
    fn response(&self) -> Response<Body> {
        let Self {
            name,
            status,
            title,
            detail,
        } = self;
        let code = status.as_u16();
        let document = format!(
            r#"{{"type":"urn:fencepost:http:{name}","title":"{title}","status":{code},"detail":"{detail}"}}"#
        );
        json(*status, "application/problem+json", document)
    }
}

/// A JSON document that no cache keeps.
pub(super) fn json(status: StatusCode, content_type: &'static str, document: String) -> Response<Body> {
    let length = document.len();
    let mut response = Response::new(Body::whole(Bytes::from(document)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(CONTENT_LENGTH, length.into());
    response
}

pub(super) static KEY_MISSING: Problem = Problem {
    name: "key-missing",
    status: StatusCode::BAD_REQUEST,
    title: "Idempotency-Key is missing",
    detail: "Send the header Idempotency-Key: a new key for each operation, and the same key for each retry.",
};
pub(super) static KEY_MALFORMED: Problem = Problem {
    name: "key-malformed",
    status: StatusCode::BAD_REQUEST,
    title: "Idempotency-Key is malformed",
    detail: "Send one key of 1 to 255 ASCII characters: a quoted string, or a bare one without spaces, quotation marks, backslashes, commas and semicolons.",
};
pub(super) static IN_PROGRESS: Problem = Problem {
    name: "in-progress",
    status: StatusCode::CONFLICT,
    title: "The operation is in progress",
    detail: "Another request with this key is being processed. Retry with the same key later.",
};
pub(super) static INDETERMINATE: Problem = Problem {
    name: "indeterminate",
    status: StatusCode::CONFLICT,
    title: "The outcome is unknown",
    detail: "An earlier request with this key ended without a result. It may have taken effect, so it is not processed again. Find out what happened.",
};
pub(super) static BODY_TOO_LARGE: Problem = Problem {
    name: "body-too-large",
    status: StatusCode::PAYLOAD_TOO_LARGE,
    title: "The request body is too large",
    detail: "The server does not accept a body of this size with a key. The request was not processed.",
};
pub(super) static MISMATCH: Problem = Problem {
    name: "mismatch",
    status: StatusCode::UNPROCESSABLE_ENTITY,
    title: "The key belongs to another request",
    detail: "A request with this key had another method, path, query, body or session. Use a new key for each operation.",
};
pub(super) static UNKNOWN_TOKEN: Problem = Problem {
    name: "unknown-token",
    status: StatusCode::UNPROCESSABLE_ENTITY,
    title: "The form has expired",
    detail: "The token was never issued, or it has expired. Load the form again.",
};
pub(super) static CORRUPT_RECORD: Problem = Problem {
    name: "corrupt-record",
    status: StatusCode::INTERNAL_SERVER_ERROR,
    title: "The record cannot be read",
    detail: "The stored record of this key cannot be read. The request was not processed.",
};
pub(super) static STORE_UNAVAILABLE: Problem = Problem {
    name: "store-unavailable",
    status: StatusCode::SERVICE_UNAVAILABLE,
    title: "The store is unavailable",
    detail: "The keys cannot be checked now. The request was not processed. Retry with the same key.",
};
