// A TCP relay whose connections can fall silent one by one: the proxies of tests/servers hold all of them, new ones too.

import { once } from "node:events";
import net from "node:net";

/** Forwards to `target` ("HOST:PORT"), which may be changed: connections that are made later go there. */
export async function relay(t, target) {
  const pairs = new Set();
  const state = { target, accepted: 0, silent: false };
  const server = net.createServer((near) => {
    state.accepted += 1;
    const [host, port] = state.target.split(":");
    const far = net.connect(Number(port), host);
    const pair = { near, far, silent: state.silent };
    pairs.add(pair);
    near.on("data", (data) => pair.silent || far.write(data));
    far.on("data", (data) => pair.silent || near.write(data));
    for (const [one, other] of [
      [near, far],
      [far, near],
    ]) {
      one.on("error", () => undefined);
      one.on("close", () => {
        pairs.delete(pair);
        other.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
  });
  return {
    address: `127.0.0.1:${server.address().port}`,
    get accepted() {
      return state.accepted;
    },
    /** Nothing comes through the connections that there are; those to come are like any other. */
    silence() {
      for (const pair of pairs) {
        pair.silent = true;
      }
    },
    /** Ends the connections that there are. */
    end() {
      for (const { near, far } of pairs) {
        near.destroy();
        far.destroy();
      }
    },
    /** Connections to come are accepted, and nothing comes through them. */
    mute(silent) {
      state.silent = silent;
    },
    lead(elsewhere) {
      state.target = elsewhere;
    },
  };
}
