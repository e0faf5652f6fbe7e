//! Gives the shared library its name: programs ask for `libfencepost.so.0`, whatever cargo calls the file.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libfencepost.so.0");
}
