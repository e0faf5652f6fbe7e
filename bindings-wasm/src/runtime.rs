//! What std would bring: an allocator, and an end for panics that the core does not have.

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
    panic::PanicInfo,
    ptr,
};

use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};

#[global_allocator]
static ALLOCATOR: Shelves = Shelves {
    store: new_wasm_dynamic_allocator(),
    shelves: [const { Cell::new(ptr::null_mut()) }; SIZES],
};

/// Sizes that are kept apart: up to `SIZES` times `STEP` bytes.
const SIZES: usize = 24;
const STEP: usize = 16;

/// Small blocks that have been given back, by size: a hub asks for the same few sizes over and over. The store behind them is smaller and quicker than the
/// allocator of std, and has the rest.
struct Shelves {
    store: WasmDynamicTalc,
    /// The first of each size; each holds the address of the next.
    shelves: [Cell<*mut u8>; SIZES],
}

// SAFETY: the module has one thread.
unsafe impl Sync for Shelves {}

impl Shelves {
    /// Where blocks for such things lie, and how large they are.
    fn shelf(&self, layout: Layout) -> Option<(&Cell<*mut u8>, Layout)> {
        let number = layout.size().wrapping_sub(1) / STEP;
        let shelf = self.shelves.get(number).filter(|_| layout.align() <= STEP)?;
        // SAFETY: a power of two, and a small multiple of it.
        let block = unsafe { Layout::from_size_align_unchecked((number + 1) * STEP, STEP) };
        Some((shelf, block))
    }
}

// SAFETY: a block is on its shelf or with whoever has asked for it, and is as large and as aligned as its shelf's number says.
unsafe impl GlobalAlloc for Shelves {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((shelf, block)) = self.shelf(layout) else {
            // SAFETY: as asked.
            return unsafe { self.store.alloc(layout) };
        };
        let first = shelf.get();
        if first.is_null() {
            // SAFETY: it is not empty.
            return unsafe { self.store.alloc(block) };
        }
        // SAFETY: what lies on a shelf begins with the address of the next, and is aligned for it.
        shelf.set(unsafe { first.cast::<*mut u8>().read() });
        first
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        match self.shelf(layout) {
            Some((shelf, _)) => {
                // SAFETY: the block is ours again, large enough for an address and aligned for it.
                unsafe { at.cast::<*mut u8>().write(shelf.get()) };
                shelf.set(at);
            }
            // SAFETY: it came from there.
            None => unsafe { self.store.dealloc(at, layout) },
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as the caller says: not zero, and not too large.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (self.shelf(layout), self.shelf(wanted)) {
            (None, None) => {
                // SAFETY: it came from there, and stays there.
                return unsafe { self.store.realloc(at, layout, size) };
            }
            (Some((_, block)), _) if size <= block.size() => return at,
            _ => {}
        }
        // SAFETY: two blocks, of which each is as large as its layout.
        unsafe {
            let fresh = self.alloc(wanted);
            if !fresh.is_null() {
                ptr::copy_nonoverlapping(at, fresh, layout.size().min(size));
                self.dealloc(at, layout);
            }
            fresh
        }
    }
}

/// Traps. JavaScript sees a `WebAssembly.RuntimeError`; the text would weigh more than everything else that formats.
#[panic_handler]
fn panic(_info: &PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
