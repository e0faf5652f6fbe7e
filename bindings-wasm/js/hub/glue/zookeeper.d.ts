/** The WebAssembly module for ZooKeeper in base64; generated. */
export declare const base64: string;
