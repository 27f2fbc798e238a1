set +e
for input in "$NOTES"/in/*; do
  sh -eu -c "$own$1" sh "$input" >/dev/null 2>&1 </dev/null
  echo ran
done
