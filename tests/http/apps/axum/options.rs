//! The options of a server program.

use std::time::Duration;

use fencepost::{IdempotencyOptions, OnLeaseEnd, web::IdempotencyLayerBuilder};
use serde_json::Value;

const SECRET: &str = "a secret of the suite";

pub(crate) struct Options(Value);

impl Options {
    pub(crate) fn parse(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap())
    }

    pub(crate) fn scope(&self) -> String {
        self.0["scope"].as_str().unwrap().to_owned()
    }

    fn duration(&self, name: &str) -> Option<Duration> {
        self.0[name].as_f64().map(Duration::from_secs_f64)
    }

    fn size(&self, name: &str) -> Option<usize> {
        self.0[name].as_u64().map(|size| size.try_into().unwrap())
    }

    /// The secrets of the layer, the current one first.
    pub(crate) fn secrets(&self) -> Vec<&str> {
        let given = self.0["secret"].as_array().map(Vec::as_slice);
        let given: Vec<_> = given
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if given.is_empty() { vec![SECRET] } else { given }
    }

    /// The options of the client's scope.
    pub(crate) fn of_client(&self) -> IdempotencyOptions {
        let mut options = IdempotencyOptions::new();
        if let Some(lease) = self.duration("lease") {
            options = options.lease(lease);
        }
        if let Some(within) = self.duration("answer_within") {
            options = options.answer_within(within);
        }
        match self.0["on_lease_end"].as_str() {
            None => options,
            Some("retake") => options.on_lease_end(OnLeaseEnd::Retake),
            Some("block") => options.on_lease_end(OnLeaseEnd::Block),
            Some("indeterminate") => options.on_lease_end(OnLeaseEnd::Indeterminate),
            Some(other) => panic!("{other}"),
        }
    }

    /// The options of the layer.
    pub(crate) fn of_layer(&self, mut builder: IdempotencyLayerBuilder) -> IdempotencyLayerBuilder {
        if let Some(wait) = self.duration("wait") {
            builder = builder.wait(wait);
        }
        if let Some(max_body) = self.size("max_body") {
            builder = builder.max_body(max_body);
        }
        if let Some(max_result) = self.size("max_result") {
            builder = builder.max_result(max_result);
        }
        if let Some(fail_open) = self.0["fail_open"].as_bool() {
            builder = builder.fail_open(fail_open);
        }
        builder
    }
}
