import java.util.List;
import java.util.concurrent.Semaphore;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorEventType;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;

/** One of Curator's locks, with its defaults. */
interface Lock {
    /** Acquires the lock. */
    void acquire() throws Exception;

    /** Releases it, and waits for the server's reply. */
    void release() throws Exception;

    static Lock of(String kind, CuratorFramework client, String path) {
        switch (kind) {
            case "mutex":
                return of(new InterProcessMutex(client, path));
            case "write":
                return of(new InterProcessReadWriteLock(client, path).writeLock());
            case "read":
                return of(new InterProcessReadWriteLock(client, path).readLock());
            case "semaphore":
                return new OneLease(new InterProcessSemaphoreV2(client, path, 1));
            case "multi":
                return of(new InterProcessMultiLock(client, List.of(path + "-0", path + "-1", path + "-2")));
            case "election":
                return new Term(client, path);
            default:
                throw new IllegalArgumentException("no such kind: " + kind);
        }
    }

    private static Lock of(InterProcessLock lock) {
        return new Lock() {
            @Override
            public void acquire() throws Exception {
                lock.acquire();
            }

            @Override
            public void release() throws Exception {
                lock.release();
            }
        };
    }

    /** A semaphore with one lease. */
    final class OneLease implements Lock {
        private final InterProcessSemaphoreV2 semaphore;
        private Lease lease;

        private OneLease(InterProcessSemaphoreV2 semaphore) {
            this.semaphore = semaphore;
        }

        @Override
        public void acquire() throws Exception {
            lease = semaphore.acquire();
        }

        @Override
        public void release() {
            semaphore.returnLease(lease);
        }
    }
    /** An election: each term uses a new latch. Its close deletes the node in the background, and the client reports
     * when that is done. */
    final class Term implements Lock {
        private final CuratorFramework client;
        private final String path;
        private final Semaphore deleted = new Semaphore(0);
        private LeaderLatch latch;

        private Term(CuratorFramework client, String path) {
            this.client = client;
            this.path = path;
            client.getCuratorListenable().addListener((source, event) -> {
                if (event.getType() == CuratorEventType.DELETE) {
                    deleted.release();
                }
            });
        }

        @Override
        public void acquire() throws Exception {
            latch = new LeaderLatch(client, path);
            latch.start();
            latch.await();
        }

        @Override
        public void release() throws Exception {
            latch.close();
            deleted.acquire();
        }
    }
}
