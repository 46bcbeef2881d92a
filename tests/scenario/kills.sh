#!/bin/sh
# kill -9 of workers in the middle of the load: every job still ends right; and after ten kills of
# each kind nothing is left behind.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

write_config <<'END'
[workers]
synth = 3
[lane main]
slabs = 6
size = 1M
credits = 4
[limits]
deaths = 20
END
start_stack
is 'the stack starts' 0 $?
check 'circuits are added' add_circuits
check 'the load is taken' submit_load

done_partitions() { # at least N
    [ "$("$pawl" status --json | jq '[.workers[] | select(.role == "gpu").done_total] | add')" -ge "$1" ]
}
kill_one() { # ROLE: kill -9 of the one at work, or else of the first
    pid=$("$pawl" status --json | jq -r "[.workers[] | select(.role == \"$1\")] |
        (map(select(.job != null)) + .)[0].pid")
    kill -KILL "$pid"
}
replaced() { # ROLE PID N: it is gone, and N of the role are there
    ! worker_pids "$1" | grep -qx "$2" && [ "$(worker_pids "$1" | wc -l)" -eq "$3" ]
}

wait_for 20 done_partitions 20
kill_one synth
check 'kill -9 of a synth-worker: another takes its place' wait_for 5 replaced synth "$pid" 3
wait_for 20 done_partitions 60
kill_one gpu
check 'kill -9 of the gpu-worker: another takes its place' wait_for 5 replaced gpu "$pid" 1
judge_load 'load'
judge_credits 'load'
is 'both deaths are counted' '1 1' "$("$pawl" status --json | jq -r '.deaths_total | "\(.synth) \(.gpu)"')"
is 'no job failed' 0 "$("$pawl" status --json | jq .jobs.failed_total)"

# ---- ten of each kind ----

coordinator_fds() {
    find "/proc/$("$pawl" status --json | jq .pid)/fd" -mindepth 1 | wc -l
}
before=$(coordinator_fds)
rm -rf "$work/out"
check 'the load once more' submit_load
turn=0
while [ $turn -lt 10 ]; do
    kill_one synth
    wait_for 10 replaced synth "$pid" 3 || not_ok "turn $turn: no new synth-worker"
    kill_one gpu
    wait_for 10 replaced gpu "$pid" 1 || not_ok "turn $turn: no new gpu-worker"
    turn=$((turn + 1))
done
judge_load 'ten kills of each kind'
judge_credits 'ten kills of each kind'
is 'all deaths are counted' '11 11' "$("$pawl" status --json | jq -r '.deaths_total | "\(.synth) \(.gpu)"')"
sleep 1 # connections of clients that have ended
check 'the coordinator holds no more fds than before' [ "$(coordinator_fds)" -le $((before + 2)) ]
stop_stack 'after ten kills of each kind'

# ---- supervise and the coordinator themselves ----

none_left() {
    [ -z "$(processes_here)" ]
}
start_stack
is 'the stack starts again' 0 $?
is 'its circuits are still there' 3 "$("$pawl" circuit list --json |
    jq '(if type == "array" then . else .circuits end) | length')"
kill -KILL "$("$pawl" status --json | jq .pid)"
check 'kill -9 of the coordinator: the whole is up again' wait_for 20 is_ready
check '... and proves' "$pawl" submit bn128-mul2 "$fixtures/bn128/mul2/w1.wtns" --wait --out "$work/again"
kill -KILL "$supervise_pid"
wait "$supervise_pid" 2>/dev/null
check 'kill -9 of supervise: everything ends' wait_for 10 none_left
is 'nothing is left in /dev/shm' '' "$(shm_objects)"
start_stack
is 'and the next start works' 0 $?
stop_stack 'the next start'
finish
