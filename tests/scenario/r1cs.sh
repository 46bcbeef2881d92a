#!/bin/sh
# A circuit with its constraints: what its witnesses break is named, and the constraints of another
# circuit are refused.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317,SC2016
. "$(dirname "$0")/lib.sh"

mul2=$fixtures/bn128/mul2
write_config <<END
[workers]
synth = 1
END
start_stack
is 'the stack starts' 0 $?
check 'a circuit with its r1cs' "$pawl" circuit add mul2 "$mul2/key.zkey" --r1cs "$mul2/circuit.r1cs"
check 'a circuit without' "$pawl" circuit add plain "$mul2/key.zkey"
hashes=$("$pawl" status --json | jq '[.circuits[].hash] | unique | length')
is 'they have two images' 2 "$hashes"

mkdir "$work/out"
check 'a right witness is proved' "$pawl" submit mul2 "$mul2/w1.wtns" --wait --out "$work/out"
check 'and its proof verifies' "$pawl" verify "$mul2/vkey.json" "$work/out/public.json" "$work/out/proof.json"

# the last wire's lowest byte
cp "$mul2/w1.wtns" "$work/broken.wtns"
chmod u+w "$work/broken.wtns"
printf '\125' | dd of="$work/broken.wtns" bs=1 conv=notrunc status=none \
    seek=$(($(stat -c %s "$work/broken.wtns") - 32))
said() { # PATTERN COMMAND...: it fails, and says so
    pattern=$1
    shift
    ! "$@" >"$work/said" 2>&1 && grep -Eq "$pattern" "$work/said"
}
check 'a broken constraint is named' said 'constraint [0-9]+ is not satisfied' \
    "$pawl" submit mul2 "$work/broken.wtns" --wait
check 'without an r1cs the pairing check says less' said 'does not satisfy' \
    "$pawl" submit plain "$work/broken.wtns" --wait

nopub=$fixtures/bn128/nopub
check 'the r1cs of another circuit is refused' said 'circuit.r1cs: .*another circuit' \
    "$pawl" circuit add wrong "$mul2/key.zkey" --r1cs "$nopub/circuit.r1cs"
check 'a file that is none' said 'Invalid File format' \
    "$pawl" circuit add wrong "$mul2/key.zkey" --r1cs "$mul2/key.zkey"
check 'a file that is not there' said 'cannot read' \
    "$pawl" circuit add wrong "$mul2/key.zkey" --r1cs "$work/absent.r1cs"
check 'the service goes on' "$pawl" submit mul2 "$mul2/w2.wtns" --wait
kill -TERM "$started_pid"
wait_gone "$started_pid" 30 || kill -KILL "$started_pid"
finish
