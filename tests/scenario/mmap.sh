#!/bin/sh
# No mapping on the hot path: once a worker has had its first partition of each circuit, neither
# slabs nor control nor images are mapped again, but for the slab of a grant (one mapping a grant at
# most). Counted by strace.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

command -v strace >/dev/null || skip_all 'strace is missing'
strace -o "$work/try" true 2>/dev/null || skip_all 'strace is not permitted'

write_config <<'END'
[lane main]
slabs = 4
size = 1M
credits = 3
END
start coordinator "$bin/coordinator" --config "$work/pawl.ini"
coordinator=$started_pid
wait_for 10 "$pawl" status
# -y names the objects behind the fds
traced() { # NAME COMMAND...
    name=$1
    shift
    start "$name" strace -f -y -e trace=mmap,mremap -o "$work/$name.strace" "$@"
}
traced synth-1 "$bin/synth-worker" --socket "$PAWL_SOCKET"
traced synth-2 "$bin/synth-worker" --socket "$PAWL_SOCKET"
traced gpu "$bin/gpu-worker" --socket "$PAWL_SOCKET" --device cpu
check 'the workers are there' wait_for 20 sh -c "[ \$('$pawl' status --json | jq '.workers | length') -eq 3 ]"
check 'circuits are added' add_circuits

# every worker's first partition of each circuit: enough of them that both synth-workers have had one
work_on() { # N
    for case in $three_circuits; do
        n=0
        set --
        while [ "$n" -lt "$times" ]; do
            set -- "$@" "$fixtures/$case/w1.wtns"
            n=$((n + 1))
        done
        "$pawl" submit "$(circuit_name "$case")" "$@" --wait || return
    done
}
shared() { # NAME: mappings of objects that processes share, since the line in NAME.from
    tail -n "+$(($(cat "$work/$1.from") + 1))" "$work/$1.strace" | grep MAP_SHARED
}
granted() {
    "$pawl" status --json | jq '.lanes[0].grants_total'
}
times=12
check 'first partitions' work_on
before=$(granted)
for name in synth-1 synth-2 gpu; do
    wc -l <"$work/$name.strace" >"$work/$name.from"
done
check 'the images were mapped before' grep -q 'MAP_SHARED.*\.image' "$work/gpu.strace"
times=20
check 'many more partitions' work_on
grants=$(($(granted) - before))
is 'grants' 60 "$grants"
is 'gpu-worker: nothing is mapped again' '' "$(shared gpu)"
slab_maps=0
for name in synth-1 synth-2; do
    # a grant's slab alone is mapped to be written, and filled with pages at once
    is "$name: no image, no control" 0 "$(shared $name | grep -vc 'PROT_WRITE.*MAP_POPULATE')"
    slab_maps=$((slab_maps + $(shared $name | grep -c 'PROT_WRITE.*MAP_POPULATE')))
done
check "synth-workers: at most one mapping a grant ($slab_maps for $grants)" [ "$slab_maps" -le "$grants" ]

kill -TERM "$coordinator"
wait "$coordinator"
is 'drained' 0 $?
finish
