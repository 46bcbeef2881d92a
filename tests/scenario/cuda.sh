#!/bin/sh
# Whole proofs on a CUDA device through supervise, coordinator, synth-worker and gpu-worker: the
# kernels as nvcc made them, run by the software driver. Every proof is the CPU device's bit for
# bit; with kill -9 and with each fault of the driver the jobs still end right.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

need_softcuda

cases='bn128/mul2 bn128/nopub bn128/noconstr bn128/order bls12381/mul2 bn128/pos10 bls12381/pos10'
export PAWL_TEST_CUDA_DEADLINE_MS=600000 # an interpreter on a busy machine is no GPU that hangs
export PAWL_TEST_BLINDERS=12345,67890

write_config <<'END'
[workers]
devices = cuda:0
synth = 1
[lane main]
slabs = 4
size = 1M
[limits]
deaths = 5
END

# ---- what the CPU device makes ----

wanted=0
for case in $cases; do
    mkdir -p "$work/cpu/$case"
    "$pawl" prove "$fixtures/$case/key.zkey" "$fixtures/$case/w1.wtns" --device cpu \
        "$work/cpu/$case/proof.json" "$work/cpu/$case/public.json" 2>>"$work/cpu.log" &&
        wanted=$((wanted + 1))
done
is 'the CPU device proves all cases' "$(echo "$cases" | wc -w)" "$wanted"

# ---- the stack with a device such as $1 says ----

log=$work/supervise.log
start_gpu() { # PAWL_SOFTCUDA [ENVIRONMENT...]
    export PAWL_SOFTCUDA="$1"
    shift
    : >"$log"
    start supervise env LD_LIBRARY_PATH="$softcuda" "$@" "$bin/supervise" --config "$work/pawl.ini"
    # shellcheck disable=SC2034
    supervise_pid=$started_pid
    wait_for 20 is_ready
}

stop_gpu() { # TEXT
    kill -TERM "$supervise_pid"
    wait "$supervise_pid"
    is "$1: exit code" 0 $?
}

# One job; its proof is the CPU device's.
prove_same() { # CASE
    rm -rf "$work/out"
    "$pawl" submit "$(circuit_name "$1")" "$fixtures/$1/w1.wtns" --wait --out "$work/out" &&
        cmp "$work/out/proof.json" "$work/cpu/$1/proof.json" &&
        cmp "$work/out/public.json" "$work/cpu/$1/public.json"
}

gpu_deaths() {
    "$pawl" status --json | jq .deaths_total.gpu
}

# ---- proofs ----

start_gpu ''
is 'the stack starts on a CUDA device' 0 $?
for case in $cases; do
    check "circuit add: $case" "$pawl" circuit add "$(circuit_name "$case")" "$fixtures/$case/key.zkey"
done
for case in $cases; do
    check "bit for bit the CPU device's: $case" prove_same "$case"
done
is 'the device is named by its UUID' 'GPU-' \
    "$("$pawl" status --json | jq -r '.workers[] | select(.role == "gpu").device' | cut -c 1-4)"
is 'slabs are pinned directly' direct \
    "$("$pawl" status --json | jq -r '.workers[] | select(.role == "gpu").pinned')"
is 'no pinned memory was made after the start' 0 \
    "$("$pawl" status --json | jq .region.allocations_after_start)"

# several partitions, so that the next is uploaded while one is proved
mul2=$fixtures/bn128/mul2
check 'six partitions' "$pawl" submit bn128-mul2 "$mul2/w1.wtns" "$mul2/w2.wtns" "$mul2/w1.wtns" \
    "$mul2/w2.wtns" "$mul2/w1.wtns" "$mul2/w2.wtns" --wait --out "$work/six"
same=0
for n in 0 2 4; do
    cmp -s "$work/six/$n/proof.json" "$work/cpu/bn128/mul2/proof.json" && same=$((same + 1))
done
for n in 1 3 5; do
    "$pawl" verify "$mul2/vkey.json" "$work/six/$n/public.json" "$work/six/$n/proof.json" \
        >/dev/null && same=$((same + 1))
done
is 'each is right' 6 "$same"

# ---- kill -9 ----

id=$("$pawl" submit bn128-order "$fixtures/bn128/order/w1.wtns" "$fixtures/bn128/order/w1.wtns" \
    "$fixtures/bn128/order/w1.wtns")
wait_for 10 sh -c "'$pawl' status --json | jq -e '.workers[] | select(.role == \"gpu\" and .job != null)'"
kill -KILL "$(worker_pids gpu)"
check 'kill -9 in the middle: the job ends' "$pawl" job "$id" --wait --out "$work/killed"
for n in 0 1 2; do
    check "... partition $n right" cmp "$work/killed/$n/proof.json" "$work/cpu/bn128/order/proof.json"
done
is '... and the death is counted' 1 "$(gpu_deaths)"
stop_gpu 'a CUDA device'

# ---- each fault: the job ends right by the next worker ----

fault_ends_right() { # NAME PAWL_SOFTCUDA CODE [ENVIRONMENT...]
    name=$1 soft=$2 code=$3
    shift 3
    start_gpu "$soft,once=$work/once-$name" "$@" || not_ok "$name: the stack starts"
    check "$name: the job ends right" prove_same bn128/mul2
    is "$name: one death" 1 "$(gpu_deaths)"
    check "$name: the code is in the log" grep -q "ev=device_lost .*code=$code " "$log"
    check "$name: the coordinator says so too" \
        grep -q "ev=worker_dead .*CUDA error $code" "$log"
    stop_gpu "$name"
}
fault_ends_right illegal-address fault=700@3 700
fault_ends_right launch-failed fault=719@25 719
fault_ends_right unknown fault=999@40 999
fault_ends_right hang hang@30 702 PAWL_TEST_CUDA_DEADLINE_MS=6000

# ---- a bit flips in what comes back: the finalizer finds out, and the device is charged ----

start_gpu "flip@2,once=$work/once-flip"
check 'a flipped bit: the job ends right' prove_same bn128/mul2
check '... the device is charged' grep -q ev=device_charged "$log"
is '... and no worker died' 0 "$(gpu_deaths)"
stop_gpu 'a flipped bit'

# ---- registration is refused ----

start_gpu noregister
check 'slabs that cannot be pinned: the job ends right' prove_same bn128/mul2
is '... by way of the ring' bounce \
    "$("$pawl" status --json | jq -r '.workers[] | select(.role == "gpu").pinned')"
stop_gpu 'no registration'

# ---- memory ----

start_gpu "oom=1,once=$work/once-oom"
check 'no memory once: the job ends right' prove_same bn128/mul2
is '... and no worker died' 0 "$(gpu_deaths)"
stop_gpu 'no memory once'

# the software driver's context takes 16 MiB, and a key and its scratch 2 MiB each
sed -i 's/^devices = .*/devices = cuda:0 cpu/' "$work/pawl.ini"
start_gpu memory=19M
both_there() {
    [ "$(worker_pids gpu | wc -l)" -eq 2 ]
}
check 'a GPU and the CPU' wait_for 20 both_there
check 'too little memory on the GPU: the job ends right, by the CPU' prove_same bn128/mul2
is '... and no worker died' 0 "$(gpu_deaths)"
is '... the CPU did it' 1 \
    "$("$pawl" status --json | jq '.workers[] | select(.device == "cpu").done_total')"
stop_gpu 'too little memory'
finish
