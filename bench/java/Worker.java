import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Acquires Curator's locks on command (../README.md).
 * usage: Worker [crowd-|many-]mutex|write|read|semaphore|multi|election URL LOCK */
public final class Worker {
    private static final int CONNECT_SECONDS = 20;

    /** Runs a command (the words of a line) and returns the line of its reply. */
    private interface Obeying {
        String obey(String[] words) throws Exception;
    }

    /** Opens connections to the server. */
    interface Connecting {
        CuratorFramework connect() throws Exception;
    }

    private final Lock lock;

    private Worker(Lock lock) {
        this.lock = lock;
    }

    public static void main(String[] arguments) throws Exception {
        URI url = URI.create(arguments[1]);
        String kind = arguments[0];
        String path = "/" + arguments[2];
        if (kind.startsWith("crowd-")) {
            Crowd crowd = new Crowd(() -> connect(url), kind.substring("crowd-".length()), path);
            serve(crowd::obey);
            crowd.close();
        } else if (kind.startsWith("many-")) {
            serve(new Many(connect(url), kind.substring("many-".length()), path)::obey);
        } else {
            CuratorFramework client = connect(url);
            serve(new Worker(Lock.of(kind, client, path))::obey);
            client.close();
        }
        // Not System.exit, because thousands of threads may still wait.
        Runtime.getRuntime().halt(0);
    }

    private static CuratorFramework connect(URI url) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(url.getHost() + ":" + url.getPort())
                .sessionTimeoutMs(Integer.parseInt(url.getQuery().replace("session_timeout=", "")))
                .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                .build();
        client.start();
        if (!client.blockUntilConnected(CONNECT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no connection to " + url);
        }
        return client;
    }

    private static void serve(Obeying obeying) throws Exception {
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null && !line.equals("quit"); line = lines.readLine()) {
            System.out.println(obeying.obey(line.split(" ")));
        }
    }

    private String obey(String[] words) throws Exception {
        switch (words[0]) {
            case "cycle":
                return cycle(Integer.parseInt(words[1]));
            case "contend":
                return contend(Long.parseLong(words[1]), Long.parseLong(words[2]));
            default:
                // System.nanoTime is CLOCK_MONOTONIC, which all processes of a machine share.
                long called = System.nanoTime();
                if (words[0].equals("acquire")) {
                    lock.acquire();
                } else {
                    lock.release();
                }
                return "[" + called + ", " + System.nanoTime() + "]";
        }
    }

    private String cycle(int times) throws Exception {
        long[] taken = new long[times];
        for (int i = 0; i < times; i++) {
            long start = System.nanoTime();
            lock.acquire();
            lock.release();
            taken[i] = System.nanoTime() - start;
        }
        return java.util.Arrays.toString(taken);
    }

    private String contend(long milliseconds, long holdMicroseconds) throws Exception {
        StringBuilder turns = new StringBuilder();
        long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds);
        for (long called = System.nanoTime(); called < end; called = System.nanoTime()) {
            lock.acquire();
            long granted = System.nanoTime();
            TimeUnit.MICROSECONDS.sleep(holdMicroseconds);
            turns.append(turns.length() > 0 ? ", [" : "[").append(called).append(", ").append(granted);
            turns.append(", ").append(System.nanoTime()).append(']');
            lock.release();
        }
        return "[" + turns + "]";
    }
}
