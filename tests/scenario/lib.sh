# Helpers of the scenario scripts, which source this file. They print TAP; $BUILD_DIR (build) says
# where the programs lie. Everything a script makes lies in $work, which goes at the end with the
# processes that were started by `start`.
# shellcheck shell=sh

set -u
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
cd "$root" || exit 70
BUILD_DIR=${BUILD_DIR:-build}
bin=$(CDPATH='' cd -- "$BUILD_DIR/bin" && pwd) || exit 70
pawl=$bin/pawl
fixtures=$root/tests/fixtures
work=$(mktemp -d "${TMPDIR:-/tmp}/pawl-scenario-XXXXXX") || exit 70
started=
count=0
failures=0

# Instances of the tests never touch the user's own cache and sockets.
export XDG_CACHE_HOME="$work/cache"
export XDG_STATE_HOME="$work/state"
export XDG_RUNTIME_DIR="$work/run"
unset PAWL_SOCKET PAWL_TEST_BLINDERS
mkdir -p "$work/run" && chmod 700 "$work/run"

# shellcheck disable=SC2317
clean_up() {
    for pid in $started; do
        kill -TERM "$pid" 2>/dev/null
    done
    for pid in $started; do
        wait_gone "$pid" 10 || kill -KILL "$pid" 2>/dev/null
    done
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# ---- TAP ----

ok() { # TEXT
    count=$((count + 1))
    echo "ok $count - $1"
}

not_ok() { # TEXT DETAIL...
    count=$((count + 1))
    failures=$((failures + 1))
    echo "not ok $count - $1"
    shift
    for detail in "$@"; do
        printf '%s\n' "$detail" | sed 's/^/#   /'
    done
}

skip() { # TEXT WHY
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

skip_all() { # WHY
    echo "1..0 # SKIP $1"
    exit 0
}

is() { # TEXT WANTED GOT
    if [ "$2" = "$3" ]; then
        ok "$1"
    else
        not_ok "$1" "wanted: $2" "got: $3"
    fi
}

# The command succeeds.
check() { # TEXT COMMAND...
    text=$1
    shift
    if said=$("$@" 2>&1); then
        ok "$text"
    else
        not_ok "$text" "command: $*" "$said"
    fi
}

finish() {
    echo "1..$count"
    [ "$failures" -eq 0 ]
    exit
}

# ---- waiting ----

# Runs the command every 0.1 s until it succeeds, at most SECONDS.
wait_for() { # SECONDS COMMAND...
    tries=$(($1 * 10))
    shift
    while ! "$@" >/dev/null 2>&1; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.1
    done
}

is_gone() { # PID; a zombie is gone
    case $(cut -d' ' -f3 "/proc/$1/stat" 2>/dev/null) in '' | Z | X) return 0 ;; esac
    return 1
}

wait_gone() { # PID SECONDS
    wait_for "$2" is_gone "$1"
}

# Processes that have our folder in their command line: "PID COMMAND LINE" each.
processes_here() {
    pgrep -a -f -- "$work"
}

shm_objects() {
    find /dev/shm -maxdepth 1 -name '*pawl*' 2>/dev/null | sort
}

# ---- programs ----

# Starts a command in the background; its pid is in $started_pid, its output in $work/NAME.log.
start() { # NAME COMMAND...
    log=$work/$1.log
    shift
    "$@" >>"$log" 2>&1 &
    started_pid=$!
    started="$started_pid $started"
}

# Runs a command that is to fail: its exit code in $code, what it said on stderr in $said.
run_failing() { # COMMAND...
    said=$("$@" 2>&1 >/dev/null)
    code=$?
}

# The command fails with that code and one line "pawl: ..." that holds TEXT.
fails_with() { # NAME CODE TEXT COMMAND...
    name=$1 wanted=$2 part=$3
    shift 3
    run_failing "$@"
    lines=$(printf '%s\n' "$said" | wc -l)
    case "$code $lines $said" in
    "$wanted 1 pawl: "*"$part"*) ok "$name" ;;
    *) not_ok "$name" "wanted exit $wanted and one line with: $part" "got exit $code:" "$said" ;;
    esac
}

# The folder of the software CUDA driver in $softcuda, for LD_LIBRARY_PATH; or all is skipped.
need_softcuda() {
    [ -e "$BUILD_DIR/softcuda/libcuda.so.1" ] || skip_all 'no software driver was built'
    softcuda=$(CDPATH='' cd -- "$BUILD_DIR/softcuda" && pwd)
    LD_LIBRARY_PATH=$softcuda "$bin/gpu-worker" --list-devices --json |
        jq -e '.devices[] | select(.index == 0).fit' >/dev/null || skip_all 'built without CUDA kernels'
}

# Folders of cases: the fixtures and those of $PAWL_CASES.
case_folders() {
    for folder in "$fixtures"/*/*/ ${PAWL_CASES:+"$PAWL_CASES"/*/*/}; do
        [ ! -f "$folder/key.zkey" ] || printf '%s\n' "${folder%/}"
    done
}

# A configuration in $work/pawl.ini with everything in $work; further lines from stdin.
write_config() {
    {
        echo "[pawl]"
        echo "socket = $work/run/pawl.sock"
        echo "run_dir = $work/run"
        echo "state_dir = $work/state"
        cat
    } >"$work/pawl.ini"
    export PAWL_SOCKET="$work/run/pawl.sock"
}

# Starts supervise with $work/pawl.ini and waits until the service can prove.
start_stack() {
    start supervise "$bin/supervise" --config "$work/pawl.ini"
    # shellcheck disable=SC2034 # for the scripts
    supervise_pid=$started_pid
    wait_for 20 is_ready
}

is_ready() {
    service_status=$("$pawl" status --json) &&
        [ "$(echo "$service_status" | jq '[.workers[].role] | unique | length')" -eq 2 ]
}

# pids of a role's workers, as the coordinator has them
worker_pids() { # synth|gpu
    "$pawl" status --json | jq -r ".workers[] | select(.role == \"$1\") | .pid"
}

# ---- the load of the stack's scenarios: 200 partitions over 3 circuits of both curves ----

three_circuits='bn128/pos10 bls12381/pos10 bn128/mul2'

circuit_name() { # CURVE/CASE
    echo "$1" | tr / -
}

add_circuits() {
    for case in $three_circuits; do
        "$pawl" circuit add "$(circuit_name "$case")" "$fixtures/$case/key.zkey" || return
    done
}

# One job of N partitions, which take turns between the two witnesses; its line goes to $work/jobs.
submit_partitions() { # CURVE/CASE N [OPTIONS]
    case=$1 partitions=$2
    shift 2
    n=0
    while [ $n -lt "$partitions" ]; do
        set -- "$@" "$fixtures/$case/w$((n % 2 + 1)).wtns"
        n=$((n + 1))
    done
    id=$("$pawl" submit "$(circuit_name "$case")" "$@") && echo "$id $case $partitions" >>"$work/jobs"
}

# Submits the load without waiting.
submit_load() {
    : >"$work/jobs"
    mkdir -p "$work/out"
    for priority in normal high; do
        submit_partitions bn128/pos10 50 --priority $priority &&
            submit_partitions bls12381/pos10 20 --priority $priority &&
            submit_partitions bn128/mul2 30 --priority $priority || return
    done
}

# Waits for every job and verifies every proof against the key and the witness's own public signals.
judge_load() { # TEXT
    good=0
    while read -r id case partitions; do
        if ! "$pawl" job "$id" --wait --out "$work/out/$id" >"$work/said" 2>&1; then
            not_ok "$1: job $id of $case" "$(cat "$work/said")"
            continue
        fi
        at=0
        while [ $at -lt "$partitions" ]; do
            out=$work/out/$id/$at
            if "$pawl" verify "$fixtures/$case/vkey.json" "$out/public.json" "$out/proof.json" \
                >"$work/said" 2>&1; then
                good=$((good + 1))
            else
                not_ok "$1: partition $at of job $id" "$(cat "$work/said")"
            fi
            at=$((at + 1))
        done
    done <"$work/jobs"
    is "$1: proofs that verify" 200 "$good"
}

# The books of lane main are even.
judge_credits() { # TEXT
    is "$1: taken = returned, available = limit, all slabs free" 'true true true' "$("$pawl" status --json |
        jq -r '.lanes[0] | "\(.credits.taken_total == .credits.returned_total) \(
            .credits.available == .credits.limit) \(
            [.slabs | to_entries[] | select(.key != "free") | .value] | add == 0)"')"
    "$pawl" trace >"$work/trace.json"
    check "$1: the credit rule between any two points of the trace" \
        sh -c "python3 '$root/tests/scenario/lib.trace.py' credits main <'$work/trace.json'"
}

# TERM; exit code 0; nothing is left but the image cache.
stop_stack() { # TEXT
    kill -TERM "$supervise_pid"
    wait "$supervise_pid"
    is "$1: exit code" 0 $?
    is "$1: no process is left" '' "$(processes_here)"
    is "$1: nothing is left in /dev/shm" '' "$(shm_objects)"
    is "$1: nothing is left in run_dir" '' "$(find "$work/run" -mindepth 1)"
    is "$1: nothing but images, jobs and the spool in state_dir" '' \
        "$(find "$work/state" -mindepth 1 -maxdepth 1 ! -name images ! -name jobs.db ! -name spool)"
    is "$1: nothing is left in the spool" '' "$(find "$work/state" -path '*/spool/*')"
    is "$1: no temporary file in the cache" '' "$(find "$work/state" -name '*tmp*')"
}
