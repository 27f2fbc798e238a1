exec 3<&0 </dev/null
{ while read -r line; do :; done; kill -KILL -1; } <&3 2>/dev/null &
/bin/sh -eu -c "$@" 3<&-
exit $?
