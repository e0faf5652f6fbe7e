//! Services that are not a router of axum, with their own bodies and errors.

use std::{
    collections::VecDeque,
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    sync::Arc,
    task::{Context, Poll},
};

use fencepost::{Claim, Error, web};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty, Full};
use tower_layer::Layer as _;
use tower_service::Service;

use super::shop::Shop;

#[derive(Debug)]
struct Sold;

impl fmt::Display for Sold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sold to somebody else")
    }
}

/// A service that the caller has to poll until it is ready, like a service with a limit.
#[derive(Default)]
struct Till {
    is_ready: bool,
}

impl Clone for Till {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Service<Request<web::Body>> for Till {
    type Response = Response<Full<VecDeque<u8>>>;
    type Error = Sold;
    type Future = Ready<Result<Self::Response, Sold>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Sold>> {
        self.is_ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<web::Body>) -> Self::Future {
        assert!(self.is_ready, "poll_ready comes first");
        let claim = request.extensions().get::<Arc<Claim>>();
        ready(match claim.map(|claim| claim.takeovers()) {
            Some(0) => Err(Sold),
            takeovers => {
                let text = format!("{takeovers:?}").into_bytes();
                Ok(Response::new(Full::new(text.into())))
            }
        })
    }
}

#[tokio::test]
async fn bodies_and_errors_are_those_of_any_service() -> Result<(), Error> {
    let shop = Shop::open().await?;
    let mut service = shop.builder().build()?.layer(Till::default());
    let mut ask = async |method: &str| {
        let request = Request::builder()
            .method(method)
            .uri("/")
            .header("x-tenant", "shop-7");
        let request = request.header("idempotency-key", "order-17");
        let request = request.body(Empty::<VecDeque<u8>>::new()).unwrap();
        std::future::poll_fn(|context| {
            Service::<Request<Empty<VecDeque<u8>>>>::poll_ready(&mut service, context)
        })
        .await
        .unwrap();
        let response = service.call(request).await.map_err(|error| error.to_string())?;
        let is_replayed = response.headers().contains_key("idempotent-replayed");
        let length = http_body::Body::size_hint(response.body()).exact();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(length, Some(body.len() as u64));
        Ok::<_, String>((String::from_utf8(body.to_vec()).unwrap(), is_replayed))
    };
    assert_eq!(ask("POST").await, Err("sold to somebody else".into()));
    // The claim was left after the error.
    assert_eq!(ask("POST").await, Ok(("Some(1)".into(), false)));
    assert_eq!(ask("POST").await, Ok(("Some(1)".into(), true)));
    assert_eq!(ask("GET").await, Ok(("None".into(), false)));
    shop.client.close().await
}

/// hyper's requests, to a service without errors.
#[tokio::test]
async fn a_service_need_not_fail() -> Result<(), Error> {
    #[derive(Clone)]
    struct Paid;
    impl Service<Request<web::Body>> for Paid {
        type Response = Response<String>;
        type Error = Infallible;
        type Future = Ready<Result<Response<String>, Infallible>>;

        fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _request: Request<web::Body>) -> Self::Future {
            ready(Ok(Response::new("paid".into())))
        }
    }
    let shop = Shop::open().await?;
    let mut service = shop.builder().build()?.layer(Paid);
    let request = Request::post("/").body(String::new()).unwrap();
    let Ok(response) = service.call(request).await;
    assert_eq!(response.status(), 400);
    shop.client.close().await
}
