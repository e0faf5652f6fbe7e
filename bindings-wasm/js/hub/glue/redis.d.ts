/** The WebAssembly module for Redis in base64; generated. */
export declare const base64: string;
