//! Form tokens.

use super::form::{TOKEN_FIELD, binding_of, token_key};
use crate::{ConfigError, Error, Idempotency};

/// The random bytes of a token.
const RANDOM: usize = 24;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Makes a token for one form. `tenant` is the tenant that the layer's `scope` returns for the
/// form's request.
///
/// # Errors
/// [`Error::Config`] for an empty tenant; the errors of [`Idempotency::issue`].
pub async fn issue_token(operations: &Idempotency, tenant: &str) -> Result<String, Error> {
    check_tenant(tenant)?;
    let mut random = [0; RANDOM];
    getrandom::fill(&mut random).map_err(|_none| Error::NoRandomness)?;
    let token = base64url(&random);
    operations
        .issue_for_form(&token_key(&token), &binding_of(tenant))
        .await?;
    Ok(token)
}

/// The hidden field of a form, as HTML. `token` is from [`issue_token`].
#[must_use]
pub fn token_field(token: &str) -> String {
    let token = token
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('"', "&quot;");
    format!(r#"<input type="hidden" name="{TOKEN_FIELD}" value="{token}">"#)
}

/// Checks the result of `scope`.
pub(super) fn check_tenant(tenant: &str) -> Result<(), Error> {
    if tenant.is_empty() {
        let error = ConfigError::InvalidOption {
            option: "the tenant of a request",
            value: String::new(),
            why: "give the tenant or session of the request",
        };
        return Err(error.into());
    }
    Ok(())
}

/// URL-safe Base64, of whole groups of three bytes.
fn base64url(bytes: &[u8; RANDOM]) -> String {
    let groups = bytes.chunks_exact(3).map(|group| {
        let number = group
            .iter()
            .fold(0, |number, byte| number << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(ALPHABET[number >> shift & 63]))
    });
    groups.flatten().collect()
}
