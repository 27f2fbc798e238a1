command -v gdb >/dev/null || { echo "gdb is not installed here"; exit 3; }
printf %s "$2" >"$NOTES/gdb.py"
stand_in() {
  cp -rs "$1" "$2"
  printf '%s\n' "$3" | while IFS= read -r program; do
    [ -n "$program" ] || continue
    stand_in=$2/$program
    rm -f "$stand_in"
    printf '#!/bin/sh\nTREE="%s" exec gdb -nx -batch -x "$NOTES/gdb.py" --args "%s" "$@"\n' "$TREE" "$1/$program" >"$stand_in"
    chmod +x "$stand_in"
  done
}
command=$1
stand_in "$OUT" "$NOTES/out" "$OUT_PROGRAMS"
OUT=$NOTES/out
case $command in
  *'$OUT'* | *'${OUT'*) ;;
  *) stand_in "$TREE" "$NOTES/tree" "$TREE_PROGRAMS"; TREE=$NOTES/tree; cd "$TREE" ;;
esac
set -- "$command"
eval "$1" >/dev/null 2>&1 </dev/null
