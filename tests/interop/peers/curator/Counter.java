import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** The counter of tests/mixed, which checks fences: read, then write one more. */
final class Counter {
    private final BufferedReader answers;
    private final OutputStream questions;

    Counter(String address) throws IOException {
        int colon = address.lastIndexOf(':');
        Socket socket = new Socket(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
        socket.setTcpNoDelay(true);
        answers = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
        questions = socket.getOutputStream();
    }

    /** Whether the counter accepted the fence both times. */
    boolean increment(long fence) throws IOException {
        String value = ask("read " + fence);
        return !value.equals("stale") && ask("write " + fence + " " + (Long.parseLong(value) + 1)).equals("ok");
    }

    private String ask(String line) throws IOException {
        questions.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        questions.flush();
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the counter has hung up");
        }
        return answer;
    }
}
