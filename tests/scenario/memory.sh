#!/bin/sh
# What a synth-worker more costs: with a key of 2^17, the summed proportional memory of all processes
# grows by at most 24 MiB for each, for images and slabs are shared.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

most_kib=24576
check 'testkey makes a key of 2^17' \
    "$bin/testkey" --curve bn128 --profile dense --log2 17 --seed 1 --out "$work/key"
write_config <<'END'
dumpable = yes
[workers]
synth = 1
[lane main]
slabs = 4
size = 16M
credits = 4
END
start_stack
is 'the stack starts' 0 $?
check 'the circuit is added' "$pawl" circuit add big "$work/key/key.zkey"

summed_kib() {
    for pid in $("$pawl" status --json | jq '.pid, .workers[].pid'); do
        sed -n 's/^Pss: *\([0-9]*\) kB/\1/p' "/proc/$pid/smaps_rollup"
    done | awk '{ sum += $1 } END { print sum }'
}
prove() { # WITNESSES...
    "$pawl" submit big "$@" --wait
}
have_worked() { # N synth-workers have filled a slab
    "$pawl" status --json |
        jq -e "[.workers[] | select(.role == \"synth\" and .done_total > 0)] | length == $1"
}
w=$work/key/w1.wtns
check 'one synth-worker' prove "$w"
check 'it has worked' have_worked 1
one=$(summed_kib)
for more in 2 3 4; do
    kill -TTIN "$supervise_pid"
    wait_for 10 sh -c "[ \$('$pawl' status --json | jq '.workers | length') -eq $((more + 1)) ]"
done
# four grants at once: one for each
check 'four synth-workers' prove "$w" "$w" "$w" "$w"
check 'each has worked' have_worked 4
four=$(summed_kib)
each=$(((four - one) / 3))
echo "# 1 synth-worker: $one KiB in all; 4: $four KiB; each more: $each KiB"
check "each synth-worker more takes at most $most_kib KiB" [ "$each" -le "$most_kib" ]
stop_stack 'TERM'
finish
