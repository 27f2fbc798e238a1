import java.nio.charset.StandardCharsets;
import org.mozilla.javascript.*;
import org.mozilla.javascript.ast.AstRoot;

public class Rhino {
    public static void run(byte[] in) {
        Context context = Context.enter();
        try {
            context.setOptimizationLevel(-1);
            context.setLanguageVersion(Context.VERSION_ES6);
            CompilerEnvirons environs = new CompilerEnvirons();
            environs.initFromContext(context);
            String text = new String(in, StandardCharsets.UTF_8);
            AstRoot root = new Parser(environs).parse(text, "a.js", 1);
            root.toSource();
            context.compileString(text, "a.js", 1, null);
        } catch (RhinoException e) {
        } finally {
            Context.exit();
        }
    }
}
