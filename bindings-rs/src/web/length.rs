//! The expected length of a response's body.

use http::{Method, StatusCode, response::Parts};
use http_body::Body as _;

use super::{
    body::{Body, BodyError},
    gate::length_of,
};

/// The expected length of a response's body.
#[derive(Clone, Copy)]
pub(super) struct Length {
    /// The length in `Content-Length`, or the exact length of the body.
    pub(super) announced: Option<u64>,
    /// Whether no body is sent in spite of the header, as in a response to HEAD.
    has_no_body: bool,
}

impl Length {
    pub(super) fn of(method: &Method, parts: &Parts, body: &Body) -> Self {
        let is_bodiless = matches!(parts.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED);
        Self {
            announced: length_of(&parts.headers).or_else(|| body.size_hint().exact()),
            has_no_body: *method == Method::HEAD || is_bodiless,
        }
    }

    /// Whether the layer still holds the body back until it is stored, after so many bytes. It does not hold a body
    /// back that is longer than announced: the client gets only the announced bytes, but a replay would return all.
    pub(super) fn is_held(self, size: u64, most: u64) -> bool {
        self.announced
            .is_some_and(|announced| size <= announced && announced <= most)
    }

    /// Whether these are all announced bytes.
    pub(super) fn is_reached(self, size: u64) -> bool {
        self.announced.is_some_and(|announced| size >= announced)
    }

    /// The error of a body that ends after so many bytes, if more were announced.
    pub(super) fn lacks(self, size: u64) -> Option<BodyError> {
        let announced = self.announced.filter(|_| !self.has_no_body)?;
        (size < announced).then(|| {
            format!("the body has ended after {size} of the {announced} bytes that were announced").into()
        })
    }
}
