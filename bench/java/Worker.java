import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** Takes Curator's locks on command (../README.md). usage: Worker mutex|write|read|semaphore URL LOCK */
public final class Worker {
    private static final int CONNECT_SECONDS = 20;

    private final Lock lock;

    private Worker(Lock lock) {
        this.lock = lock;
    }

    public static void main(String[] arguments) throws Exception {
        URI url = URI.create(arguments[1]);
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(url.getHost() + ":" + url.getPort())
                .sessionTimeoutMs(Integer.parseInt(url.getQuery().replace("session_timeout=", "")))
                .retryPolicy(new ExponentialBackoffRetry(1000, 3))
                .build();
        client.start();
        if (!client.blockUntilConnected(CONNECT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("no connection to " + url);
        }
        new Worker(Lock.of(arguments[0], client, "/" + arguments[2])).serve();
        client.close();
        System.exit(0);
    }

    private void serve() throws Exception {
        System.out.println("ready");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        for (String line = lines.readLine(); line != null && !line.equals("quit"); line = lines.readLine()) {
            String[] words = line.split(" ");
            System.out.println(obey(words));
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
