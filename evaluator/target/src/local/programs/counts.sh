# Sorts the notes of a compiler by the program that reads them, or as those that name none of the wanted
# files and functions.
sort_in() {
  if [ ! -f "$1" ] || ! printf '%s\n' "$COUNTED_NAMES" | grep -qaFf - "$1"; then
    other=$other$1$newline
    return
  fi
  # The format's version: LLVM's is its own.
  case $(head -c 8 "$1" | tail -c 4) in
    '*'80? | '*'20?) of_llvm=$of_llvm$1$newline ;;
    *) of_gcc=$of_gcc$1$newline ;;
  esac
}
newline='
'
of_gcc=$newline of_llvm=$newline other=$newline
# Prints what the counters below $WORK/counts say of the wanted lines and functions. Succeeds where one
# of the lines was run, or of the functions where no line holds code.
counts() {
  found=$(find "$WORK/counts" -name '*.gcda' 2>/dev/null) || :
  IFS=$newline
  for data in $found; do
    notes=${data#"$WORK/counts"}
    notes=${notes%.gcda}.gcno
    case $of_gcc$of_llvm$other in
      *"$newline$notes$newline"*) ;;
      *) sort_in "$notes" ;;
    esac
  done
  unset IFS
  printf '%s\n' "$found" | while IFS= read -r data; do
    notes=${data#"$WORK/counts"}
    notes=${notes%.gcda}.gcno
    case $of_gcc in
      *"$newline$notes$newline"*) reader=gcov ;;
      *) case $of_llvm in *"$newline$notes$newline"*) reader='llvm-cov gcov' ;; *) continue ;; esac ;;
    esac
    ln -sf "$notes" "${data%.gcda}.gcno"
    (cd "${data%/*}" && $reader -b -c -m -t "${data##*/}" 2>/dev/null)
  done | awk '
    BEGIN {
      rows = split(ENVIRON["COUNTED_LINES"], row, "\n")
      for (i = 1; i <= rows; i++) { split(row[i], part, "\t"); path[i] = part[1]; first[i] = part[2] + 0; last[i] = part[3] + 0 }
      names = split(ENVIRON["COUNTED_FUNCTIONS"], name, "\n")
      for (i = 1; i <= names; i++) wanted[name[i]] = 1
    }
    function ends(long, short) { return long == short || substr(long, length(long) - length(short)) == "/" short }
    function found(line,  i) {
      for (i = 1; i <= rows; i++) if (line >= first[i] && line <= last[i] && (ends(source, path[i]) || ends(path[i], source))) return path[i]
      return ""
    }
    /^ *-: *0:Source:/ { source = $0; sub(/^ *-: *0:Source:/, "", source); gsub(/\.\.\//, "", source); sub(/^\.\//, "", source); at = ""; next }
    /^function .* called [0-9]+ / {
      text = $0; sub(/^function /, "", text)
      match(text, / called [0-9]+ /); count = substr(text, RSTART + 8) + 0
      text = substr(text, 1, RSTART - 1); sub(/\(.*/, "", text); sub(/^.*[: ]/, "", text)
      if (text in wanted) { print "F\t" text "\t" count; if (count > 0) ran = 1 }
      next
    }
    /^ *([0-9]+\*?|#####|=====): *[0-9]+:/ {
      split($0, part, ":"); count = part[1]; gsub(/[ *]/, "", count); line = part[2] + 0; at = found(line)
      if (at != "") { print "L\t" at "\t" line "\t" count + 0; lines = 1; if (count + 0 > 0) came = 1 }
      next
    }
    /^ *-: *[0-9]+:/ { at = ""; next }
    /^branch / && at != "" {
      way = /\(throw\)/ ? "throw" : /\(fallthrough\)/ ? "on" : ""
      print "B\t" at "\t" line "\t" $2 "\t" ($3 == "taken" ? $4 + 0 : 0) "\t" way
    }
    END { exit !(came || ran && !lines) }
  '
}
