import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.CuratorWatcher;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderLatchListener;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.data.Stat;

/** Curator's recipes by the names of the protocol. */
final class Recipes {
    private static final String SEMAPHORE = "semaphore:";

    private final CuratorFramework client;
    private final Map<String, InterProcessReadWriteLock> readWrites = new ConcurrentHashMap<>();

    Recipes(CuratorFramework client) {
        this.client = client;
    }

    /** Returns a hold, or null after the timeout; waits without limit if the timeout is negative. */
    Hold acquire(String kind, String path, long timeout) throws Exception {
        if (kind.startsWith(SEMAPHORE)) {
            return semaphore(path, Integer.parseInt(kind.substring(SEMAPHORE.length())), timeout, kind);
        }
        if (kind.equals("leader")) {
            return leader(path, timeout);
        }
        InterProcessLock lock = lock(kind, path);
        if (timeout < 0) {
            lock.acquire();
        } else if (!lock.acquire(timeout, TimeUnit.MILLISECONDS)) {
            return null;
        }
        List<Hold.Node> nodes = new ArrayList<>();
        for (String each : path.split(",")) {
            nodes.add(own(each, marker(kind)));
        }
        return new Hold(kind, path, nodes, lock::release);
    }

    /** The nodes of holders and waiters, in Curator's order. */
    Collection<String> contenders(String kind, String path) throws Exception {
        if (kind.startsWith(SEMAPHORE)) {
            return new InterProcessSemaphoreV2(client, path, 1).getParticipantNodes();
        }
        if (kind.equals("leader")) {
            List<String> ids = new ArrayList<>();
            try (LeaderLatch latch = new LeaderLatch(client, path)) {
                latch.getParticipants().forEach(participant -> ids.add(participant.getId()));
            }
            return ids;
        }
        InterProcessLock lock = lock(kind, path);
        if (lock instanceof InterProcessMutex) {
            return ((InterProcessMutex) lock).getParticipantNodes();
        }
        throw new IllegalArgumentException("Curator's " + kind + " does not tell");
    }

    static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    private InterProcessLock lock(String kind, String path) {
        switch (kind) {
            case "mutex":
                return new InterProcessMutex(client, path);
            case "revocable":
                InterProcessMutex mutex = new InterProcessMutex(client, path);
                mutex.makeRevocable(asked -> Json.event("revoke").put("path", path).say());
                return mutex;
            case "read":
                return readWrite(path).readLock();
            case "write":
                return readWrite(path).writeLock();
            case "multi":
                return new InterProcessMultiLock(client, Arrays.asList(path.split(",")));
            default:
                throw new IllegalArgumentException("Curator has no " + kind);
        }
    }

    // A writer can become a reader only with the same object.
    private InterProcessReadWriteLock readWrite(String path) {
        return readWrites.computeIfAbsent(path, unused -> new InterProcessReadWriteLock(client, path));
    }

    private static String marker(String kind) {
        return kind.equals("read") ? "__READ__" : kind.equals("write") ? "__WRIT__" : "lock-";
    }

    private Hold semaphore(String path, int permits, long timeout, String kind) throws Exception {
        InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(client, path, permits);
        Lease lease = timeout < 0 ? semaphore.acquire() : semaphore.acquire(timeout, TimeUnit.MILLISECONDS);
        if (lease == null) {
            return null;
        }
        String node = path + "/leases/" + lease.getNodeName();
        long czxid = client.checkExists().forPath(node).getCzxid();
        return new Hold(kind, path, List.of(new Hold.Node(node, czxid)), lease::close);
    }

    private Hold leader(String path, long timeout) throws Exception {
        LeaderLatch latch = new LeaderLatch(client, path, "0x" + Long.toHexString(session()));
        latch.addListener(new LeaderLatchListener() {
            @Override
            public void isLeader() {}

            @Override
            public void notLeader() {
                Json.event("not-leader").put("path", path).say();
            }
        });
        latch.start();
        boolean leads = false;
        try {
            if (timeout < 0) {
                latch.await();
            }
            leads = timeout < 0 || latch.await(timeout, TimeUnit.MILLISECONDS);
        } finally {
            if (!leads) {
                latch.close();
            }
        }
        if (!leads) {
            return null;
        }
        Hold.Node node = own(path, "latch-");
        return new Hold("leader", path, List.of(node), () -> {
            // Closed without the listener, because the peer's own close is not an event to report.
            latch.close(LeaderLatch.CloseMode.SILENT);
            waitUntilGone(node.path());
        });
    }

    /** A latch deletes its node in the background, after it has returned. */
    private void waitUntilGone(String node) throws Exception {
        CountDownLatch changed = new CountDownLatch(1);
        if (client.checkExists().usingWatcher((CuratorWatcher) event -> changed.countDown()).forPath(node) != null
                && !changed.await(10, TimeUnit.SECONDS)) {
            throw new IllegalStateException(node + ": Curator has not deleted the node for 10 s");
        }
    }

    private long session() throws Exception {
        return client.getZookeeperClient().getZooKeeper().getSessionId();
    }

    /** The first node of this session at this path, because Curator does not report its node. */
    private Hold.Node own(String path, String marker) throws Exception {
        long session = session();
        Hold.Node found = null;
        for (String child : client.getChildren().forPath(path)) {
            if (child.contains(marker)) {
                Stat stat = stat(path + "/" + child);
                if (stat != null && stat.getEphemeralOwner() == session
                        && (found == null || stat.getCzxid() < found.czxid())) {
                    found = new Hold.Node(path + "/" + child, stat.getCzxid());
                }
            }
        }
        if (found == null) {
            throw new KeeperException.NoNodeException(path + ": a lock was granted, and its node is gone");
        }
        return found;
    }

    private Stat stat(String node) throws Exception {
        return client.checkExists().forPath(node);
    }
}
