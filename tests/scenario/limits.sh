#!/bin/sh
# Machines that are short of something: /dev/shm, locked memory, fds, room for outputs. Each either
# works or ends with one line that names the limit, and leaves nothing.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317,SC2016
. "$(dirname "$0")/lib.sh"

mul2=$fixtures/bn128/mul2
key=$mul2/key.zkey
w=$mul2/w1.wtns
out=$work/out
mkdir "$out"
proves() { # COMMAND...: "$@" before pawl prove
    rm -f "$out"/*
    "$@" "$pawl" prove "$key" "$w" "$out/proof.json" "$out/public.json" &&
        "$pawl" verify "$mul2/vkey.json" "$out/public.json" "$out/proof.json"
}
# A command in a mount namespace of its own, where FOLDER is a tmpfs of SIZE.
with_small() { # SIZE FOLDER COMMAND...
    size=$1 folder=$2
    shift 2
    unshare -m sh -c 'size=$1 folder=$2; shift 2
        mount -t tmpfs -o "size=$size" tmpfs "$folder" && exec "$@"' sh "$size" "$folder" "$@"
}

# ---- /dev/shm ----

if with_small 1M /dev/shm true 2>/dev/null; then
    may_mount=yes
    check 'one-shot with a /dev/shm of 64K' proves with_small 64K /dev/shm
    write_config <<'END'
[lane main]
slabs = 4
size = 16M
END
    said=$(with_small 8M /dev/shm timeout 1.5 "$bin/supervise" --config "$work/pawl.ini" 2>&1)
    check 'a service with a /dev/shm of 8M says so' sh -c 'echo "$1" | grep -q "/dev/shm"' sh "$said"
    with_small 8M /dev/shm "$bin/coordinator" --config "$work/pawl.ini" >/dev/null 2>&1
    is 'the coordinator: exit code 71' 71 $?
    with_small 8M /dev/shm sh -c '"$1" --config "$2" 2>/dev/null; ls -A /dev/shm' sh "$bin/coordinator" \
        "$work/pawl.ini" >"$work/said"
    is 'nothing is left in it' '' "$(cat "$work/said")"
    write_config </dev/null
    bytes=$(with_small 64K /dev/shm "$bin/coordinator" --config "$work/pawl.ini" 2>&1 |
        sed -n 's/.*region needs \([0-9]*\) bytes.*/\1/p')
    check "with 64K it says how much it needs: $bytes" [ "${bytes:-0}" -gt 65536 ]
    with_small "$bytes" /dev/shm timeout 1 "$bin/coordinator" --config "$work/pawl.ini" >"$work/said" 2>&1
    is '... which is enough' 124 $?
else
    may_mount=
    skip 'a small /dev/shm' 'no mount namespace here'
fi

# ---- locked memory, fds ----

# dash and bash agree on these letters
check 'one-shot with ulimit -l 64' proves sh -c 'ulimit -l 64; exec "$@"' sh
check 'one-shot with 32 fds' proves sh -c 'ulimit -n 32; exec "$@"' sh
write_config <<'END'
[lane main]
slabs = 4
size = 1M
END
start supervise sh -c 'ulimit -l 64; exec "$@"' sh "$bin/supervise" --config "$work/pawl.ini"
supervise_pid=$started_pid
check 'the stack with ulimit -l 64' wait_for 20 is_ready
check 'a circuit' "$pawl" circuit add mul2 "$key"
check '... proves' "$pawl" submit mul2 "$w" --wait --out "$work/small"
if [ "$(id -u)" -ne 0 ]; then # root may lock what it likes
    check '... and says that memory is not locked' grep -q -i memlock "$work/supervise.log"
fi
stop_stack 'the stack with ulimit -l 64'

# ---- a circuit that fits no lane ----

write_config <<'END'
[lane main]
slabs = 1
size = 16K
END
start_stack
is 'a stack with small slabs' 0 $?
fails_with 'a circuit that fits no lane: 1, naming the bytes' 1 '1' \
    "$pawl" circuit add pos10 "$fixtures/bn128/pos10/key.zkey"
check '... and the key to change' sh -c 'echo "$1" | grep -q size' sh "$said"
stop_stack 'a stack with small slabs'

# ---- outputs ----

if [ -n "$may_mount" ]; then
    mkdir "$work/full" "$work/readonly"
    fails_with 'a full disk: 73' 73 'cannot write' with_small 4K "$work/full" sh -c '
        head -c 4096 /dev/zero >"$1/filler"
        "$2" prove "$3" "$4" "$1/proof.json" "$1/public.json"; code=$?
        [ "$(ls -A "$1")" = filler ] || { echo "left: $(ls -A "$1")" >&2; exit 99; }
        exit $code' sh "$work/full" "$pawl" "$key" "$w"
    fails_with 'a read-only file system: 73' 73 'cannot write' with_small 4K "$work/readonly" sh -c '
        mount -o remount,ro "$1" && exec "$2" prove "$3" "$4" "$1/proof.json" "$1/public.json"' \
        sh "$work/readonly" "$pawl" "$key" "$w"
    fails_with 'no room for the image cache: 71 or 73' 7 '' with_small 4K "$work/full" sh -c '
        "$2" prove "$3" "$4" "$1.proof.json" "$1.public.json" --cache "$1"
        case $? in 71 | 73) exit 7 ;; esac' sh "$work/full" "$pawl" \
        "$fixtures/bn128/pos10/key.zkey" "$fixtures/bn128/pos10/w1.wtns"
    check 'no output then' test ! -e "$work/full.proof.json"
else
    skip 'a full disk' 'no mount namespace here'
fi
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    # as nobody, who may not write there
    chmod 755 "$work"
    mkdir -m 755 "$work/closed"
    mkdir -m 777 "$work/open"
    as_nobody() {
        setpriv --reuid 65534 --regid 65534 --clear-groups env -u XDG_RUNTIME_DIR HOME="$work/open" \
            XDG_CACHE_HOME="$work/open/cache" "$@"
    }
    if as_nobody test -x "$pawl" -a -r "$key"; then
        fails_with 'a folder that is not ours: 73' 73 'cannot write' as_nobody "$pawl" prove "$key" "$w" \
            "$work/closed/proof.json" "$work/open/public.json"
        chmod 777 "$out"
        check 'not root at all' proves as_nobody
        is 'the cache is for its owner alone' 700 "$(stat -c %a "$work/open/cache/pawl")"
    else
        skip 'as nobody' 'the programs are not readable by others'
    fi
else
    skip 'as nobody' 'not root'
fi
check '/dev/full as output' sh -c '! "$1" prove "$2" "$3" /dev/full "$4/public.json" 2>/dev/null && [ ! -e "$4/public.json" ]' \
    sh "$pawl" "$key" "$w" "$work/open"

is 'nothing is left in /dev/shm' '' "$(shm_objects)"
is 'no process is left' '' "$(processes_here)"

# ---- a state_dir that is full ----

mkdir -p "$work/state"
if [ "$may_mount" ]; then
    write_config <<'END'
backing = memfd
END
    start supervise unshare -m sh -c 'mount -t tmpfs -o size=1M tmpfs "$1" && exec "$2" --config "$3"' sh \
        "$work/state" "$bin/supervise" "$work/pawl.ini"
    supervise_pid=$started_pid
    check 'a stack with a state_dir of 1M' wait_for 20 is_ready
    fails_with 'a circuit that it cannot hold: no fault of the key' 70 'No space left on device' \
        "$pawl" circuit add pos10 "$fixtures/bn128/pos10/key.zkey" --program "$bin/coordinator"
    check 'one that it can hold is added' "$pawl" circuit add mul2 "$key"
    check '... and proves' "$pawl" submit mul2 "$w" --wait
    kill -TERM "$supervise_pid"
    wait "$supervise_pid"
    is '... TERM' 0 $?
else
    skip 'a state_dir that is full' 'no mount namespace here'
fi

# ---- a user without places ----

as_other=
[ "$(id -u)" -ne 0 ] || as_other='setpriv --reuid 65534 --regid 65534 --clear-groups'
# shellcheck disable=SC2086 # several words, or none
if $as_other "$pawl" --version >/dev/null 2>&1; then
    is 'doctor of a user without HOME and XDG_RUNTIME_DIR' /run/pawl/pawl.sock.http: \
        "$($as_other env -i "$pawl" doctor | sed -n 's/^[a-z]* *socket *\([^ ]*\).*/\1/p')"
else
    skip 'doctor of a user without places' 'no other user here may run the programs'
fi
write_config <<'END'
[lane main]
slabs = 64
size = 512G
END
"$pawl" doctor --config "$work/pawl.ini" >/dev/null
is 'doctor: lanes that /dev/shm cannot hold' 71 $?
doctor_says() { "$pawl" doctor --config "$work/pawl.ini" | grep -q "$1"; }
check '... are told with their size' doctor_says '^fail *shm .*33554432 MiB'
check '... and the configured state_dir' doctor_says "^ok *state-dir .*$work"
printf '[pawl]\nsocked = /a\n' >"$work/pawl.ini"
check 'doctor: a configuration with a fault' doctor_says '^fail *config .*socked'
fails_with 'doctor of a configuration that is not there' 64 'cannot be read' \
    "$pawl" doctor --config "$work/nowhere.ini"
finish
