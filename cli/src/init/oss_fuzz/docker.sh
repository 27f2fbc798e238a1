#!/bin/sh
# The client `docker`, as helper.py calls it: it asks the engine of $DOCKER_HOST, and marks the containers that it starts
# with $CONTAINER_LABEL, so that they can be found and removed. Its own folder is the first of the path.
PATH=${PATH#*:}
case ${1-} in
run)
  shift
  set -- run --label "$CONTAINER_LABEL" "$@"
  ;;
esac
if command -v docker >/dev/null; then
  exec docker "$@"
fi
exec podman --remote "$@"
