#!/bin/sh
# Lanes of size auto: no slabs until a circuit is there, others when a larger one comes while proofs
# run, none when the last one goes; a circuit that memory does not hold is refused with every term;
# and a restart plans for what is there. Nothing fails meanwhile.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

slabs() { # bytes and number of lane main's
    "$pawl" status --json | jq -r '.lanes[0] | "\(.slab_bytes) \([.slabs[]] | add)"'
}
plans() {
    "$pawl" status --json | jq .region.plans_total
}
slabs_are() { # BYTES NUMBER
    [ "$(slabs)" = "$1 $2" ]
}
case_bytes() { # NAME
    "$pawl" circuit list --json | jq -r ".[] | select(.name == \"$1\") | .slab_bytes"
}
has_failed() {
    "$pawl" status --json | jq -e '.jobs.failed_total == 0 and .deaths_total == {"synth":0,"gpu":0}'
}
proves() { # NAME CASE N
    id=$1 partitions=$3 folder=$fixtures/$2
    set --
    while [ $# -lt "$partitions" ]; do set -- "$@" "$folder/w1.wtns"; done
    "$pawl" submit "$id" "$@" --wait
}

write_config </dev/null
start_stack
is 'the stack starts' 0 $?
is 'without circuits there are no slabs' '0 0' "$(slabs)"
check 'a small circuit is added' "$pawl" circuit add small "$fixtures/bn128/mul2/key.zkey"
is 'its slabs are as large as it needs: 2 + 3 + 2 of them' \
    "$(case_bytes small) 7" "$(slabs)"
check 'it proves' proves small bn128/mul2 3

# a larger one comes in the middle of work
proves small bn128/mul2 60 >"$work/said" 2>&1 &
background=$!
check 'a larger circuit is added while proofs run' "$pawl" circuit add large "$fixtures/bn128/pos10/key.zkey"
is 'the slabs are larger' "$(case_bytes large) 7" "$(slabs)"
wait "$background"; background_code=$?
is "what ran has succeeded: $(cat "$work/said")" 0 $background_code
check 'the larger one proves' proves large bn128/pos10 5
check 'the smaller one as well' proves small bn128/mul2 5
check 'no job has failed and no worker has died' has_failed
before=$(plans)
check 'another small one is added' "$pawl" circuit add other "$fixtures/bls12381/mul2/key.zkey"
is 'it changes no slab' "$before" "$(plans)"
is 'region memory outside of plans' 0 "$("$pawl" status --json | jq .region.allocations_after_start)"

check 'the larger one is removed' "$pawl" circuit remove large
check 'the slabs become smaller' wait_for 10 slabs_are "$(case_bytes small)" 7
check 'what is left proves' proves small bn128/mul2 5

stop_stack 'TERM'
start_stack
is 'a restart has the slabs at once' "$(case_bytes small) 7" "$(slabs)"
check 'and proves' proves small bn128/mul2 3
check 'a circuit is removed' "$pawl" circuit remove small
check 'the last one is removed' "$pawl" circuit remove other
check 'then there are no slabs' wait_for 10 slabs_are 0 0
judge_credits 'in the end'
stop_stack 'TERM once more'

# memory for one circuit and not for the other
write_config <<'END'
memory = 100M
[workers]
synth = 1
[limits]
queued_jobs = 10
queued_bytes = 1M
END
start_stack
is 'a stack with little memory starts' 0 $?
check 'a small circuit is added' "$pawl" circuit add small "$fixtures/bn128/mul2/key.zkey"
"$bin/testkey" --curve bn128 --profile dense --log2 17 --seed 1 --out "$work/key" >/dev/null
run_failing "$pawl" circuit add big "$work/key/key.zkey"
case "$said" in
*'may use 100 (memory in [pawl])'*region*images*synth_heaps*device_scratch*coordinator*spool_cache*)
    ok 'a circuit that memory does not hold is refused, with every term'
    ;;
*) not_ok 'a circuit that memory does not hold is refused, with every term' "exit $code" "$said" ;;
esac
check 'the small one proves on' proves small bn128/mul2 2
stop_stack 'TERM with little memory'

# not enough for anything
write_config <<'END'
memory = 16M
END
said=$("$bin/coordinator" --config "$work/pawl.ini" 2>&1)
is 'a coordinator that may use 16 MiB does not start' 71 $?
check 'and names the key' sh -c "echo '$said' | grep -q 'memory in \[pawl\]'"
finish
