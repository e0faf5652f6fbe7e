//! Scopes of idempotent operations. A scope makes the settings of each request.

use std::ffi::c_char;

use fencepost_core::{
    Settings,
    options::{Kind, Scope},
    positive,
};

use crate::{
    boundary::{Fault, give, guard, require, shared, take_back},
    intents::content,
    result::fencepost_result,
    settings::fencepost_settings,
    values::{fencepost_setting, raw},
    view,
};

/// A scope of idempotent operations: a namespace for their keys, with the options of all of them. A scope
/// never changes, so threads may share it.
#[derive(Debug)]
pub struct fencepost_scope(Scope);

/// The number of bytes that `fencepost_scope_derive` writes: 32 hexadecimal digits, and a NUL.
pub const FENCEPOST_DERIVED_SIZE: usize = 33;

/// Makes a scope from `given_count` settings. Their keys are `server` (`redis`, `zookeeper` or `memory`),
/// `scope` (required), `lease`, `retention`, `on_lease_end`, `renew`, `poll`, `margin` and `answer_within`.
/// Durations are in microseconds. If a key is given twice, the last value counts. The caller frees the scope
/// with `fencepost_scope_free`. Errors: 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_of(
    given: *const fencepost_setting,
    given_count: usize,
    scope: *mut *mut fencepost_scope,
) -> fencepost_result {
    guard(|| {
        require(scope)?;
        // SAFETY: the header requires so many settings, with readable views.
        let raw = unsafe { raw(given, given_count) }?.with("kind", Kind::Claim.name());
        // SAFETY: checked above.
        unsafe { give(scope, fencepost_scope(raw.try_into()?)) };
        Ok(())
    })
}

/// Makes the settings of a claim on the operation `key`. `fingerprint` is a digest of the operation's input.
/// To claim, open a machine with these settings, and acquire or try. The claim ends in the event acquired,
/// replayed or refused. Errors: 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_claim(
    scope: *const fencepost_scope,
    key: *const u8,
    key_size: usize,
    fingerprint: *const u8,
    fingerprint_size: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    // SAFETY: the header requires readable views.
    let of = |scope: &Scope| unsafe {
        Ok(scope.claim(
            view::text(key, key_size)?,
            view::bytes(fingerprint, fingerprint_size)?,
        )?)
    };
    // SAFETY: passed on.
    unsafe { make(scope, settings, of) }
}

/// Makes the settings of a claim on a token that was issued. The server compares `binding` with the binding
/// of the token. The rest is as for `fencepost_scope_claim`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_consume(
    scope: *const fencepost_scope,
    token: *const u8,
    token_size: usize,
    binding: *const u8,
    binding_size: usize,
    fingerprint: *const u8,
    fingerprint_size: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    // SAFETY: the header requires readable views.
    let of = |scope: &Scope| unsafe {
        Ok(scope.consume(
            view::text(token, token_size)?,
            view::bytes(binding, binding_size)?,
            view::bytes(fingerprint, fingerprint_size)?,
        )?)
    };
    // SAFETY: passed on.
    unsafe { make(scope, settings, of) }
}

/// Makes the settings of a single step that issues a token. A claim may consume the token within `life`
/// microseconds; with 0, within ten minutes. `binding` identifies the user and the purpose of the token. To
/// do a single step, open a machine with its settings, and try. This step ends in the event completed or
/// refused. Errors: 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_issue(
    scope: *const fencepost_scope,
    token: *const u8,
    token_size: usize,
    binding: *const u8,
    binding_size: usize,
    life: i64,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    // SAFETY: the header requires readable views.
    let of = |scope: &Scope| unsafe {
        let life = match life {
            0 => None,
            given => Some(positive("life", given, "")?),
        };
        Ok(scope.issue(
            view::text(token, token_size)?,
            view::bytes(binding, binding_size)?,
            life,
        )?)
    };
    // SAFETY: passed on.
    unsafe { make(scope, settings, of) }
}

/// Makes the settings of a single step that claims and completes an operation at once. If `binding` is not
/// NULL, `key` is a token that was issued, and the step consumes it. The step ends in the event completed,
/// replayed or refused. Errors: 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_register(
    scope: *const fencepost_scope,
    key: *const u8,
    key_size: usize,
    binding: *const u8,
    binding_size: usize,
    fingerprint: *const u8,
    fingerprint_size: usize,
    tag: *const u8,
    tag_size: usize,
    result: *const u8,
    result_size: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    // SAFETY: the header requires readable views.
    let of = |scope: &Scope| unsafe {
        let bound = view::bytes(binding, binding_size)?;
        Ok(scope.register(
            view::text(key, key_size)?,
            (!binding.is_null()).then_some(bound),
            view::bytes(fingerprint, fingerprint_size)?,
            content(tag, tag_size, result, result_size)?,
        )?)
    };
    // SAFETY: passed on.
    unsafe { make(scope, settings, of) }
}

/// Makes the settings of a single step that replaces the value at `key`, if the value has this `version`.
/// With `version` 0, the step writes the value if there is none. `operation` identifies the update: a
/// repeated update is not applied again. The step ends in the event completed, replayed or refused. Errors:
/// 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_update(
    scope: *const fencepost_scope,
    key: *const u8,
    key_size: usize,
    operation: *const u8,
    operation_size: usize,
    version: u64,
    fingerprint: *const u8,
    fingerprint_size: usize,
    tag: *const u8,
    tag_size: usize,
    result: *const u8,
    result_size: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    // SAFETY: the header requires readable views.
    let of = |scope: &Scope| unsafe {
        Ok(scope.update(
            view::text(key, key_size)?,
            view::text(operation, operation_size)?,
            version,
            view::bytes(fingerprint, fingerprint_size)?,
            content(tag, tag_size, result, result_size)?,
        )?)
    };
    // SAFETY: passed on.
    unsafe { make(scope, settings, of) }
}

/// Makes the settings of a single step that reads the record of an operation, or a value. The step ends in
/// the event looked or refused. Errors: 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_look(
    scope: *const fencepost_scope,
    key: *const u8,
    key_size: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    // SAFETY: the header requires a readable view.
    let of = |scope: &Scope| unsafe { Ok(scope.look(view::text(key, key_size)?)?) };
    // SAFETY: passed on.
    unsafe { make(scope, settings, of) }
}

/// Makes the settings of a single step with which an operator sets the result of an operation. `guard` is
/// that of the record that the operator has read. The step ends in the event completed, replayed or refused.
/// Errors: 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_settle(
    scope: *const fencepost_scope,
    key: *const u8,
    key_size: usize,
    guard: u64,
    tag: *const u8,
    tag_size: usize,
    result: *const u8,
    result_size: usize,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    // SAFETY: the header requires readable views.
    let of = |scope: &Scope| unsafe {
        let content = content(tag, tag_size, result, result_size)?;
        Ok(scope.settle(view::text(key, key_size)?, guard, content)?)
    };
    // SAFETY: passed on.
    unsafe { make(scope, settings, of) }
}

/// Makes the settings of a single step with which an operator deletes a record. `guard` is that of the record
/// that the operator has read. The step ends in the event looked, without a record, or in refused. Errors:
/// 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_forget(
    scope: *const fencepost_scope,
    key: *const u8,
    key_size: usize,
    guard: u64,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    // SAFETY: the header requires a readable view.
    let of = |scope: &Scope| unsafe { Ok(scope.forget(view::text(key, key_size)?, guard)?) };
    // SAFETY: passed on.
    unsafe { make(scope, settings, of) }
}

/// Makes the settings of a single step that sweeps: it deletes the records of the scope that are free or past
/// their retention. The step ends in the event swept or refused. On Redis, it deletes nothing, because the
/// server expires records itself.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_sweep(
    scope: *const fencepost_scope,
    settings: *mut *mut fencepost_settings,
) -> fencepost_result {
    let of = |scope: &Scope| Ok(scope.sweep()?);
    // SAFETY: passed on.
    unsafe { make(scope, settings, of) }
}

/// Writes a key for one step of an operation at another service, such as a payment provider. The key is the
/// same for all attempts and in all languages. The function writes `FENCEPOST_DERIVED_SIZE` bytes. Errors:
/// 1xx.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_derive(
    scope: *const fencepost_scope,
    key: *const u8,
    key_size: usize,
    step: *const u8,
    step_size: usize,
    derived: *mut c_char,
) -> fencepost_result {
    guard(|| {
        require(derived)?;
        // SAFETY: the header requires a valid scope or NULL, readable views, and room for so many bytes.
        unsafe {
            let scope = shared(scope)?;
            let text = scope
                .0
                .derive(view::text(key, key_size)?, view::text(step, step_size)?)?;
            let length = text.len().min(FENCEPOST_DERIVED_SIZE - 1);
            derived
                .cast::<u8>()
                .copy_from_nonoverlapping(text.as_ptr(), length);
            derived.add(length).write(0);
        }
        Ok(())
    })
}

/// Frees a scope, and ignores NULL. Settings that the scope made stay valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fencepost_scope_free(scope: *mut fencepost_scope) {
    // SAFETY: the header requires a scope that is not used again.
    unsafe { take_back(scope) }
}

/// # Safety
/// The scope is valid or NULL, and `settings` may be written or is NULL.
unsafe fn make(
    scope: *const fencepost_scope,
    settings: *mut *mut fencepost_settings,
    of: impl FnOnce(&Scope) -> Result<Settings, Fault>,
) -> fencepost_result {
    guard(|| {
        require(settings)?;
        // SAFETY: by the caller's promise, and checked above.
        unsafe { give(settings, fencepost_settings::from(of(&shared(scope)?.0)?)) };
        Ok(())
    })
}
