/** Where the module is: a path that bundlers recognise. The folder of `dist` that this ends up in lies beside `modules`. */
export const location = (): URL => new URL("../modules/zookeeper.wasm", import.meta.url);
