/** The WebAssembly module in base64; generated. */
export declare const base64: string;
