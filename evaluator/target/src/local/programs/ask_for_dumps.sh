patchwright_pov & patchwright_job=$!
sleep 4
for patchwright_round in 1 2 3; do
  for patchwright_process in /proc/[0-9]*; do
    if grep -qx java "$patchwright_process/comm" 2>/dev/null; then
      kill -QUIT "${patchwright_process#/proc/}" 2>/dev/null || :
    fi
  done
  sleep 1
done
kill -KILL "$patchwright_job" 2>/dev/null || :
