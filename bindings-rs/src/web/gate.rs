//! Claims the operation of a request, or finds the response for a request that does not run.

use alloc::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{
    HeaderMap, HeaderName, Method, Request, Response, StatusCode,
    header::{CONTENT_LENGTH, CONTENT_TYPE},
    request::Parts,
};
use http_body::Body as _;
use http_body_util::{BodyExt as _, LengthLimitError};

use super::{
    answers::{self, Answer},
    body::{Body, BodyError},
    form::{Fingerprints, binding_of, key_of, record_key, route_of, token_in, token_key, token_of},
    settings::Settings,
    stored,
    tokens::{check_tenant, issue_token},
};
use crate::{Claim, Claimed, ConfigError, Error, Refusal};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const TOKEN: HeaderName = HeaderName::from_static("idempotency-token");
const URLENCODED: &str = "application/x-www-form-urlencoded";
const GRPC: &str = "application/grpc";

/// The decision about a request.
pub(super) enum Entry {
    /// Runs the handler without a claim.
    Pass(Request<Body>),
    /// Runs the handler without protection, because the store is unavailable.
    Unprotected(Request<Body>),
    /// Runs the handler with a claim.
    Run(Claim, Request<Body>),
    Answer(Response<Body>),
}

/// The key or token of a request.
enum Named {
    Key(String),
    Token(String),
}

impl Settings {
    /// Decides about a request, up to its claim.
    pub(super) async fn enter(&self, request: Request<Body>) -> Entry {
        let entry = self.admit(request).await;
        entry.unwrap_or_else(|answer| Entry::Answer(answer.response()))
    }

    async fn admit(&self, request: Request<Body>) -> Result<Entry, Answer> {
        let (parts, body) = request.into_parts();
        if parts.extensions.get::<Arc<Claim>>().is_some() {
            // The program has put this layer around the handler twice.
            return Ok(Entry::Pass(Request::from_parts(parts, body)));
        }
        let uri = (self.original_uri)(&parts).unwrap_or_else(|| parts.uri.clone());
        let route = route_of(uri.path());
        if parts.method == Method::POST && self.token_path.as_ref() == Some(&route) {
            return self.issue(&parts).await;
        }
        if !self.methods.contains(&parts.method) || !(self.covers)(&parts) {
            return Ok(Entry::Pass(Request::from_parts(parts, body)));
        }
        // Only the body shows whether a form has a token.
        let has_form = self.has_tokens && !parts.headers.contains_key(TOKEN) && is_form(&parts.headers);
        let mut named = None;
        if !has_form {
            named = self.named(&parts.headers, None)?;
            if named.is_none() {
                return Ok(Entry::Pass(Request::from_parts(parts, body)));
            }
        }
        check_kind(&parts.headers).map_err(|error| self.failed(&error))?;
        let body = self.read(&parts.headers, body).await?;
        if has_form {
            named = self.named(&parts.headers, token_in(&body))?;
        }
        let Some(named) = named else {
            return Ok(Entry::Pass(Request::from_parts(parts, Body::whole(body))));
        };
        let tenant = self.tenant(&parts)?;
        let query = uri.query().unwrap_or_default();
        let method = parts.method.as_str().as_bytes();
        let fingerprint = |of: &Fingerprints| of.of(method, &route, query.as_bytes(), &body);
        let claimed = self.claim(&named, &tenant, fingerprint).await;
        let request = Request::from_parts(parts, Body::whole(body));
        match claimed {
            Ok(Claimed::Run(claim)) => Ok(Entry::Run(claim, request)),
            Ok(Claimed::Replayed(record)) => match stored::replay(&record, request.method()) {
                Some(response) => Ok(Entry::Answer(response)),
                None => Err(Answer::Problem(&answers::CORRUPT_RECORD)),
            },
            Err(error) => match answer_to(&error) {
                Refused::Answer(answer) => Err(answer),
                Refused::StoreAway if self.fails_open => {
                    self.report("the handler runs without a claim", &error);
                    Ok(Entry::Unprotected(request))
                }
                refused => Err(self.refuse("a request was refused", &error, &refused)),
            },
        }
    }

    /// Issues a form token.
    async fn issue(&self, parts: &Parts) -> Result<Entry, Answer> {
        let tenant = self.tenant(parts)?;
        let token = match issue_token(&self.operations, &tenant).await {
            Ok(token) => token,
            Err(error) => return Err(self.refuse("no token was issued", &error, &answer_to(&error))),
        };
        let document = format!(r#"{{"token":"{token}"}}"#);
        let response = answers::json(StatusCode::CREATED, "application/json", document);
        Ok(Entry::Answer(response))
    }

    fn tenant(&self, parts: &Parts) -> Result<String, Answer> {
        let tenant = (self.scope)(parts).unwrap_or_default();
        check_tenant(&tenant).map_err(|error| self.failed(&error))?;
        Ok(tenant)
    }

    /// Reports an error of the program, and returns the response to the request.
    fn failed(&self, error: &Error) -> Answer {
        self.report("a request was refused", error);
        Answer::FAILED
    }

    /// The key or token of a request. `token` was in its body. `None` means that the request passes through.
    fn named(&self, headers: &HeaderMap, token: Option<Vec<u8>>) -> Result<Option<Named>, Answer> {
        let in_header = self.has_tokens.then(|| lines(headers, &TOKEN));
        let in_header = in_header.filter(|lines| !lines.is_empty());
        if let Some(token) = in_header.map(|lines| lines.join(&b", "[..])).or(token) {
            let token = token_of(&token).ok_or(Answer::Problem(&answers::UNKNOWN_TOKEN))?;
            return Ok(Some(Named::Token(token)));
        }
        let lines = lines(headers, &KEY);
        if lines.is_empty() {
            return match self.is_required {
                true => Err(Answer::Problem(&answers::KEY_MISSING)),
                false => Ok(None),
            };
        }
        let key = key_of(&lines).ok_or(Answer::Problem(&answers::KEY_MALFORMED))?;
        Ok(Some(Named::Key(key)))
    }

    /// Reads the body.
    async fn read(&self, headers: &HeaderMap, mut body: Body) -> Result<Bytes, Answer> {
        const TOO_LARGE: Answer = Answer::Problem(&answers::BODY_TOO_LARGE);
        let most = self.max_body as u64;
        let announced = length_of(headers).unwrap_or_default();
        if announced.max(body.size_hint().lower()) > most {
            return Err(TOO_LARGE);
        }
        let mut whole = BytesMut::new();
        while let Some(frame) = body.frame().await {
            // A client that disconnects early gets no response. An outer layer may have a limit, too.
            let frame = frame.map_err(|error| match is_limit(&error) {
                true => TOO_LARGE,
                false => Answer::Status(StatusCode::BAD_REQUEST),
            })?;
            let data = frame.into_data().unwrap_or_default();
            if (whole.len() + data.len()) as u64 > most {
                return Err(TOO_LARGE);
            }
            whole.extend_from_slice(&data);
        }
        Ok(whole.freeze())
    }

    /// Claims with the present secret, and after a mismatch with older ones.
    async fn claim(
        &self,
        named: &Named,
        tenant: &str,
        fingerprint: impl Fn(&Fingerprints) -> [u8; 32],
    ) -> Result<Claimed, Error> {
        let (key, binding) = match named {
            Named::Key(key) => (record_key(tenant, key), None),
            Named::Token(token) => (token_key(token), Some(binding_of(tenant))),
        };
        let binding = binding.as_ref().map(|binding| &binding[..]);
        let (mut secret, mut older) = (&self.fingerprints, self.older_fingerprints.iter());
        loop {
            let claimed = self
                .operations
                .claim_request(&key, binding, &fingerprint(secret), self.wait)
                .await;
            let is_mismatch = |error: &Error| matches!(error, Error::Refused(refused) if refused.reason() == Refusal::Mismatch);
            match older.next() {
                Some(next) if claimed.as_ref().is_err_and(is_mismatch) => secret = next,
                _ => return claimed,
            }
        }
    }

    /// Returns the response to a refused request, and reports the reason.
    fn refuse(&self, what: &str, error: &Error, refused: &Refused) -> Answer {
        match refused {
            Refused::Answer(answer) => *answer,
            Refused::StoreAway => {
                self.report(what, error);
                Answer::Problem(&answers::STORE_UNAVAILABLE)
            }
            Refused::Failed => {
                self.report(what, error);
                Answer::FAILED
            }
        }
    }
}

/// The kind of a failed claim.
enum Refused {
    Answer(Answer),
    StoreAway,
    /// An error of the program.
    Failed,
}

fn answer_to(error: &Error) -> Refused {
    let refused = match error {
        Error::Refused(refused) => refused,
        Error::Lost(_) => return Refused::StoreAway,
        _ => return Refused::Failed,
    };
    let problem = match refused.reason() {
        Refusal::Timeout | Refusal::NotAvailable | Refusal::InProgress => {
            return Refused::Answer(Answer::InProgress(refused.retry_after()));
        }
        Refusal::Mismatch => &answers::MISMATCH,
        Refusal::Indeterminate => &answers::INDETERMINATE,
        Refusal::UnknownToken => &answers::UNKNOWN_TOKEN,
        Refusal::CorruptRecord => &answers::CORRUPT_RECORD,
        _ => return Refused::StoreAway,
    };
    Refused::Answer(Answer::Problem(problem))
}

/// The lines of a header.
fn lines<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Vec<&'a [u8]> {
    let values = headers.get_all(name).into_iter();
    values.map(http::HeaderValue::as_bytes).collect()
}

/// The value of `Content-Length`.
pub(super) fn length_of(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn is_form(headers: &HeaderMap) -> bool {
    kind_of(headers).is_some_and(|kind| kind.eq_ignore_ascii_case(URLENCODED))
}

/// The media type of a body.
fn kind_of(headers: &HeaderMap) -> Option<&str> {
    let given = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    Some(given.split(';').next()?.trim())
}

/// Refuses gRPC, and gRPC-Web. The status of such a call is in trailers, or in a special header. A record stores
/// neither: a failed call would count as done, and no retry would get a status.
fn check_kind(headers: &HeaderMap) -> Result<(), Error> {
    let kind = kind_of(headers).unwrap_or_default();
    if kind
        .get(..GRPC.len())
        .is_none_or(|start| !start.eq_ignore_ascii_case(GRPC))
    {
        return Ok(());
    }
    let error = ConfigError::InvalidOption {
        option: "the content type of a request",
        value: kind.into(),
        why: "responses of gRPC cannot be stored: leave its requests out with covers, and use Idempotency::once in its methods",
    };
    Err(error.into())
}

/// Whether a layer's limit has ended a body.
fn is_limit(error: &BodyError) -> bool {
    let mut cause: Option<&(dyn core::error::Error + 'static)> = Some(&**error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}
