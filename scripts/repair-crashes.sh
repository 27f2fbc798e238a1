#!/bin/sh
# repair-crashes.sh: repairs the crashes of a fuzzing job and collects what a maintainer wants to see.
#
#   repair-crashes.sh TASK CRASHES OUT
#
# TASK      a folder with a task.toml of the project, without [[pov]] (docs/tasks.md); further keys of each [[pov]], such
#           as its build or harness, stand in a file pov.toml beside it
# CRASHES   a folder with the inputs that the job found, one file each
# OUT       is made: results.xml (JUnit), summary.md, and a folder for each repaired crash with patch.diff, patch.sarif,
#           report.json and pull-request.md
#
# Leaves with the status of `patchwright batch`: 0 only when every crash has a verified patch. With DRAFT=yes, each verified
# patch is pushed as a branch and a draft pull request is opened by `gh`; nothing is pushed otherwise.
set -eu

fail() {
  echo "repair-crashes: error: $*" >&2
  exit 2
}

[ $# -eq 3 ] || fail "wants three folders: TASK CRASHES OUT"
task=$1 crashes=$2 out=$3
[ -f "$task/task.toml" ] || fail "there is no $task/task.toml"
! grep -q '^\[\[pov\]\]' "$task/task.toml" || fail "$task/task.toml has a [[pov]] of its own: leave it out"
grep -q '^id *=' "$task/task.toml" || fail "$task/task.toml has no id"
mkdir -p "$out"
tasks=$out/tasks
rm -rf "$tasks"
mkdir -p "$tasks"

number=0
for crash in "$crashes"/*; do
  [ -f "$crash" ] || continue
  number=$((number + 1))
  # The name by content: the same crash is the same task in the next job.
  sum=$(sha256sum <"$crash" | cut -c 1-12)
  cp -r "$task" "$tasks/$sum"
  cp "$crash" "$tasks/$sum/crash-$sum"
  sed -i "s/^id *=.*/id = \"crash-$sum\"/" "$tasks/$sum/task.toml"
  printf '\n[[pov]]\nfile = "crash-%s"\n' "$sum" >>"$tasks/$sum/task.toml"
  [ ! -f "$task/pov.toml" ] || cat "$task/pov.toml" >>"$tasks/$sum/task.toml"
done
if [ "$number" = 0 ]; then
  echo "repair-crashes: no crash in $crashes, nothing to do"
  exit 0
fi

status=0
patchwright batch "$tasks" --report junit >"$out/results.xml" || status=$?
echo "# Crashes" >"$out/summary.md"
for folder in "$tasks"/*; do
  id=crash-${folder##*/}
  for format in diff:patch.diff sarif:patch.sarif pr:pull-request.md; do
    mkdir -p "$out/$id"
    patchwright export "$id" --format "${format%%:*}" --out "$out/$id/${format#*:}" --force >/dev/null 2>&1 || true
  done
  patchwright show "$id" >"$out/$id/story.txt" 2>/dev/null || true
  ending=$(head -n 1 "$out/$id/story.txt" 2>/dev/null || true)
  printf '\n- `%s`: %s\n' "$id" "${ending:-no run}" >>"$out/summary.md"
  if [ "${DRAFT:-no}" = yes ] && patchwright show "$id" >/dev/null 2>&1 && [ -s "$out/$id/patch.diff" ]; then
    branch=patchwright/$id
    patchwright export "$id" --format branch --branch "$branch" --repo . >/dev/null
    git push --quiet origin "refs/heads/$branch"
    gh pr create --draft --head "$branch" --title "Repair $id" --body-file "$out/$id/pull-request.md"
  fi
done
cat "$out/summary.md"
exit "$status"
