
/**
 * What an expression holds in a frame of a stopped thread: names, members,
 * elements, casts and Java's operators. It calls nothing and assigns nothing.
 *
 * This text goes behind that of Probe.java into one file, so that java runs it
 * as it is; the imports stand there.
 */
final class Expression {
    /** A part of an expression, ready to be asked at every hit. */
    interface Part {
        Object in(StackFrame frame) throws Exception;
    }

    /** Why an expression holds nothing. */
    static final class Unanswered extends Exception {
        Unanswered(String reason) {
            super(reason);
        }
    }

    /** Operators between two operands, those that bind weakest first. */
    static final List<Set<String>> BINARY = List.of(Set.of("||"), Set.of("&&"), Set.of("|"), Set.of("^"), Set.of("&"),
        Set.of("==", "!="), Set.of("<", ">", "<=", ">="), Set.of("<<", ">>", ">>>"), Set.of("+", "-"), Set.of("*", "/", "%"));
    /** What an answer begins with that knows no such name. */
    static final String UNKNOWN = "Name unknown: ";
    static final Set<String> NUMBERS = Set.of("byte", "short", "char", "int", "long", "float", "double");
    static final java.util.regex.Pattern WORD = java.util.regex.Pattern.compile(
        "\\s*(?:[0-9][0-9a-zA-Z]*(?:\\.[0-9a-zA-Z]*)?|[A-Za-z_]\\w*|'(?:\\\\.[0-9a-fA-F]*|[^\\\\])'"
        + "|>>>|<<|>>|<=|>=|==|!=|&&|\\|\\||::|->|\\S)");

    private final List<String> words = new ArrayList<>();
    private int at;

    private Expression(String text) {
        java.util.regex.Matcher matcher = WORD.matcher(text.strip());
        while (matcher.lookingAt()) {
            words.add(matcher.group().strip());
            matcher.region(matcher.end(), matcher.regionEnd());
        }
    }

    static Part read(String text) throws Unanswered {
        Expression expression = new Expression(text);
        Part part = expression.choice();
        if (!expression.peek().isEmpty()) throw new Unanswered("Java has no " + expression.peek() + " there");
        return part;
    }

    private String peek() {
        return at < words.size() ? words.get(at) : "";
    }

    private boolean take(String word) {
        boolean there = peek().equals(word);
        if (there) at++;
        return there;
    }

    private void expect(String word) throws Unanswered {
        if (!take(word)) throw new Unanswered(word + " is missing");
    }

    private Part choice() throws Unanswered {
        Part condition = binary(0);
        if (!take("?")) return condition;
        Part yes = choice();
        expect(":");
        Part no = choice();
        return frame -> truth(condition.in(frame)) ? yes.in(frame) : no.in(frame);
    }

    private Part binary(int level) throws Unanswered {
        if (level == BINARY.size()) return unary();
        Part left = binary(level + 1);
        while (BINARY.get(level).contains(peek())) {
            String operator = words.get(at++);
            Part first = left, second = binary(level + 1);
            left = switch (operator) {
                case "&&" -> frame -> truth(first.in(frame)) && truth(second.in(frame));
                case "||" -> frame -> truth(first.in(frame)) || truth(second.in(frame));
                default -> frame -> operated(operator, first.in(frame), second.in(frame));
            };
        }
        return left;
    }

    private Part unary() throws Unanswered {
        if (take("!")) {
            Part operand = unary();
            return frame -> !truth(operand.in(frame));
        }
        for (String sign : List.of("-", "+", "~")) {
            if (!take(sign)) continue;
            Part operand = unary();
            return frame -> sign.equals("~") ? operated("^", operand.in(frame), -1) : operated(sign, 0, operand.in(frame));
        }
        String type = cast();
        if (type == null) return members();
        Part operand = unary();
        return frame -> NUMBERS.contains(type) ? converted(type, operand.in(frame)) : operand.in(frame);
    }

    /** The type between parentheses where what follows cannot follow a value. */
    private String cast() {
        int start = at;
        if (take("(")) {
            StringBuilder type = new StringBuilder();
            while (peek().matches("[A-Za-z_]\\w*|\\.|\\[|\\]") && !(peek().equals("[") && !next().equals("]"))) type.append(words.get(at++));
            boolean closed = take(")");
            boolean follows = peek().matches("[A-Za-z_0-9'(].*|[!~]");
            if (closed && type.length() > 0 && (NUMBERS.contains(type.toString()) || follows)) return type.toString();
        }
        at = start;
        return null;
    }

    private String next() {
        return at + 1 < words.size() ? words.get(at + 1) : "";
    }

    private Part members() throws Unanswered {
        Part part = primary();
        while (true) {
            if (take("[")) {
                Part array = part, index = choice();
                expect("]");
                part = frame -> element(array.in(frame), index.in(frame));
            } else if (take(".")) {
                Part object = part;
                String name = words.get(at++);
                part = frame -> member(object.in(frame), name);
            } else {
                return part;
            }
        }
    }

    private Part primary() throws Unanswered {
        if (take("(")) {
            Part inner = choice();
            expect(")");
            return inner;
        }
        String word = peek();
        at++;
        if (word.startsWith("'")) {
            char constant = character(word);
            return frame -> constant;
        }
        if (word.matches("[0-9].*")) {
            Object constant = number(word);
            return frame -> constant;
        }
        if (!word.matches("[A-Za-z_]\\w*")) throw new Unanswered(word.isEmpty() ? "an operand is missing" : "Java has no " + word + " there");
        switch (word) {
            case "null": return frame -> null;
            case "true": return frame -> true;
            case "false": return frame -> false;
            case "this": return frame -> known("this", frame.thisObject());
            default: return named(word);
        }
    }

    /** A variable or a field; else a class, with the names behind it up to its field. */
    private Part named(String first) {
        List<String> path = new ArrayList<>(List.of(first));
        for (int ahead = at; ahead + 1 < words.size() && words.get(ahead).equals("."); ahead += 2) path.add(words.get(ahead + 1));
        int start = at;
        at += 2 * (path.size() - 1);
        return frame -> {
            Object[] found = variable(frame, first);
            int used = 1;
            for (int length = path.size() - 1; found == null && length >= 1; length--) {
                found = constant(frame, String.join(".", path.subList(0, length)), path.get(length));
                used = length + 1;
            }
            if (found == null) throw new Unanswered(UNKNOWN + first);
            Object value = found[0];
            for (String name : path.subList(used, path.size())) value = member(value, name);
            return value;
        };
    }

    /** A local variable or a field in sight, those of the surrounding objects too; null when there is none. */
    static Object[] variable(StackFrame frame, String name) throws Exception {
        try {
            LocalVariable local = frame.visibleVariableByName(name);
            if (local != null) return new Object[] {plain(frame.getValue(local))};
        } catch (AbsentInformationException e) {
            // Fields have names all the same.
        }
        ObjectReference object = frame.thisObject();
        while (object != null) {
            for (String known : List.of(name, "val$" + name)) {
                Field field = object.referenceType().fieldByName(known);
                if (field != null) return new Object[] {plain(object.getValue(field))};
            }
            ObjectReference inner = object;
            object = null;
            for (Field field : inner.referenceType().fields()) {
                if (field.name().startsWith("this$")) object = (ObjectReference) inner.getValue(field);
            }
        }
        ReferenceType type = frame.location().declaringType();
        for (String outer = type.name(); ; outer = outer.substring(0, outer.lastIndexOf('$'))) {
            for (ReferenceType one : frame.virtualMachine().classesByName(outer)) {
                Field field = one.fieldByName(name);
                if (field != null && field.isStatic()) return new Object[] {plain(one.getValue(field))};
            }
            if (outer.lastIndexOf('$') < 1) return null;
        }
    }

    /** A static field of a class by its name, whole or without the package. */
    static Object[] constant(StackFrame frame, String name, String member) {
        String ending = name.replace('.', '$');
        ReferenceType best = null;
        for (ReferenceType type : frame.virtualMachine().allClasses()) {
            if (!type.isPrepared()) continue;
            boolean whole = type.name().replace('$', '.').equals(name);
            boolean simple = type.name().endsWith("." + ending) || type.name().endsWith("$" + ending);
            if (whole || (simple && (best == null || type.name().compareTo(best.name()) < 0))) best = type;
            if (whole) break;
        }
        Field field = best == null ? null : best.fieldByName(member);
        return field == null || !field.isStatic() ? null : new Object[] {plain(best.getValue(field))};
    }

    static Object member(Object object, String name) throws Unanswered {
        if (object == null) throw new Unanswered("." + name + " of null");
        if (object instanceof ArrayReference array && name.equals("length")) return array.length();
        if (!(object instanceof ObjectReference reference)) throw new Unanswered("a number has no ." + name);
        Field field = reference.referenceType().fieldByName(name);
        if (field == null) throw new Unanswered(Probe.brief(reference.referenceType()) + " has no field " + name);
        return plain(reference.getValue(field));
    }

    static Object element(Object array, Object index) throws Unanswered {
        if (array == null) throw new Unanswered("an element of null");
        if (!(array instanceof ArrayReference elements)) throw new Unanswered("only arrays have elements");
        long place = number(index).longValue();
        if (place < 0 || place >= elements.length()) throw new Unanswered("no element " + place + ": the array has " + elements.length());
        return plain(elements.getValue((int) place));
    }

    static Object known(String name, Object value) throws Unanswered {
        if (value == null) throw new Unanswered("there is no " + name + " in a static method");
        return value;
    }

    /** Numbers, characters and truth as Java's own; objects stay references. */
    static Object plain(Value value) {
        if (value instanceof BooleanValue it) return it.value();
        if (value instanceof CharValue it) return it.value();
        if (value instanceof ByteValue it) return it.value();
        if (value instanceof ShortValue it) return it.value();
        if (value instanceof IntegerValue it) return it.value();
        if (value instanceof LongValue it) return it.value();
        if (value instanceof FloatValue it) return it.value();
        if (value instanceof DoubleValue it) return it.value();
        return value;
    }

    static boolean truth(Object value) throws Unanswered {
        if (value instanceof Boolean it) return it;
        throw new Unanswered("a condition is missing: this is neither true nor false");
    }

    static Number number(Object value) throws Unanswered {
        if (value instanceof Character it) return (int) it;
        if (value instanceof Number it) return it;
        throw new Unanswered(value == null ? "null is no number" : "this is no number");
    }

    static Object operated(String operator, Object left, Object right) throws Unanswered {
        boolean equals = operator.equals("==") || operator.equals("!=");
        if (equals && !(left instanceof Number || left instanceof Character)) return Objects.equals(left, right) == operator.equals("==");
        if (left instanceof Boolean one && right instanceof Boolean other) {
            switch (operator) {
                case "&": return one & other;
                case "|": return one | other;
                case "^": return one ^ other;
                default: throw new Unanswered(operator + " does not go with true and false");
            }
        }
        Number a = number(left), b = number(right);
        if (real(a) || real(b)) {
            boolean wide = a instanceof Double || b instanceof Double;
            Object result = reals(operator, a.doubleValue(), b.doubleValue());
            return result instanceof Double it && !wide ? (Object) it.floatValue() : result;
        }
        boolean shift = operator.length() > 1 && (operator.startsWith("<<") || operator.startsWith(">>"));
        boolean wide = a instanceof Long || (!shift && b instanceof Long);
        if (wide) return wholes(operator, a.longValue(), b.longValue());
        Object result = switch (operator) {
            case "<<" -> (long) (a.intValue() << b.intValue());
            case ">>" -> (long) (a.intValue() >> b.intValue());
            case ">>>" -> (long) (a.intValue() >>> b.intValue());
            default -> wholes(operator, a.intValue(), b.intValue());
        };
        return result instanceof Long it ? (Object) it.intValue() : result;
    }

    static boolean real(Number number) {
        return number instanceof Float || number instanceof Double;
    }

    static Object reals(String operator, double a, double b) throws Unanswered {
        return switch (operator) {
            case "+" -> a + b;
            case "-" -> a - b;
            case "*" -> a * b;
            case "/" -> a / b;
            case "%" -> a % b;
            case "==" -> a == b;
            case "!=" -> a != b;
            case "<" -> a < b;
            case ">" -> a > b;
            case "<=" -> a <= b;
            case ">=" -> a >= b;
            default -> throw new Unanswered(operator + " wants whole numbers");
        };
    }

    static Object wholes(String operator, long a, long b) throws Unanswered {
        if ((operator.equals("/") || operator.equals("%")) && b == 0) throw new Unanswered("division by zero");
        return switch (operator) {
            case "+" -> a + b;
            case "-" -> a - b;
            case "*" -> a * b;
            case "/" -> a / b;
            case "%" -> a % b;
            case "&" -> a & b;
            case "|" -> a | b;
            case "^" -> a ^ b;
            case "<<" -> a << b;
            case ">>" -> a >> b;
            case ">>>" -> a >>> b;
            case "==" -> a == b;
            case "!=" -> a != b;
            case "<" -> a < b;
            case ">" -> a > b;
            case "<=" -> a <= b;
            default -> a >= b;
        };
    }

    static Object converted(String type, Object value) throws Unanswered {
        Number number = number(value);
        long whole = number instanceof Double || number instanceof Float ? (long) number.doubleValue() : number.longValue();
        int narrow = real(number) ? (int) number.doubleValue() : (int) whole;
        return switch (type) {
            case "byte" -> (Object) (byte) narrow;
            case "short" -> (short) narrow;
            case "char" -> (char) narrow;
            case "int" -> narrow;
            case "long" -> whole;
            case "float" -> number.floatValue();
            default -> number.doubleValue();
        };
    }

    static Object number(String word) throws Unanswered {
        String digits = word.toLowerCase(Locale.ROOT);
        try {
            boolean hex = digits.startsWith("0x");
            if (!hex && digits.matches(".*[.efd].*")) return digits.endsWith("f") ? (Object) Float.valueOf(digits) : Double.valueOf(digits);
            boolean wide = digits.endsWith("l");
            digits = digits.replaceAll("[ul]+$", "");
            boolean octal = !hex && digits.matches("0[0-7]+");
            long value = Long.parseUnsignedLong(hex ? digits.substring(2) : digits, hex ? 16 : octal ? 8 : 10);
            boolean fits = hex || octal ? value >>> 32 == 0 : value <= Integer.MAX_VALUE && value >= 0;
            return fits && !wide ? (Object) (int) value : (Object) value;
        } catch (NumberFormatException e) {
            throw new Unanswered(word + " is no number of Java");
        }
    }

    static char character(String word) throws Unanswered {
        String inside = word.substring(1, word.length() - 1);
        if (inside.length() == 1) return inside.charAt(0);
        char kind = inside.charAt(1);
        int place = "ntrbf0\\'\"".indexOf(kind);
        if (inside.length() == 2 && place >= 0) return "\n\t\r\b\f\0\\'\"".charAt(place);
        try {
            if (kind == 'u' || kind == 'x') return (char) Integer.parseInt(inside.substring(2), 16);
            return (char) Integer.parseInt(inside.substring(1), 8);
        } catch (NumberFormatException e) {
            throw new Unanswered(word + " is no character of Java");
        }
    }
}
