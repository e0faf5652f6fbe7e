import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;

/** Many contenders in one process, on few connections: each is a thread with a lock of its own. */
final class Crowd {
    /** A contender that holds. */
    private static final class Holder {
        private final int number;
        private final long granted = System.nanoTime();
        private final CompletableFuture<Void> releaseRequest = new CompletableFuture<>();
        private final CompletableFuture<long[]> released = new CompletableFuture<>();

        private Holder(int number) {
            this.number = number;
        }
    }

    private static final int LIMIT_SECONDS = 60;
    /** Small, because thousands of threads share the memory. */
    private static final int STACK = 256 * 1024;

    private final Worker.Connecting connecting;
    private final String kind;
    private final String path;
    private final List<CuratorFramework> clients = new ArrayList<>();
    private final BlockingQueue<Holder> granted = new LinkedBlockingQueue<>();
    private final TreeMap<Integer, Holder> holding = new TreeMap<>();
    private int joined;
    private volatile boolean closing;

    Crowd(Worker.Connecting connecting, String kind, String path) {
        this.connecting = connecting;
        this.kind = kind;
        this.path = path;
    }

    String obey(String[] words) throws Exception {
        int number = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        switch (words[0]) {
            case "open":
                for (int i = 0; i < number; i++) {
                    clients.add(connecting.connect());
                }
                return "[]";
            case "join":
                for (int i = 0; i < number; i++) {
                    join(joined++);
                }
                return "[]";
            case "pass":
                return pass(number);
            case "held":
                while (!granted.isEmpty()) {
                    next();
                }
                return "[" + holding.size() + "]";
            case "release":
                while (!holding.containsKey(number)) {
                    next();
                }
                long[] times = release(holding.remove(number));
                return "[" + times[0] + ", " + times[1] + "]";
            default:
                throw new IllegalArgumentException("unknown command: " + words[0]);
        }
    }

    private void join(int number) {
        Lock lock = Lock.of(kind, clients.get(number % clients.size()), path);
        Thread thread = new Thread(null, () -> contend(lock, number), "contender-" + number, STACK);
        thread.setDaemon(true);
        thread.start();
    }

    private void contend(Lock lock, int number) {
        try {
            lock.acquire();
            Holder holder = new Holder(number);
            granted.add(holder);
            holder.releaseRequest.get();
            long called = System.nanoTime();
            lock.release();
            holder.released.complete(new long[] {called, System.nanoTime()});
        } catch (Exception error) {
            if (!closing) {
                error.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        }
    }

    private Holder next() throws InterruptedException {
        Holder holder = granted.poll(LIMIT_SECONDS, TimeUnit.SECONDS);
        if (holder == null) {
            throw new IllegalStateException("no contender was granted the lock");
        }
        holding.put(holder.number, holder);
        return holder;
    }

    private long[] release(Holder holder) throws Exception {
        holder.releaseRequest.complete(null);
        return holder.released.get();
    }

    private String pass(int times) throws Exception {
        StringBuilder turns = new StringBuilder();
        for (int i = 0; i < times; i++) {
            if (holding.isEmpty()) {
                next();
            }
            long called = release(holding.pollFirstEntry().getValue())[0];
            turns.append(i > 0 ? ", [" : "[").append(called).append(", ").append(next().granted).append(']');
        }
        return "[" + turns + "]";
    }

    /** Closing the clients ends the contenders that still wait. */
    void close() {
        closing = true;
        clients.forEach(CuratorFramework::close);
    }
}
