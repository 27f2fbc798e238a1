//! A program for tests that look at everything but the program: its bug is a
//! word in it, which `grep` finds. Nothing is compiled.

/// A program whose bug is a word in it.
pub const PROGRAM: &str = "int main(void) {\n  work(BUG);\n  return 0;\n}\n";
/// The patch that takes the word away.
pub const PATCH: &str = "<patch><explanation>It must not be there.</explanation>
<edit file=\"main.c\" lines=\"2-2\">
<original>
  work(BUG);
</original>
<replacement>
  work(2);
</replacement>
</edit></patch>";
