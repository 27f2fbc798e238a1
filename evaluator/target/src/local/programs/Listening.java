
/**
 * Starts a command whose JVMs connect to this one, to be looked at. What is written here is not in their reach.
 *
 * This text goes behind another program into one file, so that java runs it as it is; the imports stand there.
 */
final class Listening {
    interface Looking {
        void at(VirtualMachine vm);
    }

    /** Runs a command for some milliseconds at the most; returns its end, or null where no debugger can connect. */
    static String run(String command, long limit, Looking looking) throws Exception {
        ListeningConnector listening = null;
        for (ListeningConnector one : Bootstrap.virtualMachineManager().listeningConnectors()) {
            if (one.name().equals("com.sun.jdi.SocketListen")) listening = one;
        }
        final ListeningConnector connector = listening;
        final Map<String, Connector.Argument> where = connector.defaultArguments();
        where.get("localAddress").setValue("127.0.0.1");
        String address;
        try {
            address = connector.startListening(where);
        } catch (java.io.IOException e) {
            return null;
        }
        Thread accepting = new Thread(() -> {
            while (true) {
                try {
                    VirtualMachine vm = connector.accept(where);
                    Thread serving = new Thread(() -> looking.at(vm));
                    serving.setDaemon(true);
                    serving.start();
                } catch (Exception e) {
                    return;
                }
            }
        });
        accepting.setDaemon(true);
        accepting.start();
        String judged = System.getenv("JUDGED") + " /bin/sh -eu -c \"$1\"";
        ProcessBuilder builder = new ProcessBuilder("/bin/sh", "-c", judged, "sh", command);
        String option = "-agentlib:jdwp=transport=dt_socket,server=n,suspend=y,address=127.0.0.1:" + address.replaceAll(".*:", "");
        builder.environment().merge("JAVA_TOOL_OPTIONS", option, (old, more) -> old + " " + more);
        builder.redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.redirectInput(ProcessBuilder.Redirect.from(new java.io.File("/dev/null")));
        Process process = builder.start();
        boolean over = process.waitFor(limit, java.util.concurrent.TimeUnit.MILLISECONDS);
        return over ? "exit status " + process.exitValue() : "time";
    }
}
