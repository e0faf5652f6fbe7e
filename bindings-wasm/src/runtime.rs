//! What std would bring: an allocator, and an end for panics that the core does not have.

use core::panic::PanicInfo;

use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};

/// Smaller and quicker than the allocator of std.
#[global_allocator]
static ALLOCATOR: WasmDynamicTalc = new_wasm_dynamic_allocator();

/// Traps. JavaScript sees a `WebAssembly.RuntimeError`; the text would weigh more than everything else that formats.
#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
