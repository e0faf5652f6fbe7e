/** The WebAssembly module of `memory:` in base64; generated. */
export declare const base64: string;
