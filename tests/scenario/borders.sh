#!/bin/sh
# Between processes and against limits: a synth-worker of another user works where allow_uids names
# it and is refused where not; the OOM killer's order; few files and short files are told by an exit
# code, never by a signal.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

folder=$fixtures/bn128/mul2
nobody=65534
score_of() { # PID
    cat "/proc/$1/oom_score_adj"
}
prove_here() { # with whatever limit
    "$pawl" prove --cache none "$folder/key.zkey" "$folder/w1.wtns" "$work/p.json" "$work/q.json"
}

# ---- limits ----
said=$(bash -c "ulimit -n 16; '$bin/coordinator' --config /dev/null" 2>&1)
is 'a coordinator with 16 files exits with 71' 71 $?
check 'and says which limit' sh -c "echo \"$said\" | grep -q 'ulimit -n'"
said=$(bash -c "ulimit -n 16; '$bin/synth-worker' --socket /nowhere" 2>&1)
is 'a synth-worker likewise' 71 $?
said=$(bash -c "ulimit -n 16; '$bin/gpu-worker' --socket /nowhere --device cpu" 2>&1)
is 'a gpu-worker likewise' 71 $?
for blocks in 0 8 64 1024; do
    said=$(bash -c "ulimit -f $blocks; exec '$pawl' prove --cache none '$folder/key.zkey' \
        '$folder/w1.wtns' '$work/p.json' '$work/q.json'" 2>&1)
    code=$?
    case $code in
    71 | 73) ok "files of at most $blocks blocks: exit 71 or 73" ;;
    *) not_ok "files of at most $blocks blocks: exit 71 or 73" "exit $code" "$said" ;;
    esac
    [ ! -e "$work/p.json" ] || not_ok 'an output is whole or not there'
done
check 'without the limit it proves' prove_here
rm -f "$work/p.json" "$work/q.json"

# ---- users ----
if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
    skip 'a synth-worker of another user' 'needs root and setpriv'
    finish
fi
as_nobody() {
    setpriv --reuid $nobody --regid $nobody --clear-groups "$@"
}
programs=$work/programs # where anybody may read them
mkdir "$programs" && cp "$bin/synth-worker" "$programs/" && chmod 755 "$programs/synth-worker"
chmod 711 "$work" "$work/run" "$programs"
for backing in shm memfd; do
    write_config <<END
allow_uids = $nobody
backing = $backing
[workers]
synth = 0
END
    start coordinator "$bin/coordinator" --config "$work/pawl.ini"
    coordinator=$started_pid
    wait_for 10 "$pawl" healthz
    chmod 711 "$work/run"
    start gpu "$bin/gpu-worker" --config "$work/pawl.ini" --device cpu
    gpu=$started_pid
    start synth setpriv --reuid $nobody --regid $nobody --clear-groups \
        "$programs/synth-worker" --socket "$work/run/pawl.sock"
    synth=$started_pid
    check "$backing: both workers attach" wait_for 10 is_ready
    is "$backing: the synth-worker is nobody's" $nobody \
        "$(stat -c %u "/proc/$(worker_pids synth)" 2>/dev/null)"
    check "$backing: a circuit is added" "$pawl" circuit add mul2 "$folder/key.zkey"
    check "$backing: the other user's worker fills slabs" \
        "$pawl" submit mul2 "$folder/w1.wtns" "$folder/w2.wtns" --wait
    is "$backing: the OOM killer takes synth-workers first" '500 300' \
        "$(score_of "$synth") $(score_of "$gpu")"
    check "$backing: and the coordinator last" [ "$(score_of "$coordinator")" -le 0 ]
    kill -TERM "$coordinator"
    wait "$coordinator"
    is "$backing: the coordinator ends" 0 $?
    wait "$synth" "$gpu"
    rm -rf "$work/state"
done
write_config <<END
allow_uids = 1
[workers]
synth = 0
END
start coordinator "$bin/coordinator" --config "$work/pawl.ini"
wait_for 10 "$pawl" healthz
chmod 711 "$work/run"
said=$(as_nobody "$programs/synth-worker" --socket "$work/run/pawl.sock" 2>&1)
is 'who is not named is refused: exit 77' 77 $?
check 'and told which key' sh -c "echo \"$said\" | grep -q allow_uids"
finish
