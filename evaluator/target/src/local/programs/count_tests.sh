GCOV_PREFIX=$WORK/counts; export GCOV_PREFIX
(eval "$1") >/dev/null 2>&1 </dev/null || :
unset GCOV_PREFIX
counts || :
