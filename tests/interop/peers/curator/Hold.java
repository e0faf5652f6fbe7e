import java.util.ArrayList;
import java.util.List;

/** A held lock: one node, or one for each path of a multi-lock. */
final class Hold {
    /** A node, and the zxid of its creation. */
    record Node(String path, long czxid) {}

    /** Releases the lock. */
    interface Release {
        void run() throws Exception;
    }

    private final String kind;
    private final String path;
    private final List<Node> nodes;
    private final Release release;

    Hold(String kind, String path, List<Node> nodes, Release release) {
        this.kind = kind;
        this.path = path;
        this.nodes = nodes;
        this.release = release;
    }

    /** Whether `what` is its path or its node. */
    boolean is(String what) {
        return what.equals(path) || what.equals(nodes.get(0).path());
    }

    long czxid() {
        return nodes.get(0).czxid();
    }

    void release() throws Exception {
        release.run();
    }

    Json describe(Json answer) {
        List<String> paths = new ArrayList<>();
        List<String> czxids = new ArrayList<>();
        for (Node node : nodes) {
            paths.add(node.path());
            czxids.add(Long.toString(node.czxid()));
        }
        answer.put("kind", kind).put("path", path).put("node", paths.get(0)).put("czxid", czxids.get(0));
        return paths.size() == 1 ? answer : answer.put("nodes", paths).put("czxids", czxids);
    }
}
