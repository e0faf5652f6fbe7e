// A TCP relay that can silence single connections: the proxies of tests/servers hold all of them, new ones too.

import { once } from "node:events";
import net from "node:net";

/**
 * Forwards to `target` ("HOST:PORT"). `lead` changes it for later connections. `on`: the host at which the relay
 * listens.
 */
export async function relay(t, target, on = "127.0.0.1") {
  const pairs = new Set();
  const expected = new Set();
  const state = { target, accepted: 0, silent: false, delay: 0, asked: [] };
  /** A text may arrive in two parts. */
  const receive = (pair, data) => {
    if (expected.size > 0) {
      pair.received = `${pair.received}${data.toString("latin1")}`.slice(-4096);
    }
    for (const one of expected) {
      if (pair.received.includes(one.text)) {
        expected.delete(one);
        one.done();
      }
    }
  };
  const server = net.createServer((near) => {
    state.accepted += 1;
    const [host, port] = state.target.split(":");
    const far = net.connect(Number(port), host);
    const pair = { near, far, silent: state.silent, received: "", late: [], asked: [] };
    pairs.add(pair);
    state.asked.push(pair.asked);
    near.on("data", (data) => {
      pair.asked.push(data);
      if (!pair.silent) {
        far.write(data);
      }
    });
    const answer = (data) => {
      if (!pair.silent) {
        near.write(data);
        receive(pair, data);
      }
    };
    far.on("data", (data) => {
      if (state.delay === 0 && pair.late.length === 0) {
        answer(data);
      } else {
        // Each timer passes on the oldest data, so that replies keep their order.
        pair.late.push(data);
        setTimeout(() => answer(pair.late.shift()), state.delay);
      }
    });
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
  server.listen(0, on);
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const { near, far } of pairs) {
      near.destroy();
      far.destroy();
    }
  });
  return {
    address: `${on.includes(":") ? `[${on}]` : on}:${server.address().port}`,
    get accepted() {
      return state.accepted;
    },
    /** The number of open connections. */
    get open() {
      return pairs.size;
    },
    /** The data from clients, a Buffer for each connection in the order in which they were made. */
    get asked() {
      return state.asked.map((chunks) => Buffer.concat(chunks));
    },
    /**
     * Resolves when a reply of the server with this text was sent to the client. A later `silence` does not affect that
     * reply.
     */
    passed: (text) => new Promise((done) => expected.add({ text, done })),
    /** Silences the present connections; later connections work as usual. */
    silence() {
      for (const pair of pairs) {
        pair.silent = true;
      }
    },
    /** Ends the present connections. */
    end() {
      for (const { near, far } of pairs) {
        near.destroy();
        far.destroy();
      }
    },
    /** Accepts later connections, but passes on no data of them. */
    mute(silent) {
      state.silent = silent;
    },
    /** Delays every reply by so many ms. */
    delay(ms) {
      state.delay = ms;
    },
    lead(elsewhere) {
      state.target = elsewhere;
    },
  };
}
