work=$(mktemp -d)
tar --extract --gzip --no-same-owner --no-same-permissions --file "$TASK/repo.tar.gz" --directory "$work"
focus=$work/$(cat "$TASK/focus")
[ -d "$focus" ] || { echo "the repository's tarball has no folder $(cat "$TASK/focus")" >&2; exit 1; }
cp -a "$focus/." "$TREE/"
rm -rf "$work"
[ -f "$TASK/ref.diff" ] || exit 0
cd "$TREE"
git apply --whitespace=nowarn "$TASK/ref.diff" && exit 0
git apply --whitespace=nowarn -C1 "$TASK/ref.diff" && exit 0
patch --strip=1 --forward --batch --fuzz=3 --no-backup-if-mismatch --reject-file=- <"$TASK/ref.diff" ||
  echo "parts of ref.diff do not apply" >&2
