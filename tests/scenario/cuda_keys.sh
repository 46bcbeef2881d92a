#!/bin/sh
# Keys in a GPU's memory that outlive their gpu-worker, on the software driver: after kill -9 in the
# middle of a proof the next worker imports the key and proves without uploading it; with
# keep_device_keys = no it uploads. The coordinator holds a key's fds until the circuit goes, the
# configuration says no, or the worker wants the memory back.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

need_softcuda

case=bn128/mul2
key=$fixtures/$case/key.zkey w=$fixtures/$case/w1.wtns
log=$work/supervise.log trace=$work/driver.trace
export PAWL_TEST_BLINDERS=12345,67890

configure() { # KEEP
    write_config <<END
[workers]
devices = auto
synth = 1
keep_device_keys = $1
[lane main]
slabs = 4
size = 1M
END
}

start_gpu() { # PAWL_SOFTCUDA
    export PAWL_SOFTCUDA="trace=$trace${1:+,$1}"
    : >"$log"
    : >"$trace"
    start supervise env LD_LIBRARY_PATH="$softcuda" "$bin/supervise" --config "$work/pawl.ini"
    # shellcheck disable=SC2034
    supervise_pid=$started_pid
    wait_for 20 both_devices
}
stop_gpu() { # TEXT
    kill -TERM "$supervise_pid"
    wait "$supervise_pid"
    is "$1: exit code" 0 $?
}

status() { # JQ
    "$pawl" status --json | jq -r "$1"
}
gpu_pid() {
    status '.workers[] | select(.role == "gpu" and .device != "cpu").pid'
}
both_devices() {
    [ "$(status '[.workers[] | select(.role == "gpu")] | length')" -eq 2 ]
}
gpu_is_new() { # PID THAT WAS
    pid=$(gpu_pid) && [ -n "$pid" ] && [ "$pid" != "$1" ]
}
count() { # PATTERN
    grep -c -- "$1" "$log"
}
kept() {
    status .device_keys.kept
}
kept_is() { # N
    [ "$(kept)" -eq "$1" ]
}
# Of the points A of this key, 5 of 64 bytes; B1 has as many.
uploads() {
    grep -c 'copy_in bytes=320 ' "$trace"
}
# Waits until requests just answered have closed theirs.
coordinator_fds() {
    sleep 0.5
    find "/proc/$(status .pid)/fd" -mindepth 1 | wc -l
}
prove_same() {
    rm -rf "$work/out"
    "$pawl" submit one "$w" --wait --out "$work/out" &&
        cmp "$work/out/proof.json" "$work/cpu.json" && cmp "$work/out/public.json" "$work/cpu.public"
}
# kill -9 while a job of four partitions is at work on the GPU, and the job's end.
kill_in_the_middle() { # TEXT
    id=$("$pawl" submit one "$w" "$w" "$w" "$w")
    wait_for 10 sh -c "'$pawl' status --json |
        jq -e '.workers[] | select(.role == \"gpu\" and .device != \"cpu\" and .job != null)'"
    before=$(gpu_pid)
    kill -KILL "$before"
    check "$1: the job ends" "$pawl" job "$id" --wait --out "$work/killed"
    right=0
    for n in 0 1 2 3; do
        cmp -s "$work/killed/$n/proof.json" "$work/cpu.json" && right=$((right + 1))
    done
    is "$1: each of its proofs is the CPU device's bit for bit" 4 "$right"
    check "$1: another gpu-worker is there" wait_for 10 gpu_is_new "$before"
}

"$pawl" prove "$key" "$w" "$work/cpu.json" "$work/cpu.public" --device cpu 2>/dev/null
is 'the CPU device proves' 0 $?

# ---- kept ----

configure yes
start_gpu ''
bare=$(coordinator_fds)
check 'circuit add' "$pawl" circuit add one "$key"
is 'auto: the GPU, and the CPU as its fallback' 'false true' \
    "$(status '[.workers[] | select(.role == "gpu")] | sort_by(.device == "cpu") | map(.fallback) | join(" ")')"
fds=$(coordinator_fds)
check 'a proof by the GPU' prove_same
is '... which did it alone' '1 0' \
    "$(status '[.workers[] | select(.role == "gpu")] | sort_by(.device == "cpu") | map(.done_total) | join(" ")')"
is 'slabs are pinned directly' direct "$(status '.workers[] | select(.device | tostring | startswith("GPU")).pinned')"
check 'registered bytes are shown' [ "$(status .region.registered_bytes)" -eq 4194304 ]
is 'nothing was pinned after the start' 0 "$(status .region.allocations_after_start)"
check 'its key is kept' wait_for 5 kept_is 1
held=$(coordinator_fds)
check "the coordinator holds its fds: $held, before $fds" [ "$held" -gt "$fds" ]
kill_in_the_middle 'kill -9'
check 'then a proof' prove_same
is 'the key was handed on' 1 "$(status .device_keys.handed_total)"
is 'the next worker imported it' 1 "$(count 'ev=key_imported')"
is '... and exported none: the only one is the first' 1 "$(status .device_keys.kept_total)"
check '... and the driver saw it' grep -q ' import bytes=' "$trace"
is '... and no point was uploaded again' 2 "$(uploads)"

kill_in_the_middle 'kill -9 of the one that imported'
check 'then a proof' prove_same
is 'it was imported once more' 2 "$(count 'ev=key_imported')"

# ---- let go ----

check 'the circuit is removed' "$pawl" circuit remove one
check 'nothing is kept' wait_for 5 kept_is 0
is 'the fds are closed, and the image' "$bare" "$(coordinator_fds)"

check 'circuit add once more' "$pawl" circuit add one "$key"
check 'a proof' prove_same
check 'its key is kept' wait_for 5 kept_is 1
sed -i 's/^keep_device_keys = .*/keep_device_keys = no/' "$work/pawl.ini"
kill -HUP "$supervise_pid"
check 'HUP with keep_device_keys = no closes it' wait_for 5 kept_is 0
check 'a proof after that' prove_same
stop_gpu 'kept keys'

# ---- not kept ----

configure no
start_gpu noregister
wait_for 10 sh -c "'$pawl' circuit list --json | jq -e '.[0].state == \"ready\"'"
check 'keep_device_keys = no: a proof' prove_same
kill_in_the_middle 'keep_device_keys = no: kill -9'
check '... then a proof' prove_same
is '... nothing was kept' '0 0' "$(status '.device_keys | "\(.kept_total) \(.handed_total)"')"
is '... and the next worker uploaded all points again' 4 "$(uploads)"
is '... nor imported' 0 "$(count 'ev=key_imported')"
is 'where registering is refused, the bounce ring' bounce \
    "$(status '.workers[] | select(.device | tostring | startswith("GPU")).pinned')"
stop_gpu 'no kept keys'

# ---- one proof by itself ----

export LD_LIBRARY_PATH="$softcuda" PAWL_SOFTCUDA="trace=$trace"
for device in auto cuda:0; do
    : >"$trace"
    check "pawl prove --device $device" "$pawl" prove "$key" "$w" "$work/p.json" "$work/x.json" --device $device
    check '... bit for bit' cmp "$work/p.json" "$work/cpu.json"
    check '... by the GPU' [ -s "$trace" ]
done
by_cpu_after_all() { # PAWL_SOFTCUDA
    rm -f "$work/p.json"
    PAWL_SOFTCUDA=$1 "$pawl" prove "$key" "$w" "$work/p.json" "$work/x.json" 2>"$work/said" &&
        cmp "$work/p.json" "$work/cpu.json" && grep -q '^pawl: device GPU-.* could not prove it: the CPU does' "$work/said"
}
check 'auto, and too little memory on the GPU: the CPU proves' by_cpu_after_all memory=19M
check 'auto, and a GPU that fails: the CPU proves' by_cpu_after_all fault=700@3
run_failing env PAWL_SOFTCUDA=memory=19M "$pawl" prove "$key" "$w" "$work/p.json" "$work/x.json" --device cuda:0
is 'a GPU asked for by name, and too little memory: 75' 75 "$code"
fails_with 'pawl prove --device cuda:5: 71' 71 'there is no device cuda:5' \
    "$pawl" prove "$key" "$w" "$work/p.json" "$work/x.json" --device cuda:5
is 'the doctor shows the GPU' ok \
    "$("$pawl" doctor --json | jq -r '.[] | select(.name == "devices" and (.means | startswith("GPU-"))).state')"
finish
