#!/bin/sh
# A job of the kill9 tests: keeps the side log. usage: job.sh begin-to-end SECONDS | stubborn | flaky SECONDS
# Descriptor 9 holds the job's lock in every process of this run, so that the next run sees a survivor.
exec 9>>"$SIDE/$LOOPTASK_JOB.lock"
line() {
  printf '%s %s %s %s %s\n' "$LOOPTASK_JOB" "$LOOPTASK_NOMINAL" "$LOOPTASK_ATTEMPT" "$LOOPTASK_RUN_ID" "$1" >>"$SIDE/log"
  sync -d "$SIDE/log"
}
flock -n 9 || line overlap
line begin
case $1 in
  stubborn)
    trap '' TERM
    sleep 600 &
    sleep 600
    ;;
  flaky)
    sleep "$2"
    if [ "$LOOPTASK_ATTEMPT" -lt 3 ]; then exit 1; fi
    ;;
  *) sleep "$2" ;;
esac
line end
