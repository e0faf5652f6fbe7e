// The driver's operations that a lock rarely needs, on a real server: the inputs that the hub receives from each.

import assert from "node:assert/strict";
import { clearInterval, setInterval } from "node:timers";
import { after, before, describe, test } from "node:test";

import zookeeper from "node-zookeeper-client";

import { ZooKeeperDriver } from "../dist/drivers/zookeeper/driver.js";
import { address, unique, within } from "./servers.mjs";

const NO_NODE = -101;
const BAD_VERSION = -103;
const NODE_EXISTS = -110;
const NOT_EMPTY = -111;
const ANY = -1;
const FLAGS = { ephemeralSequential: 1, watch: 4, ephemeral: 8 };

const text = (bytes) => Buffer.from(bytes).toString();
const bytes = (words) => Buffer.from(words);

/** A driver whose hub only records its inputs. */
class Recorder {
  #received = [];
  #notify = () => undefined;
  #id = 0;
  session = 0n;

  constructor(chroot = "") {
    const at = `${address("FENCEPOST_ZOOKEEPER")}${chroot}`;
    this.driver = new ZooKeeperDriver({
      make: () => zookeeper.createClient(at, { sessionTimeout: 30_000, retries: 0 }),
    });
    const hub = new Proxy(
      {},
      {
        get:
          (_, verb) =>
          (_now, ...said) =>
            this.#received.push({ verb, said }),
      },
    );
    const put = (input) => {
      input(hub, 0);
      this.#notify();
    };
    const ignore = () => undefined;
    this.driver.start({ put, blame: ignore, broken: ignore, reached: ignore, trouble: ignore, serves: () => true });
  }

  /** Sends a command; returns its id. */
  send(operation, path, { data = "", flags = 0, parts = [] } = {}) {
    this.#id += 1;
    this.driver.send({ type: "command", id: this.#id, operation, path, data: bytes(data), flags, parts });
    this.driver.flush();
    return this.#id;
  }

  /** Waits for the next input of the hub about a command or a session; returns its arguments. */
  async received(verb, about) {
    const find = () =>
      this.#received.findIndex((one) => one.verb === verb && (about === undefined || one.said[0] === about));
    await within(
      new Promise((resolve) => {
        this.#notify = () => find() >= 0 && resolve();
        this.#notify();
      }),
      `${verb} ${about}`,
    );
    const [{ said }] = this.#received.splice(find(), 1);
    return said;
  }

  async ask(verb, operation, path, more) {
    const id = this.send(operation, path, more);
    const [, session, ...said] = await this.received(verb, id);
    assert.equal(session, this.session);
    return said;
  }

  async connected() {
    for (;;) {
      const [state, session] = await this.received("session");
      if (state === "connected") {
        this.session = session;
        return;
      }
    }
  }
}

const part = (operation, path, flags = 0, data = "") => ({ operation, path, flags, data: bytes(data), version: ANY });
/** A part that names a version. */
const at = (version, operation, path, data) => ({ ...part(operation, path, 0, data), version });

for (const place of ["the root", "a chroot"]) {
  describe(`operations below ${place}`, { concurrency: false }, () => {
    const directory = `/${unique("operations").replaceAll("/", "-")}`;
    let one;
    let other;
    // A driver does not keep the process alive: the client does that.
    const alive = setInterval(() => undefined, 1000);

    before(async () => {
      const root = new Recorder();
      await root.connected();
      const chroot = place === "the root" ? "" : directory;
      if (chroot !== "") {
        await root.ask("created", "create", chroot);
      }
      await root.driver.close();
      [one, other] = [new Recorder(chroot), new Recorder(chroot)];
      await Promise.all([one.connected(), other.connected()]);
      await one.ask("created", "create", directory);
    });

    after(async () => {
      const [names] = await one.ask("children", "children", directory);
      for (const name of names) {
        await one.ask("done", "delete", `${directory}/${name}`);
      }
      await one.ask("done", "delete", directory);
      await Promise.all([one.driver.close(), other.driver.close()]);
      if (place !== "the root") {
        const root = new Recorder();
        await root.connected();
        await root.ask("done", "delete", directory);
        await root.driver.close();
      }
      clearInterval(alive);
    });

    test("a node is given other data, and says when it was created", async () => {
      const path = `${directory}/set`;
      const early = Date.now();
      const [made, czxid] = await one.ask("created", "create", path, { data: "old" });
      assert.equal(made, path);
      const watching = one.send("get", path, { flags: FLAGS.watch });
      const [, , old, first] = await one.received("data", watching);
      assert.deepEqual([text(old), first.version, first.czxid, first.ephemeralOwner], ["old", 0, czxid, 0n]);
      assert.deepEqual([first.mzxid, first.modified], [czxid, first.created]);
      // The server is on this machine, so it has the same clock.
      assert.ok(first.created >= early - 1 && first.created <= Date.now() + 1, String(first.created));
      await other.ask("done", "set", path, { data: "new" });
      assert.deepEqual(await one.received("watch", watching), [watching, one.session, "changed"]);
      const [data, stat] = await one.ask("data", "get", path);
      assert.deepEqual([text(data), stat.version, stat.created], ["new", 1, first.created]);
      assert.ok(stat.mzxid > stat.czxid && stat.modified >= stat.created && stat.modified <= Date.now() + 1);
      assert.deepEqual(await one.ask("error", "set", `${path}/missing`), [NO_NODE]);
    });

    test("an ephemeral node has the name that was asked for, and its session", async () => {
      const path = `${directory}/ephemeral`;
      const [made] = await one.ask("created", "create", path, { flags: FLAGS.ephemeral });
      assert.equal(made, path);
      const [, stat] = await other.ask("data", "get", path);
      assert.equal(stat.ephemeralOwner, one.session);
      assert.deepEqual(await other.ask("error", "create", path, { flags: FLAGS.ephemeral }), [NODE_EXISTS]);
    });

    test("a list is watched: for new names, and for its own end", async () => {
      const path = `${directory}/list`;
      await one.ask("created", "create", path);
      const watching = one.send("children", path, { flags: FLAGS.watch });
      assert.deepEqual((await one.received("children", watching))[2], []);
      await other.ask("created", "create", `${path}/a`);
      assert.deepEqual(await one.received("watch", watching), [watching, one.session, "changed"]);
      // A watch of the data and a watch of the list are independent, and two commands share one.
      const [get, list, again] = [
        one.send("get", path, { flags: FLAGS.watch }),
        one.send("children", path, { flags: FLAGS.watch }),
        one.send("children", path, { flags: FLAGS.watch }),
      ];
      assert.deepEqual((await one.received("children", again))[2], ["a"]);
      await other.ask("done", "delete", `${path}/a`);
      assert.deepEqual(await one.received("watch", list), [list, one.session, "changed"]);
      assert.deepEqual(await one.received("watch", again), [again, one.session, "changed"]);
      const last = one.send("children", path, { flags: FLAGS.watch });
      await one.received("children", last);
      await other.ask("done", "delete", path);
      assert.deepEqual(await one.received("watch", last), [last, one.session, "deleted"]);
      assert.deepEqual(await one.received("watch", get), [get, one.session, "deleted"]);
    });

    test("several writes are done together, or none of them", async () => {
      const gone = `${directory}/gone`;
      await one.ask("created", "create", gone);
      const [names] = await one.ask("children", "multi", "", {
        parts: [
          part("create", `${directory}/a-`, FLAGS.ephemeralSequential, "first"),
          part("delete", gone),
          part("create", `${directory}/b`, FLAGS.ephemeral),
        ],
      });
      assert.equal(names.length, 2);
      assert.match(names[0], /^a-\d{10}$/);
      assert.equal(names[1], "b");
      const [data, stat] = await other.ask("data", "get", `${directory}/${names[0]}`);
      assert.deepEqual([text(data), stat.ephemeralOwner], ["first", one.session]);
      assert.deepEqual(await one.ask("children", "multi", "", { parts: [part("check", "/")] }), [[]]);
      const failing = (...parts) => one.ask("error", "multi", "", { parts });
      assert.deepEqual(await failing(part("check", gone)), [NO_NODE]);
      const fresh = part("create", `${directory}/c`, FLAGS.ephemeral);
      assert.deepEqual(await failing(fresh, part("delete", gone), part("create", `${directory}/b`)), [NO_NODE]);
      assert.deepEqual(await failing(part("create", `${directory}/b`), part("delete", gone)), [NODE_EXISTS]);
      const [left] = await other.ask("children", "children", directory);
      assert.ok(!left.includes("c"), left.join());
    });

    test("of several writes, the error is that of the first one that fails", async () => {
      const [here, none] = [`${directory}/here`, `${directory}/none`];
      await one.ask("created", "create", here);
      const rows = [
        [at(7, "set", here), BAD_VERSION],
        [at(7, "delete", here), BAD_VERSION],
        [at(7, "check", here), BAD_VERSION],
        [part("delete", directory), NOT_EMPTY],
        [part("create", here), NODE_EXISTS],
        [at(0, "set", none), NO_NODE],
        [part("delete", none), NO_NODE],
        [at(0, "check", none), NO_NODE],
      ];
      for (const [row, [bad, code]] of rows.entries()) {
        const [other] = rows[(row + 3) % rows.length];
        for (const place of [0, 1, 2]) {
          const parts = [at(0, "check", here), at(0, "set", here, "x"), at(1, "check", here)];
          parts.splice(place, 0, bad, other);
          assert.deepEqual(await one.ask("error", "multi", "", { parts }), [code], `${bad.operation} at ${place}`);
        }
      }
      const [data, { version }] = await one.ask("data", "get", here);
      assert.deepEqual([text(data), version], ["", 0]);
    });

    test("a set among several writes has any data", async () => {
      const path = `${directory}/any`;
      await one.ask("created", "create", path, { data: "before" });
      let version = 0;
      for (const size of [256, 1_000_000, 0]) {
        const data = Uint8Array.from({ length: size }, (_, index) => index);
        const parts = [at(version, "set", path, "between"), at(version + 1, "set", path, data)];
        assert.deepEqual(await one.ask("children", "multi", "", { parts }), [[]]);
        version += 2;
        const [found, stat] = await other.ask("data", "get", path);
        assert.equal(stat.version, version);
        assert.ok(Buffer.from(data).equals(found), `${found.length} bytes`);
      }
      const remove = (version) => ({ parts: [at(version, "delete", path)] });
      assert.deepEqual(await one.ask("error", "multi", "", remove(version - 1)), [BAD_VERSION]);
      assert.deepEqual(await one.ask("children", "multi", "", remove(version)), [[]]);
    });
  });
}
