export FUZZING_LANGUAGE FUZZING_ENGINE=libfuzzer ARCHITECTURE=x86_64 LIB_FUZZING_ENGINE=-fsanitize=fuzzer
tar --extract --gzip --no-same-owner --no-same-permissions --file "$TASK/tooling.tar.gz" --directory "$WORK"
project=$(find "$WORK" -maxdepth 4 -type d -path "*/projects/$(cat "$TASK/project")" | head -n 1)
export SRC="$WORK/src"
mkdir -p "$SRC"
cp -a "$project/." "$SRC/"
focus=$(cat "$TASK/focus")
ln -sfn "$TREE" "$SRC/${focus##*/}"
cd "$TREE"
