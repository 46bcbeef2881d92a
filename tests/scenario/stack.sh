#!/bin/sh
# The supervised stack under load: 200 partitions over 3 circuits of both curves, 3 synth-workers,
# 4 credits. Every proof verifies, the books are even, and the trace keeps the credit rule.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

write_config <<'END'
[workers]
synth = 3
[lane main]
slabs = 6
size = 1M
credits = 4
END
start_stack
is 'the stack starts' 0 $?
check 'circuits are added' add_circuits
is 'three circuits are ready' 'ready ready ready' "$("$pawl" circuit list --json |
    jq -r '[(if type == "array" then . else .circuits end)[].state] | join(" ")')"
check 'the load is taken' submit_load
"$pawl" job "$(awk 'NR == 1 { print $1 }' "$work/jobs")" >"$work/said" 2>&1
check 'a job is shown while it runs' grep -q bn128-pos10 "$work/said"
judge_load 'load'
judge_credits 'load'
check 'the trace has each stage of each partition' \
    sh -c "python3 tests/scenario/lib.trace.py complete 200 <'$work/trace.json'"
is 'credits: four' 4 "$("$pawl" status --json | jq '.lanes[0].credits.limit')"
is 'grants' 200 "$("$pawl" status --json | jq '.lanes[0].grants_total')"
is 'all three synth-workers worked' 3 \
    "$("$pawl" status --json | jq '[.workers[] | select(.role == "synth" and .done_total > 0)] | length')"
check 'status for people' "$pawl" status
check 'jobs for people' "$pawl" jobs
is 'jobs --json' "$(wc -l <"$work/jobs")" \
    "$("$pawl" jobs --json | jq '(if type == "array" then . else .jobs end) | length')"

# ---- by the running service ----

mul2=$fixtures/bn128/mul2
check 'prove --socket' "$pawl" prove "$mul2/key.zkey" "$mul2/w1.wtns" "$work/p.json" "$work/q.json" \
    --socket "$PAWL_SOCKET"
check '... verifies' "$pawl" verify "$mul2/vkey.json" "$work/q.json" "$work/p.json"
python3 tests/scenario/lib.py wtns_unsatisfied "$fixtures/bn128/pos10/w1.wtns" "$work/bad.wtns"
fails_with 'submit --wait of a witness that does not satisfy: 1' 1 'witness does not satisfy key' \
    "$pawl" submit bn128-pos10 "$work/bad.wtns" --wait --out "$work/bad"
check 'no output of it' test ! -e "$work/bad/proof.json"
fails_with 'a circuit that is not there: 1' 1 'nosuch' "$pawl" submit nosuch "$mul2/w1.wtns"
fails_with 'a job that is not there: 1' 1 'no such job' "$pawl" job 0123456789abcdef
check 'one partition goes to DIR itself' "$pawl" submit bn128-mul2 "$mul2/w1.wtns" --wait --out "$work/one"
check '... verifies' "$pawl" verify "$mul2/vkey.json" "$work/one/public.json" "$work/one/proof.json"
# shellcheck disable=SC2046 # a list of words without spaces
id=$("$pawl" submit bn128-pos10 $(yes "$fixtures/bn128/pos10/w1.wtns" | head -n 40))
is 'cancel shows the job' 'cancelled' "$("$pawl" cancel "$id" --json | jq -r .state)"
fails_with 'a cancelled job: 130' 130 cancelled "$pawl" job "$id" --wait
fails_with 'a lying zkey is refused: 1' 1 lie.zkey sh -c \
    "python3 tests/scenario/lib.py zkey_point '$mul2/key.zkey' '$work/lie.zkey' &&
        '$pawl' circuit add lie '$work/lie.zkey'"
check 'circuit remove' "$pawl" circuit remove bn128-mul2
fails_with 'a removed circuit: 1' 1 bn128-mul2 "$pawl" submit bn128-mul2 "$mul2/w1.wtns"

# ---- a synth-worker started by hand ----

start by-hand "$bin/synth-worker" --socket "$PAWL_SOCKET"
joined() {
    [ "$(worker_pids synth | wc -l)" -eq "$1" ]
}
check 'a synth-worker started by hand joins' wait_for 5 joined 4
kill -TERM "$started_pid"
wait "$started_pid"
is 'it ends at TERM' 0 $?
check 'and is gone' wait_for 5 joined 3
kill -TTIN "$supervise_pid"
check 'TTIN: one more' wait_for 5 joined 4
kill -TTOU "$supervise_pid"
check 'TTOU: one less' wait_for 5 joined 3
is 'numbers are printed as the coordinator tells them' '' \
    "$("$pawl" status --json | grep -oE '\.[0-9]{4,}')"
is 'nobody is counted as dead' 0 "$("$pawl" status --json | jq '.deaths_total | .synth + .gpu')"
stop_stack 'TERM'
finish
