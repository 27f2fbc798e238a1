timeout() {
  while [ $# -gt 0 ]; do
    case $1 in
      -s | -k | --signal | --kill-after) shift 2 ;;
      -*) shift ;;
      *) break ;;
    esac
  done
  shift
  "$@"
}
