//! Commands that hang, run so that they can be looked at.

use super::Pov;
use std::time::Duration;

/// Takes the time limits out of a command: `timeout` would end the program before it is
/// looked at, and tells nothing of where it is.
pub(crate) const WITHOUT_TIMEOUT: &str = r#"timeout() {
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
"#;

/// Runs the function `patchwright_pov` and asks each JVM a few times what its threads are
/// doing. The dumps go to the output of the JVM itself.
const ASK_FOR_DUMPS: &str = r#"
patchwright_pov & patchwright_job=$!
sleep 4
for patchwright_round in 1 2 3; do
  for patchwright_process in /proc/[0-9]*; do
    if grep -qx java "$patchwright_process/comm" 2>/dev/null; then
      kill -QUIT "${patchwright_process#/proc/}" 2>/dev/null || :
    fi
  done
  sleep 1
done
kill -KILL "$patchwright_job" 2>/dev/null || :
"#;

/// Time for the dumps of a JVM: the waits between them, and a machine that is busy.
const DUMPS_TIME: Duration = Duration::from_secs(30);

/// Returns a Java PoV that hangs with its command, which then dumps the program's threads.
pub fn asking_for_dumps(pov: &Pov, command: &str) -> Pov {
    Pov {
        timeout: Some(DUMPS_TIME),
        command: Some(format!(
            "{WITHOUT_TIMEOUT}patchwright_pov() {{\n{command}\n}}\n{ASK_FOR_DUMPS}"
        )),
        ..pov.clone()
    }
}
