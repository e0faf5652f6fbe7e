//! What std would bring: an allocator, and an end for panics that the core does not have.

use core::panic::PanicInfo;

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// Traps. JavaScript sees a `WebAssembly.RuntimeError`; the text would weigh more than everything else that formats.
#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
