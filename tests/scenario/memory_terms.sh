#!/bin/sh
# The terms of status.memory against what the processes really take: all their proportional memory
# together is at most the sum of the terms, and at least a third of it; so is each heap's.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

check 'testkey makes a key of 2^15' \
    "$bin/testkey" --curve bn128 --profile dense --log2 15 --seed 1 --out "$work/key"
write_config <<'END'
dumpable = yes
[limits]
queued_jobs = 100
queued_bytes = 16M
END
start_stack
is 'the stack starts' 0 $?
check 'a circuit is added' "$pawl" circuit add big "$work/key/key.zkey"
w=$work/key/w1.wtns
check 'it has worked' "$pawl" submit big "$w" "$w" "$w" "$w" "$w" "$w" --wait

pss_kib() { # FIELD PIDS...
    field=$1
    shift
    for pid; do
        sed -n "s/^$field: *\([0-9]*\) kB/\1/p" "/proc/$pid/smaps_rollup"
    done | awk '{ sum += $1 } END { print sum + 0 }'
}
term_kib() { # NAME
    "$pawl" status --json | jq ".memory.terms.$1 / 1024 | floor"
}
compare() { # TEXT MEASURED TERM
    echo "# $1: measured $2 KiB, planned $3 KiB"
    check "$1: measured at most planned" [ "$2" -le "$3" ]
    check "$1: measured at least a third of planned" [ "$((3 * $2))" -ge "$3" ]
}
coordinator=$("$pawl" status --json | jq .pid)
# shellcheck disable=SC2046 # numbers
set -- "$coordinator" $(worker_pids synth) $(worker_pids gpu)
compare 'the whole' "$(pss_kib Pss "$@")" "$("$pawl" status --json | jq '.memory.terms | add / 1024 | floor')"
# shellcheck disable=SC2046
compare 'synth-workers' "$(pss_kib Pss_Anon $(worker_pids synth))" "$(term_kib synth_heaps)"
# shellcheck disable=SC2046
compare 'the CPU device' "$(pss_kib Pss_Anon $(worker_pids gpu))" "$(term_kib device_scratch)"
compare 'the coordinator' "$(pss_kib Pss_Anon "$coordinator")" "$(term_kib coordinator)"
stop_stack 'TERM'
finish
