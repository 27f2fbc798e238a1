export TREE OUT WORK TASK NOTES JUDGED HARNESS SANITIZER JOBS
POV_COMMAND=$1; export POV_COMMAND; printf %s "$3" >"$NOTES/values.py"
exec gdb -nx -batch -x "$NOTES/values.py" >/dev/null 2>&1 </dev/null
