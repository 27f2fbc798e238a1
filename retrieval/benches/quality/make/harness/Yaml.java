import java.nio.charset.StandardCharsets;

public class Yaml {
    public static void run(byte[] in) {
        try {
            for (Object document : new org.yaml.snakeyaml.Yaml(new org.yaml.snakeyaml.constructor.SafeConstructor()).loadAll(new String(in, StandardCharsets.UTF_8))) {
                String.valueOf(document).length();
            }
        } catch (org.yaml.snakeyaml.error.YAMLException e) {
        }
    }
}
