import java.io.File;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.zookeeper.server.DataTree;
import org.apache.zookeeper.server.persistence.FileTxnSnapLog;

/**
 * Sets the next number of the sequential children of nodes of a stopped server. The number must be greater than before.
 * Writes a new snapshot with the server's classes. usage: java -cp ITS_JARS Renumber.java DATA_DIRECTORY NUMBER PATH...
 */
class Renumber {
    public static void main(String[] arguments) throws Exception {
        File data = new File(arguments[0]);
        int number = Integer.parseInt(arguments[1]);
        DataTree tree = new DataTree();
        ConcurrentHashMap<Long, Integer> sessions = new ConcurrentHashMap<>();
        FileTxnSnapLog files = new FileTxnSnapLog(data, data);
        files.restore(tree, sessions, (header, change, digest) -> {});
        for (int i = 2; i < arguments.length; i += 1) {
            tree.setCversionPzxid(arguments[i], number, tree.lastProcessedZxid);
            int now = tree.getNode(arguments[i]).stat.getCversion();
            if (now != number) {
                throw new IllegalArgumentException(arguments[i] + " goes on with " + now + " already");
            }
        }
        files.save(tree, sessions, true);
        files.close();
    }
}
