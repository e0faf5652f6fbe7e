//! What std would bring: an allocator, and an end for panics that the core does not have.

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
    fmt::{self, Write},
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
            // On another shelf it would be taken for a block of that size.
            (Some((here, _)), Some((there, _))) if ptr::eq(here, there) => return at,
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

#[wasm_bindgen(raw_module = "../../errors.js")]
extern "C" {
    fn panicked(message: &str);
}

/// The most of a panic's text that JavaScript gets, in bytes.
const LONGEST_PANIC: usize = 512;

/// A panic's text, without the allocator: it may be what has panicked.
struct Text {
    bytes: [u8; LONGEST_PANIC],
    length: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let end = self.length + character.len_utf8();
            let room = self.bytes.get_mut(self.length..end).ok_or(fmt::Error)?;
            character.encode_utf8(room);
            self.length = end;
        }
        Ok(())
    }
}

/// Ends in an error that says where and why: `panicked` throws it through the module, whose hub cannot be used after it.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let mut text = Text {
        bytes: [0; LONGEST_PANIC],
        length: 0,
    };
    // What is too long is cut off.
    _ = write!(text, "{info}");
    let said = text.bytes.get(..text.length).unwrap_or_default();
    panicked(str::from_utf8(said).unwrap_or_default());
    core::arch::wasm32::unreachable()
}
