mkdir "$WORK/tools"
printf %s "$2" >"$WORK/tools/.compiler"
chmod +x "$WORK/tools/.compiler"
patchwright_fields=$IFS; IFS=:
for folder in $PATH; do
  for program in "$folder"/cc "$folder"/c++ "$folder"/*gcc "$folder"/*g++ "$folder"/gcc-[0-9]* "$folder"/g++-[0-9]* "$folder"/clang "$folder"/clang++ "$folder"/clang-[0-9]* "$folder"/clang++-[0-9]*; do
    [ -x "$program" ] || continue
    [ -e "$WORK/tools/${program##*/}" ] || ln -s .compiler "$WORK/tools/${program##*/}"
    printf '%s\n' "$program"
  done
done >"$WORK/tools/.compilers"
IFS=$patchwright_fields
# CMake and Meson write the compilers' paths into what make and ninja read, and into what they themselves read when a
# command configures again. Those files stay as old as they are, or all would be configured and compiled again.
find "$TREE" "$OUT" -type f \( -name build.make -o -name build.ninja -o -name rules.ninja -o -name link.txt -o -name Makefile -o -name CMakeCache.txt -o \
  -name CMakeCCompiler.cmake -o -name CMakeCXXCompiler.cmake \) 2>/dev/null |
  while IFS= read -r file; do
    grep -qF -f "$WORK/tools/.compilers" "$file" || continue
    awk -v tools="$WORK/tools/" '
      NR == FNR { known[$0] = 1; next }
      {
        rest = $0; line = ""
        while (match(rest, /[^ \t="]+/)) {
          word = substr(rest, RSTART, RLENGTH)
          line = line substr(rest, 1, RSTART - 1)
          if (word in known) { sub(/.*\//, "", word); word = tools word }
          line = line word
          rest = substr(rest, RSTART + RLENGTH)
        }
        print line rest
      }' "$WORK/tools/.compilers" "$file" >"$WORK/tools/.new"
    touch -r "$file" "$WORK/tools/.age"
    cat "$WORK/tools/.new" >"$file"
    touch -r "$WORK/tools/.age" "$file"
  done
COUNTING_PATH=$PATH; PATH=$WORK/tools:$PATH
export COUNTING_PATH PATH
