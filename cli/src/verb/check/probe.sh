# Run in the sandbox by `patchwright check`: tries what must not succeed, then
# the toolchains. Prints a name, a tab and a value for each; never fails.
set +e +u
say() { printf '%s\t%s\n' "$1" "$2"; }

# Out of the sandbox: whoever looks from outside judges whether it worked.
cat '%FILE%' 2>/dev/null
echo
( echo written > '%FILE%.written' ) 2>/dev/null
if command -v bash >/dev/null 2>&1; then
    ( bash -c 'echo tcp > /dev/tcp/127.0.0.1/%TCP%' ) >/dev/null 2>&1
    ( bash -c 'echo udp > /dev/udp/127.0.0.1/%UDP%' ) >/dev/null 2>&1
    say network tried
fi
env
cat /proc/[0-9]*/environ 2>/dev/null | tr '\000' '\n'
echo

escape=$(printf '\033')
version() {
    name=$1
    shift
    command -v "$1" >/dev/null 2>&1 || return 0
    # Maven writes in bold even to a file.
    say "$name" "$("$@" 2>&1 </dev/null | sed "1q" | sed "s/$escape\[[0-9;]*m//g")"
}
sanitizer() {
    command -v "$1" >/dev/null 2>&1 || return 0
    "$1" -x "$2" -g -fsanitize=address "$WORK/bug" -o "$WORK/program" >/dev/null 2>&1 || return 0
    "$WORK/program" 2>&1 | grep -q 'AddressSanitizer: heap-use-after-free' && say "$1 sanitizer" works
}
cat > "$WORK/bug" <<'BUG'
#include <stdlib.h>
int main(void) {
    volatile char *p = (volatile char *)malloc(4);
    free((void *)p);
    return p[1];
}
BUG
version cc cc --version
version c++ c++ --version
version clang clang --version
version clang++ clang++ --version
version java java -version
version javac javac -version
version mvn mvn -version
version gdb gdb --version
version jdb jdb -version
sanitizer cc c
sanitizer clang c
sanitizer c++ c++
sanitizer clang++ c++
say end reached
exit 0
