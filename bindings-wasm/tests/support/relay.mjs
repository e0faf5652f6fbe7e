// A TCP relay whose connections can fall silent one by one: the proxies of tests/servers hold all of them, new ones too.

import { once } from "node:events";
import net from "node:net";

/** Forwards to `target` ("HOST:PORT"), which may be changed: connections that are made later go there. `on`: where it listens. */
export async function relay(t, target, on = "127.0.0.1") {
  const pairs = new Set();
  const expected = new Set();
  const state = { target, accepted: 0, silent: false, delay: 0, asked: [] };
  /** A text may be cut in two. */
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
        // Whichever timer rings first passes on what has waited longest: answers keep their order.
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
    /** How many connections there are. */
    get open() {
      return pairs.size;
    },
    /** What has come of clients, a Buffer for each connection in the order in which they were made. */
    get asked() {
      return state.asked.map((chunks) => Buffer.concat(chunks));
    },
    /** Resolves when the client has been sent an answer of the server with this text: what falls silent later is too late for it. */
    passed: (text) => new Promise((done) => expected.add({ text, done })),
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
    /** Every answer takes so much longer, in ms. */
    delay(ms) {
      state.delay = ms;
    },
    lead(elsewhere) {
      state.target = elsewhere;
    },
  };
}
