import com.typesafe.config.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class TypesafeConfig {
    public static void run(byte[] in) {
        String text = new String(in, StandardCharsets.UTF_8);
        for (ConfigSyntax syntax : new ConfigSyntax[] {ConfigSyntax.CONF, ConfigSyntax.JSON, ConfigSyntax.PROPERTIES}) {
            try {
                Config config = ConfigFactory.parseString(text, ConfigParseOptions.defaults().setSyntax(syntax).setAllowMissing(true));
                config.root().render(ConfigRenderOptions.defaults());
                Config whole = config.withFallback(ConfigFactory.parseString("z { y : 1, x : ${?a} }")).resolve(ConfigResolveOptions.defaults().setUseSystemEnvironment(false).setAllowUnresolved(in.length % 2 == 1));
                whole.root().render(ConfigRenderOptions.concise().setFormatted(true));
                for (String path : new String[] {"a", "b.c", "d", "z.x"}) {
                    if (!whole.hasPath(path)) continue;
                    try { whole.getString(path); whole.getInt(path); } catch (ConfigException e) { }
                    try { whole.getDuration(path); } catch (ConfigException e) { }
                    try { whole.getBytes(path); } catch (ConfigException e) { }
                    try { whole.getStringList(path); } catch (ConfigException e) { }
                    whole.withoutPath(path).withValue("q.r", whole.getValue(path)).atPath("s");
                }
                config.checkValid(ConfigFactory.parseString("a : 1"));
            } catch (ConfigException e) {
            }
        }
    }
}
