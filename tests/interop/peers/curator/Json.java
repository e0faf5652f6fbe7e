import java.util.Collection;
import java.util.stream.Collectors;

/** One line of the protocol: an object of strings, numbers, booleans and lists of strings. */
final class Json {
    private final StringBuilder line = new StringBuilder("{");

    static Json answer(String command) {
        return new Json().put("answer", command).put("ok", true);
    }

    static Json failure(String command, String error) {
        return new Json().put("answer", command).put("ok", false).put("error", error);
    }

    static Json event(String name) {
        return new Json().put("event", name);
    }

    Json put(String name, Object value) {
        line.append(line.length() > 1 ? ", " : "").append(quoted(name)).append(": ").append(text(value));
        return this;
    }

    /** Prints the line in one write, from any thread. */
    void say() {
        synchronized (System.out) {
            System.out.println(line + "}");
            System.out.flush();
        }
    }

    private static String text(Object value) {
        if (value instanceof Collection<?> many) {
            return many.stream().map(Json::text).collect(Collectors.joining(", ", "[", "]"));
        }
        return value instanceof String ? quoted((String) value) : String.valueOf(value);
    }

    private static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }
}
