import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.ZooKeeper;

/** Acquires Curator's locks on command: the protocol is in ../../README.md. usage: Peer HOSTS SESSION_MS */
public final class Peer {
    private static final int CONNECT_MS = 20_000;

    private final CuratorFramework client;
    private final Recipes recipes;
    private final List<Hold> holds = new ArrayList<>();
    private final Map<String, Counter> counters = new HashMap<>();
    // Curator's mutex belongs to a thread, so one thread acquires and releases all locks.
    private final ExecutorService worker = Executors.newSingleThreadExecutor(this::thread);
    private final AtomicInteger acquiring = new AtomicInteger();
    private volatile Thread thread;

    private Peer(CuratorFramework client) {
        this.client = client;
        recipes = new Recipes(client);
    }

    public static void main(String[] arguments) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(arguments[0])
                .sessionTimeoutMs(Integer.parseInt(arguments[1]))
                .connectionTimeoutMs(CONNECT_MS)
                .retryPolicy(new ExponentialBackoffRetry(50, 8))
                .build();
        client.getConnectionStateListenable().addListener((unused, state) -> report(state));
        client.start();
        if (!client.blockUntilConnected(CONNECT_MS, TimeUnit.MILLISECONDS)) {
            System.err.println("no connection to " + arguments[0]);
            Runtime.getRuntime().halt(1);
        }
        String version = CuratorFramework.class.getPackage().getImplementationVersion();
        Json.answer("ready").put("peer", "curator").put("version", String.valueOf(version)).say();
        Peer peer = new Peer(client);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null && !line.trim().equals("quit"); line = lines.readLine()) {
            peer.obey(line.trim().split("\\s+"));
        }
        client.close();
        Runtime.getRuntime().halt(0); // a thread that waits for a lock would keep the process alive
    }

    private Thread thread(Runnable work) {
        thread = new Thread(work);
        return thread;
    }

    private static void report(ConnectionState state) {
        boolean connected = state == ConnectionState.CONNECTED || state == ConnectionState.RECONNECTED;
        Json.event("state").put("state", connected ? "connected" : state.name().toLowerCase()).say();
    }

    private void obey(String[] words) {
        switch (words[0]) {
            case "acquire":
                acquiring.incrementAndGet();
                worker.execute(() -> guarded(words, this::acquire));
                break;
            case "release":
            case "increment":
            case "work":
                worker.execute(() -> guarded(words, this::later));
                break;
            default:
                guarded(words, this::now);
        }
    }

    private interface Does {
        Json with(String[] words) throws Exception;
    }

    private void guarded(String[] words, Does does) {
        try {
            does.with(words).say();
        } catch (InterruptedException cancelled) {
            Json.answer(words[0]).put("granted", false).put("cancelled", true).say();
        } catch (Exception error) {
            Json.failure(words[0], error.toString()).say();
        }
    }

    private Json now(String[] words) throws Exception {
        Json answer = Json.answer(words[0]);
        switch (words[0]) {
            case "session":
                ZooKeeper session = client.getZookeeperClient().getZooKeeper();
                return answer.put("session", String.format("0x%x", session.getSessionId()))
                        .put("password", Recipes.hex(session.getSessionPasswd()))
                        .put("timeout_ms", session.getSessionTimeout());
            case "cancel":
                boolean waiting = acquiring.get() > 0;
                if (waiting) {
                    thread.interrupt();
                }
                return answer.put("cancelled", waiting);
            case "contenders":
                return answer.put("nodes", recipes.contenders(words[1], words[2]));
            case "revoke":
                Revoker.attemptRevoke(client, words[1]);
                return answer;
            default:
                return Json.failure(words[0], "no such command; see tests/interop/README.md");
        }
    }

    private Json later(String[] words) throws Exception {
        switch (words[0]) {
            case "release":
                Hold last = find(words.length > 1 ? words[1] : null);
                holds.remove(last);
                last.release();
                return last.describe(Json.answer("release"));
            case "increment":
                return Json.answer("increment").put("accepted", counter(words[1]).increment(find(null).czxid()));
            default:
                return work(words[1], words[2], counter(words[3]), Integer.parseInt(words[4]));
        }
    }

    private Json acquire(String[] words) throws Exception {
        long timeout = words.length > 3 ? Long.parseLong(words[3]) : -1;
        Hold hold;
        try {
            hold = recipes.acquire(words[1], words[2], timeout);
        } finally {
            acquiring.decrementAndGet();
            Thread.interrupted(); // a late cancellation must not affect the next command
        }
        if (hold == null) {
            return Json.answer("acquire").put("granted", false).put("cancelled", false);
        }
        holds.add(hold);
        return hold.describe(Json.answer("acquire").put("granted", true));
    }

    private Json work(String kind, String path, Counter counter, int rounds) throws Exception {
        int stale = 0;
        for (int done = 0; done < rounds; ) {
            Hold hold = recipes.acquire(kind, path, -1);
            if (counter.increment(hold.czxid())) {
                done++;
            } else {
                stale++;
            }
            hold.release();
        }
        return Json.answer("work").put("done", rounds).put("stale", stale);
    }

    private Hold find(String what) {
        for (int i = holds.size() - 1; i >= 0; i--) {
            if (what == null || holds.get(i).is(what)) {
                return holds.get(i);
            }
        }
        throw new IllegalStateException("nothing is held" + (what == null ? "" : " at " + what));
    }

    private Counter counter(String address) throws Exception {
        if (!counters.containsKey(address)) {
            counters.put(address, new Counter(address));
        }
        return counters.get(address);
    }
}
