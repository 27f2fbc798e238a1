fail() { echo "$1"; exit 1; }
while read -r name value rest; do
    case "$name $value" in
    Cap[IPEA]*": 0000000000000000" | "NoNewPrivs: 1" | "Seccomp: 2") ;;
    Cap[IPEA]* | NoNewPrivs:* | Seccomp:*) fail "a command would keep privileges ($name $value)" ;;
    esac
done </proc/self/status
[ ! -w /proc/sys/kernel/core_pattern ] || fail "a command could set what belongs to the kernel's root"
