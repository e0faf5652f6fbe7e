//! What std would bring: an allocator, and an end for panics that the core does not have.

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
    panic::PanicInfo,
    ptr,
};

use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};
use wasm_bindgen::prelude::*;

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

/// The block, if there was memory for one. Otherwise it ends as a panic does, and says so.
fn found(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        out_of_memory(bytes);
    }
    block
}

// SAFETY: a block is on its shelf or with whoever has asked for it, and is as large and as aligned as its shelf's number says.
unsafe impl GlobalAlloc for Shelves {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((shelf, block)) = self.shelf(layout) else {
            // SAFETY: as asked.
            return found(unsafe { self.store.alloc(layout) }, layout.size());
        };
        let first = shelf.get();
        if first.is_null() {
            // SAFETY: it is not empty.
            return found(unsafe { self.store.alloc(block) }, layout.size());
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
                return found(unsafe { self.store.realloc(at, layout, size) }, size);
            }
            // On another shelf it would be taken for a block of that size.
            (Some((here, _)), Some((there, _))) if ptr::eq(here, there) => return at,
            _ => {}
        }
        // SAFETY: two blocks, of which each is as large as its layout.
        unsafe {
            let fresh = self.alloc(wanted);
            ptr::copy_nonoverlapping(at, fresh, layout.size().min(size));
            self.dealloc(at, layout);
            fresh
        }
    }
}

#[wasm_bindgen(raw_module = "../../errors.js")]
extern "C" {
    fn panicked(file: &str, line: u32);
    #[wasm_bindgen(js_name = outOfMemory)]
    fn out_of_memory(bytes: usize);
}

/// Ends in an error that says where: `panicked` throws it through the module, whose hub cannot be used after it. It leaves out the
/// panic's text: the code that formats such texts would be a thirtieth of the module.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let place = info.location();
    panicked(
        place.map_or("", |place| place.file()),
        place.map_or(0, |place| place.line()),
    );
    core::arch::wasm32::unreachable()
}
