//! Changes of the secret: the examples that all languages read.

use fencepost::{
    Error,
    web::{IdempotencyLayer, issue_token},
};
use serde_json::Value;

use super::shop::{Shop, ask, request, tenant};

/// The layer with the present secret and older ones.
fn layer(shop: &Shop, secrets: &[&str]) -> Result<IdempotencyLayer, Error> {
    let (present, older) = secrets.split_first().unwrap();
    IdempotencyLayer::builder(shop.operations.clone(), tenant, present)
        .older_secrets(older)
        .tokens(true)
        .build()
}

#[tokio::test]
async fn older_secrets_are_accepted() -> Result<(), Error> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/http.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    for example in all["secrets"].as_array().unwrap() {
        let shop = Shop::open().await?;
        let texts = example["secrets"].as_array().unwrap().iter();
        let secrets: Vec<_> = texts.map(|secret| secret.as_str().unwrap()).collect();
        let before = shop.counting(layer(&shop, &[example["stored"].as_str().unwrap()])?);
        let now = shop.counting(layer(&shop, &secrets)?);
        let token = issue_token(&shop.operations, "shop-7").await?;
        let accepted = example["accepted"] == true;
        for token in [None, Some(token)] {
            let asked = |body: &'static str| {
                let mut asked = request(body);
                if let Some(token) = &token {
                    let headers = asked.headers_mut();
                    headers.insert("idempotency-token", token.parse().unwrap());
                }
                asked
            };
            assert_eq!(ask(&before, asked("")).await.status, 201);
            let retry = ask(&now, asked("")).await;
            assert_eq!(retry.is_replayed(), accepted, "{example}");
            assert_eq!(retry.is_problem(422, "mismatch"), !accepted, "{example}");
            // Another request with this key never runs.
            let other = ask(&now, asked("another body")).await;
            assert!(other.is_problem(422, "mismatch"), "{example}");
        }
        assert_eq!(shop.runs(), 2);
        shop.client.close().await?;
    }
    Ok(())
}
