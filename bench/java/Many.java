import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.framework.CuratorFramework;

/** Many threads on one client, each with a lock of its own. */
final class Many {
    /** The work of a thread with its lock. */
    private interface Working {
        void work(Lock lock) throws Exception;
    }

    /** Small, because thousands of threads share the memory. */
    private static final int STACK = 256 * 1024;
    private static final int PAGE = 4096;

    private final CuratorFramework client;
    private final String kind;
    private final String path;
    private final List<Lock> locks = new ArrayList<>();
    /** Keeps the threads of holders alive, because a lock of Curator belongs to a thread. */
    private final CountDownLatch never = new CountDownLatch(1);

    Many(CuratorFramework client, String kind, String path) {
        this.client = client;
        this.kind = kind;
        this.path = path;
    }

    String obey(String[] words) throws Exception {
        int number = words.length > 1 ? Integer.parseInt(words[1]) : 0;
        switch (words[0]) {
            case "open":
                for (int i = 0; i < number; i++) {
                    locks.add(Lock.of(kind, client, path + "-" + locks.size()));
                }
                return "[]";
            case "run":
                return run(number);
            case "hold":
                CountDownLatch held = new CountDownLatch(locks.size());
                each(lock -> {
                    lock.acquire();
                    held.countDown();
                    never.await();
                });
                held.await();
                return "[]";
            case "wait":
                each(Lock::acquire);
                Thread.sleep(number);
                return "[]";
            case "memory":
                System.gc();
                return "[" + Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]) * PAGE + "]";
            default:
                throw new IllegalArgumentException("unknown command: " + words[0]);
        }
    }

    private String run(int milliseconds) throws Exception {
        AtomicLong cycles = new AtomicLong();
        AtomicLong end = new AtomicLong();
        CountDownLatch begin = new CountDownLatch(1);
        List<Thread> threads = each(lock -> {
            begin.await();
            long done = 0;
            do {
                lock.acquire();
                lock.release();
                done++;
            } while (System.nanoTime() < end.get());
            cycles.addAndGet(done);
        });
        long start = System.nanoTime();
        long before = processorTime();
        end.set(start + TimeUnit.MILLISECONDS.toNanos(milliseconds));
        begin.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        long took = System.nanoTime() - start;
        return "[" + cycles.get() + ", " + took + ", " + (processorTime() - before) + "]";
    }

    private static long processorTime() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
    }

    /** A thread for each lock. */
    private List<Thread> each(Working working) {
        List<Thread> threads = new ArrayList<>();
        for (Lock lock : locks) {
            Thread thread = new Thread(null, () -> orDie(working, lock), "task", STACK);
            thread.setDaemon(true);
            thread.start();
            threads.add(thread);
        }
        return threads;
    }

    private static void orDie(Working working, Lock lock) {
        try {
            working.work(lock);
        } catch (Exception error) {
            System.err.println(error);
            Runtime.getRuntime().halt(1);
        }
    }
}
