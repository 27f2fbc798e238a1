set +e
run() {
  (GCOV_PREFIX=$WORK/counts; export GCOV_PREFIX; judged sh -eu -c "$own$2" sh "$1") >/dev/null 2>&1 </dev/null
}
counted() {
  first=${group# }
  first=${first%%:*}
  if counts >"$NOTES/out/$first"; then
    came=yes size=1
  else
    came= size=$((size < 8 ? size * 2 : 8))
  fi
  rm -rf "$WORK/counts"
  for one in $group; do
    name=${one%%:*}
    if [ "$came" ] && [ "$group" != " $one" ]; then
      run "$NOTES/in/$name" "$1"
      counts >"$NOTES/out/$name"
      rm -rf "$WORK/counts"
    elif [ "$name" != "$first" ]; then
      # Those that never come there have it in common.
      : >"$NOTES/out/$name"
    fi
    echo "$name ${one#*:}"
  done
  group= left=$size
}
group= size=1 left=1
for input in "$NOTES"/in/*; do
  run "$input" "$1"
  status=$?
  echo ran
  group="$group ${input##*/}:$status"
  left=$((left - 1))
  [ $left -gt 0 ] || counted "$1"
done
[ -z "$group" ] || counted "$1"
