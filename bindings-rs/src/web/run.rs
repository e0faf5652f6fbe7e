//! Runs a handler with a claim.

use alloc::sync::Arc;
use core::any::Any;
use std::panic::{AssertUnwindSafe, resume_unwind};

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt as _;
use http::{Method, Request, Response, StatusCode, response::Parts};
use http_body::{Body as _, Frame};
use http_body_util::BodyExt as _;
use tokio::sync::{mpsc, oneshot};
use tower_service::Service;

use super::{
    answers::{Answer, End},
    body::{Body, BodyError, Piece, size_of_data},
    length::Length,
    settings::Settings,
    stored::{FALSE, STORED, TAG, encode, encode_status, replay},
};
use crate::{Claim, Completion, Error, Misuse};

/// The reason why a handler returned no response.
enum Failure<E> {
    Error(E),
    Panic(Box<dyn Any + Send>),
}

/// Runs a handler in a separate task, which continues if the caller is dropped.
pub(super) async fn run<S, R>(
    settings: Arc<Settings>,
    mut inner: S,
    claim: Claim,
    mut request: Request<Body>,
) -> Result<Response<Body>, S::Error>
where
    S: Service<Request<Body>, Response = Response<R>> + Send + 'static,
    S::Future: Send,
    S::Error: Send + 'static,
    R: http_body::Body + Send + 'static,
    R::Error: Into<BodyError>,
{
    let claim = Arc::new(claim);
    request.extensions_mut().insert(Arc::clone(&claim));
    let (head, response) = oneshot::channel();
    let running = Running::new(&settings);
    let runtime = settings.runtime();
    let mut protected = Protected {
        settings,
        claim,
        method: request.method().clone(),
        head: Some(head),
        pieces: None,
        is_ended: false,
    };
    runtime.spawn(in_span(async move {
        let handled = AssertUnwindSafe(async {
            let response = inner.call(request).await?;
            protected.respond(response.map(Body::new)).await;
            Ok(())
        });
        match handled.catch_unwind().await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => protected.fail(Failure::Error(error)).await,
            Err(panic) => protected.fail(Failure::Panic(panic)).await,
        }
        drop(running);
    }));
    match response.await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(Failure::Error(error))) => Err(error),
        // The server gets the panic, as without the layer.
        Ok(Err(Failure::Panic(panic))) => resume_unwind(panic),
        // The runtime was shut down.
        Err(_) => Ok(Answer::FAILED.response()),
    }
}

/// Runs in the span of the caller, as without the layer.
#[cfg(feature = "tracing")]
fn in_span<F: Future>(future: F) -> impl Future<Output = F::Output> {
    tracing::Instrument::in_current_span(future)
}

#[cfg(not(feature = "tracing"))]
const fn in_span<F: Future>(future: F) -> F {
    future
}

/// Counts a handler, until it is dropped.
struct Running(Arc<Settings>);

impl Running {
    fn new(settings: &Arc<Settings>) -> Self {
        settings.running.send_modify(|running| *running += 1);
        Self(Arc::clone(settings))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.send_modify(|running| *running -= 1);
    }
}

/// The response of a handler with a claim. The layer holds it back until the claim has ended. Of a stream, it holds
/// back only the end.
struct Protected<E> {
    settings: Arc<Settings>,
    claim: Arc<Claim>,
    method: Method,
    /// The receiver of the response, until the response is sent.
    head: Option<oneshot::Sender<Result<Response<Body>, Failure<E>>>>,
    /// The receiver of a stream's frames, unless the client has disconnected.
    pieces: Option<mpsc::Sender<Piece>>,
    /// Whether the claim has ended, or the layer has tried to end it.
    is_ended: bool,
}

/// The result of a claim's end.
enum Ended {
    /// A retry gets the right response.
    Stored,
    NotStored,
    /// Another attempt has already stored a response.
    Replayed(Response<Body>),
}

impl<E> Protected<E> {
    async fn respond(&mut self, response: Response<Body>) {
        let (parts, mut body) = response.into_parts();
        let length = Length::of(&self.method, &parts, &body);
        let (mut frames, mut size) = (Vec::new(), 0);
        let failed = loop {
            if !length.is_held(size, self.settings.max_result as u64) {
                return self.stream(parts, frames, body, length).await;
            }
            if body.is_end_stream() {
                break None;
            }
            match body.frame().await {
                Some(Ok(frame)) => {
                    size += size_of_data(&frame);
                    frames.push(frame);
                }
                Some(Err(error)) => break Some(error),
                None => break None,
            }
        };
        match failed.or_else(|| length.lacks(size)) {
            None => self.finish(parts, frames).await,
            Some(error) => {
                self.give_up(End::Leave).await;
                let frames = frames.into_iter().map(Ok).chain([Err(error)]);
                self.send(Response::from_parts(parts, Body::of_frames(frames)));
            }
        }
    }

    /// Stores a complete response, and sends it.
    async fn finish(&mut self, parts: Parts, frames: Vec<Frame<Bytes>>) {
        let headers = parts.headers.iter();
        let result = encode(
            parts.status.as_u16(),
            headers.map(|(name, value)| (name.as_str(), value.as_bytes())),
            &joined(&frames),
            &self.settings.stored_headers,
        );
        let is_whole = result.len() <= self.settings.max_result;
        let result = if is_whole {
            result
        } else {
            encode_status(parts.status.as_u16())
        };
        let parts = match self.end(parts.status, result).await {
            Ended::Replayed(response) => return self.send(response),
            Ended::Stored if is_whole => parts,
            Ended::Stored | Ended::NotStored => self.marked(parts),
        };
        self.send(Response::from_parts(
            parts,
            Body::of_frames(frames.into_iter().map(Ok)),
        ));
    }

    /// Sends a response that cannot be stored, frame by frame. First it sends the frames that were already read.
    async fn stream(&mut self, parts: Parts, read: Vec<Frame<Bytes>>, mut body: Body, length: Length) {
        let status = parts.status;
        let (pieces, receiver) = mpsc::channel(1);
        self.pieces = Some(pieces);
        self.send(Response::from_parts(
            self.marked(parts),
            Body::of_pieces(receiver, length.announced),
        ));
        let mut read = read.into_iter();
        let mut size = 0;
        loop {
            let next = match read.next() {
                Some(frame) => Some(Ok(frame)),
                None => body.frame().await,
            };
            match next {
                Some(Ok(frame)) => {
                    size += size_of_data(&frame);
                    let is_at_end = frame.is_trailers() || read.len() == 0 && body.is_end_stream();
                    if length.is_reached(size) || is_at_end && length.lacks(size).is_none() {
                        self.end_stream(status).await;
                    }
                    self.pass(Piece::Frame(frame)).await;
                }
                Some(Err(error)) => return self.fail_stream(error).await,
                None => {
                    if let Some(error) = length.lacks(size) {
                        return self.fail_stream(error).await;
                    }
                    self.end_stream(status).await;
                    return self.pass(Piece::End).await;
                }
            }
        }
    }

    async fn end_stream(&mut self, status: StatusCode) {
        if !self.is_ended {
            self.end(status, encode_status(status.as_u16())).await;
        }
    }

    async fn fail_stream(&mut self, error: BodyError) {
        self.give_up(End::Leave).await;
        self.pass(Piece::Failed(error)).await;
    }

    /// Ends the claim according to the status.
    async fn end(&mut self, status: StatusCode, result: Vec<u8>) -> Ended {
        let end = self.settings.end_of(status);
        if end != End::Complete {
            self.give_up(end).await;
            return Ended::Stored;
        }
        self.is_ended = true;
        match self.claim.complete(TAG, result).await {
            Ok(Completion::Stored) => Ended::Stored,
            Ok(Completion::Replayed(record)) => {
                replay(&record, &self.method).map_or(Ended::NotStored, Ended::Replayed)
            }
            Err(error) => {
                self.report("a response was not stored", &error);
                Ended::NotStored
            }
        }
    }

    /// Ends the claim without a result, unless it has ended.
    async fn give_up(&mut self, end: End) {
        if core::mem::replace(&mut self.is_ended, true) {
            return;
        }
        let ended = match end {
            End::Release => self.claim.release().await,
            End::Leave | End::Complete => self.claim.leave().await,
        };
        if let Err(error) = ended {
            self.report("a claim was not ended", &error);
        }
    }

    /// Reports an error of the store. It is not an error if the handler itself has ended the claim.
    fn report(&self, what: &str, error: &Error) {
        if !matches!(error, Error::Misuse(Misuse::NotHeld)) {
            self.settings.report(what, error);
        }
    }

    /// Ends the claim of a handler that returned no response, or panicked while it sent the response.
    async fn fail(&mut self, failure: Failure<E>) {
        self.give_up(End::Leave).await;
        if let Some(head) = self.head.take() {
            // The client may have hung up.
            let _ = head.send(Err(failure));
        } else {
            self.pass(Piece::Failed("the handler has panicked".into())).await;
        }
    }

    /// Marks the head of a response whose body is not stored.
    fn marked(&self, mut parts: Parts) -> Parts {
        if self.settings.end_of(parts.status) == End::Complete {
            parts.headers.insert(STORED, FALSE);
        }
        parts
    }

    fn send(&mut self, response: Response<Body>) {
        if let Some(head) = self.head.take() {
            // The client may have hung up.
            let _ = head.send(Ok(response));
        }
    }

    async fn pass(&mut self, piece: Piece) {
        if let Some(pieces) = &self.pieces
            && pieces.send(piece).await.is_err()
        {
            self.pieces = None;
        }
    }
}

/// The data of some frames.
fn joined(frames: &[Frame<Bytes>]) -> Bytes {
    let mut parts = frames.iter().filter_map(Frame::data_ref);
    match (parts.next(), parts.next()) {
        (None, _) => Bytes::new(),
        (Some(only), None) => only.clone(),
        (Some(first), Some(second)) => {
            let mut whole = BytesMut::from(&first[..]);
            whole.extend_from_slice(second);
            parts.for_each(|part| whole.extend_from_slice(part));
            whole.freeze()
        }
    }
}
