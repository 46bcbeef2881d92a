#!/bin/sh
# Witness programs in a running service: what hostile ones do is contained, fails its job with the
# reason, and the next job of the same circuit is right; nothing of them is left.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

mul2=$fixtures/bn128/mul2
export TMPDIR="$work/tmp"
mkdir "$TMPDIR"
mkdir "$work/p" "$work/other"
if ! cc -w -o "$work/p/good" tests/support/hostile_program.c 2>"$work/said"; then
    skip_all 'no C compiler'
fi
cp "$mul2/w1.wtns" "$work/p/good.dat"
cp "$work/p/good" "$work/other/good"
cp "$fixtures/bn128/pos10/w1.wtns" "$work/other/good.dat"

write_config <<END
[workers]
synth = 2
[lane main]
slabs = 4
size = 1M
[limits]
deadline.witness = 2s
program_memory = 200M
program_output = 1M
[circuit configured]
program = $work/p/good
END
start_stack
is 'the stack starts' 0 $?

input() { # MODE
    echo "{\"mode\": $1}" >"$work/mode$1.json"
    echo "$work/mode$1.json"
}
rights=0
right() { # CIRCUIT: a job of it is right
    rm -rf "$work/out"
    "$pawl" submit "$1" "$(input 1)" --wait --out "$work/out" >"$work/said" 2>&1 &&
        "$pawl" verify "$mul2/vkey.json" "$work/out/public.json" "$work/out/proof.json" >>"$work/said" 2>&1 &&
        rights=$((rights + 1))
}
places() {
    find "$TMPDIR" -mindepth 2
}
programs_here() {
    pgrep -f /proc/self/fd/3/program
}
no_programs() {
    ! programs_here
}
zombies() {
    for pid in $(worker_pids synth); do
        pgrep -P "$pid"
    done
}

# ---- adding ----

fails_with 'an input needs a program' 1 'has no witness program' sh -c \
    "'$pawl' circuit add plain '$mul2/key.zkey' >'$work/said' && '$pawl' submit plain '$(input 1)' --wait"
for kind in wasm graph script text; do
    case $kind in
    wasm) printf '\0asm\1\0\0\0' ;;
    graph) printf 'wtns.graph.001' ;;
    script) printf '#!/bin/sh\n' ;;
    text) printf 'module.exports = 1;\n' ;;
    esac >"$work/p/$kind"
done
fails_with 'wasm is refused by name' 1 "$work/p/wasm: a WebAssembly" \
    "$pawl" circuit add bad "$mul2/key.zkey" --program "$work/p/wasm"
fails_with 'a graph is refused by name' 1 'a witness graph' \
    "$pawl" circuit add bad "$mul2/key.zkey" --program "$work/p/graph"
fails_with 'a script is refused by name' 1 'a script' \
    "$pawl" circuit add bad "$mul2/key.zkey" --program "$work/p/script"
fails_with 'other files are refused' 1 'not an ELF program' \
    "$pawl" circuit add bad "$mul2/key.zkey" --program "$work/p/text"
cp "$work/p/good" "$work/p/large"
truncate -s 17G "$work/p/large.dat" # a hole
fails_with 'data that is too large is refused by its name' 1 "$work/p/large.dat: not a regular file" \
    "$pawl" circuit add bad "$mul2/key.zkey" --program "$work/p/large"
rm "$work/p/large.dat"
fails_with 'a program that is not there' 1 'nowhere' \
    "$pawl" circuit add bad "$mul2/key.zkey" --program "$work/p/nowhere"
check 'circuit add --program' "$pawl" circuit add mul2 "$mul2/key.zkey" --program "$work/p/good"
is 'the list has the program' 64 "$("$pawl" circuit list --json |
    jq -r '(if type == "array" then . else .circuits end)[] | select(.name == "mul2") | .program | length')"
check 'circuit add with the configured program' "$pawl" circuit add configured "$mul2/key.zkey"
check '... is right' right configured
rm "$work/p/good" "$work/p/good.dat" # it was taken along
check 'a right program' right mul2
is 'its public signals' "$(jq -c .public "$mul2/w1.r12345.s67890.json")" \
    "$(jq -c . "$work/out/public.json")"

# ---- hostile ones ----

hostile() { # NAME MODE TEXT
    fails_with "$1" 1 "$3" "$pawl" submit mul2 "$(input "$2")" --wait
    case $said in *BREACH*) not_ok "$1: contained" "$said" ;; esac
    right mul2 || not_ok "$1: the next job is right" "$(cat "$work/said")"
}
hostile 'exit 0 without output' 0 'exited with code 0 and made no output'
hostile 'a cut output' 2 "the witness program's output"
hostile 'abort' 3 'SIGABRT'
hostile 'segmentation fault' 4 'SIGSEGV'
hostile 'processes, sockets, signals to its parent and to all' 5 'refused root'
hostile 'memory without bound' 6 'SIGABRT'
hostile 'spinning' 7 'ran past its deadline of 2000 ms'
hostile 'filling the disk' 8 'SIGXFSZ (program_output in [limits])'
hostile 'reading spool, state_dir, other files; writing others' 9 'refused removed'
hostile 'fds that it should not have' 11 'fds counted'
hostile 'exit code 7' 12 'exited with code 7'
is 'after each of them a right job' 11 "$rights"
fails_with 'an input that is not exact' 1 'input signal mode: a fraction' \
    sh -c "echo '{\"mode\": 1.6}' >'$work/f.json' && '$pawl' submit mul2 '$work/f.json' --wait"
check 'another program for the same circuit' "$pawl" circuit add mul2 "$mul2/key.zkey" --program "$work/other/good"
fails_with "another circuit's witness" 1 'Invalid witness length' "$pawl" submit mul2 "$(input 1)" --wait
fails_with 'an old output is not taken' 1 'made no output' "$pawl" submit mul2 "$(input 0)" --wait
cp "$mul2/w1.wtns" "$work/other/good.dat"
check 'the right data again' "$pawl" circuit add mul2 "$mul2/key.zkey" --program "$work/other/good"

# ---- what is left ----

is 'no file of a program is left' '' "$(places)"
is 'no process of a program is left' '' "$(programs_here)"
is 'no child of a synth-worker is left' '' "$(zombies)"
is 'no core file' '' "$(find "$work" . -maxdepth 1 -name 'core*' 2>/dev/null)"
is 'nobody died' 0 "$("$pawl" status --json | jq '.deaths_total | .synth + .gpu')"
is 'the program of both circuits is kept, once, and the other is swept' 1 "$(find "$work/state/programs" -maxdepth 1 -name '????????????????????????????????????????????????????????????????' | wc -l)"

# ---- cancel, deaths, restarts ----

id=$("$pawl" submit mul2 "$(input 7)")
check 'the program runs' wait_for 5 programs_here
"$pawl" cancel "$id" >"$work/said" 2>&1
check 'cancel ends it' wait_for 2 no_programs
id=$("$pawl" submit mul2 "$(input 10)")
check 'the next runs' wait_for 5 programs_here
worker_pids synth | xargs kill -9
check 'kill -9 of its worker ends it' wait_for 2 no_programs
check 'and the job is done all the same' "$pawl" job "$id" --wait
coordinator=$("$pawl" status --json | jq .pid)
kill -9 "$coordinator"
restarted() {
    is_ready && [ "$("$pawl" status --json | jq .pid)" -ne "$coordinator" ]
}
check 'the coordinator comes back' wait_for 20 restarted
check 'and has the program' right mul2
is 'no file of a program is left at the end' '' "$(places | grep /run)"
kill -TERM "$supervise_pid"
wait "$supervise_pid"
is 'TERM: exit code' 0 $?
is 'TERM: no process is left' '' "$(processes_here)"

# ---- fullprove ----

input 1 >/dev/null
check 'fullprove' "$pawl" fullprove "$work/mode1.json" "$work/other/good" "$mul2/key.zkey" "$work/p.json" "$work/q.json"
check '... verifies' "$pawl" verify "$mul2/vkey.json" "$work/q.json" "$work/p.json"
input 3 >/dev/null
fails_with 'fullprove of a program that aborts' 1 'SIGABRT' \
    "$pawl" fullprove "$work/mode3.json" "$work/other/good" "$mul2/key.zkey" "$work/no.json" "$work/nq.json"
check 'no output of it' test ! -e "$work/no.json"
check 'fullprove where TMPDIR cannot be used' env TMPDIR="$work/nowhere" XDG_RUNTIME_DIR="$work/nowhere" \
    "$pawl" fullprove "$work/mode1.json" "$work/other/good" "$mul2/key.zkey" "$work/p.json" "$work/q.json"
fails_with 'its program is no place for the proof' 64 'is an input' \
    "$pawl" fullprove "$work/mode1.json" "$work/other/good" "$mul2/key.zkey" "$work/other/good" "$work/nq.json"
fails_with '... nor for the public signals' 64 'is an input' \
    "$pawl" fullprove "$work/mode1.json" "$work/other/good" "$mul2/key.zkey" "$work/no.json" "$work/other/good"
fails_with 'fullprove of a script' 1 'a script' \
    "$pawl" fullprove "$work/mode1.json" "$work/p/script" "$mul2/key.zkey" "$work/no.json" "$work/nq.json"
finish
