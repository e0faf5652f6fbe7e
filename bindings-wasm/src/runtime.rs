//! Replacements for parts of std: an allocator, and a panic handler (the core never panics).

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::Cell,
    panic::PanicInfo,
    ptr,
};

use talc::wasm::{WasmDynamicTalc, new_wasm_dynamic_allocator};
use wasm_bindgen::prelude::*;

#[global_allocator]
static ALLOCATOR: FreeLists = FreeLists {
    store: new_wasm_dynamic_allocator(),
    lists: [const { Cell::new(ptr::null_mut()) }; SIZES],
};

/// The number of size classes: blocks of up to `SIZES` times `STEP` bytes.
const SIZES: usize = 24;
const STEP: usize = 16;

/// Free lists of small blocks, by size class: a hub allocates the same few sizes again and again. `store` has
/// all other blocks. It is smaller and faster than the allocator of std.
struct FreeLists {
    store: WasmDynamicTalc,
    /// The first free block of each size class. Each free block holds the address of the next one.
    lists: [Cell<*mut u8>; SIZES],
}

// SAFETY: the module has one thread.
unsafe impl Sync for FreeLists {}

impl FreeLists {
    /// The free list for a layout, and the layout of its blocks; `None` for a large block.
    fn list(&self, layout: Layout) -> Option<(&Cell<*mut u8>, Layout)> {
        let number = layout.size().wrapping_sub(1) / STEP;
        let list = self.lists.get(number).filter(|_| layout.align() <= STEP)?;
        // SAFETY: a power of two, and a small multiple of it.
        let block = unsafe { Layout::from_size_align_unchecked((number + 1) * STEP, STEP) };
        Some((list, block))
    }
}

/// Returns the block. Without one, this reports that memory is exhausted, and ends as a panic does.
fn found(block: *mut u8, bytes: usize) -> *mut u8 {
    if block.is_null() {
        out_of_memory(bytes);
    }
    block
}

// SAFETY: a block is either in its free list or in use, and has the size and the alignment of its list.
unsafe impl GlobalAlloc for FreeLists {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some((list, block)) = self.list(layout) else {
            // SAFETY: the layout is the caller's.
            return found(unsafe { self.store.alloc(layout) }, layout.size());
        };
        let first = list.get();
        if first.is_null() {
            // SAFETY: the layout has a size.
            return found(unsafe { self.store.alloc(block) }, layout.size());
        }
        // SAFETY: a block in a free list begins with the address of the next one, and is aligned for it.
        list.set(unsafe { first.cast::<*mut u8>().read() });
        first
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        match self.list(layout) {
            Some((list, _)) => {
                // SAFETY: the block is free, large enough for an address and aligned for it.
                unsafe { at.cast::<*mut u8>().write(list.get()) };
                list.set(at);
            }
            // SAFETY: the block came from the store.
            None => unsafe { self.store.dealloc(at, layout) },
        }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller guarantees that the size is neither zero nor too large.
        let resized = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (self.list(layout), self.list(resized)) {
            (None, None) => {
                // SAFETY: the block came from the store, and stays there.
                return found(unsafe { self.store.realloc(at, layout, size) }, size);
            }
            // The block can stay only if its size class stays the same.
            (Some((here, _)), Some((there, _))) if ptr::eq(here, there) => return at,
            _ => {}
        }
        // SAFETY: these are two blocks, and each is as large as its layout.
        unsafe {
            let fresh = self.alloc(resized);
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

/// Reports the place of a panic: `panicked` throws an error through the module, and the hub cannot be used
/// afterwards. The error does not have the text of the panic, because the code that formats such texts would
/// be a thirtieth of the module.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let place = info.location();
    panicked(
        place.map_or("", |place| place.file()),
        place.map_or(0, |place| place.line()),
    );
    core::arch::wasm32::unreachable()
}
