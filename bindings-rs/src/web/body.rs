//! The bodies of requests and responses that the layer passes on.

use alloc::collections::VecDeque;
use core::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};
use std::error::Error as StdError;

use bytes::{Buf as _, Bytes};
use http_body::{Frame, SizeHint};
use http_body_util::Full;
use tokio::sync::mpsc::Receiver;

/// The error of a body.
pub(super) type BodyError = Box<dyn StdError + Send + Sync>;

type Polled = Poll<Option<Result<Frame<Bytes>, BodyError>>>;

/// The body of the request that the layer passes to a handler, and of the response that the layer returns. It wraps the
/// body of any server or framework.
pub struct Body(Pin<Box<dyn AnyBody>>);

/// A body of any type, with its data in [`Bytes`].
trait AnyBody: Send {
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled;
    fn is_over(&self) -> bool;
    fn size(&self) -> SizeHint;
}

impl<B> AnyBody for B
where
    B: http_body::Body + Send,
    B::Error: Into<BodyError>,
{
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        let polled = ready!(self.poll_frame(context));
        let in_bytes = polled.map(|frame| match frame {
            // This does not copy if the data are Bytes.
            Ok(frame) => Ok(frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))),
            Err(error) => Err(error.into()),
        });
        Poll::Ready(in_bytes)
    }

    fn is_over(&self) -> bool {
        self.is_end_stream()
    }

    fn size(&self) -> SizeHint {
        self.size_hint()
    }
}

impl Body {
    /// A body of another type.
    pub(super) fn new<B>(body: B) -> Self
    where
        B: http_body::Body + Send + 'static,
        B::Error: Into<BodyError>,
    {
        Self(Box::pin(body))
    }

    /// A body whose bytes are all known.
    pub(super) fn whole(bytes: Bytes) -> Self {
        Self::new(Full::new(bytes))
    }

    /// A body whose frames are known.
    pub(super) fn of_frames(frames: impl IntoIterator<Item = Result<Frame<Bytes>, BodyError>>) -> Self {
        Self::new(Frames(frames.into_iter().collect()))
    }

    /// An empty body that has no known length, so that the server sets no `Content-Length`.
    pub(super) fn of_unknown_size() -> Self {
        Self::new(UnknownSize)
    }

    /// A body whose frames a task sends. `length` is its length, if it is known.
    pub(super) fn of_pieces(pieces: Receiver<Piece>, length: Option<u64>) -> Self {
        Self::new(Pieces {
            pieces,
            rest: length,
            is_over: false,
        })
    }
}

impl Default for Body {
    fn default() -> Self {
        Self::whole(Bytes::new())
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        self.0.as_mut().poll(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_over()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size()
    }
}

/// Frames that have already arrived.
struct Frames(VecDeque<Result<Frame<Bytes>, BodyError>>);

impl http_body::Body for Frames {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Polled {
        Poll::Ready(self.0.pop_front())
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let sizes = self.0.iter().map(|frame| frame.as_ref().ok().map(size_of_data));
        let size: Option<u64> = sizes.sum();
        size.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

struct UnknownSize;

impl http_body::Body for UnknownSize {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Polled {
        Poll::Ready(None)
    }
}

/// The number of bytes of data in a frame.
pub(super) fn size_of_data(frame: &Frame<Bytes>) -> u64 {
    frame.data_ref().map_or(0, |data| data.len() as u64)
}

/// A part of a body, from a task. Without `End`, the body is incomplete.
pub(super) enum Piece {
    Frame(Frame<Bytes>),
    Failed(BodyError),
    End,
}

struct Pieces {
    pieces: Receiver<Piece>,
    rest: Option<u64>,
    is_over: bool,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Polled {
        if self.is_over {
            return Poll::Ready(None);
        }
        let piece = ready!(self.pieces.poll_recv(context));
        Poll::Ready(match piece {
            Some(Piece::Frame(frame)) => {
                self.rest = self.rest.map(|rest| rest.saturating_sub(size_of_data(&frame)));
                Some(Ok(frame))
            }
            Some(Piece::End) => {
                self.is_over = true;
                None
            }
            Some(Piece::Failed(error)) => {
                self.is_over = true;
                Some(Err(error))
            }
            None => {
                self.is_over = true;
                Some(Err("the task of the handler was stopped".into()))
            }
        })
    }

    fn is_end_stream(&self) -> bool {
        self.is_over
    }

    fn size_hint(&self) -> SizeHint {
        self.rest.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
