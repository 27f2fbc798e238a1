export GIT_ALLOW_PROTOCOL=https:http:git:ssh:file GIT_TERMINAL_PROMPT=0
cd "$TASK"
git clone --quiet --no-checkout -- "$(cat url)" "$TREE"
git -C "$TREE" -c advice.detachedHead=false checkout --quiet --detach "$(cat revision)" --
