#!/bin/sh
# Circuit images whose body rots on the disk: nobody blames the witness for it. A proof alone makes
# its image again and succeeds; the service says what is wrong and what mends it, and that does.
# shellcheck source=tests/scenario/lib.sh disable=SC2317,SC2154
. "$(dirname "$0")/lib.sh"

out=$work/out
mkdir "$out"
pos10=$fixtures/bn128/pos10
not_satisfied='witness does not satisfy key'
damaged="the circuit's image is damaged on disk"
python3 tests/scenario/lib.py wtns_unsatisfied "$pos10/w1.wtns" "$work/broken.wtns"

# Damages the one image of a folder: flip a bit in the middle of a section, or fill a part of it.
damage() { # FOLDER TAG flip|zeros|ones
    chmod u+w "$1"/*.image
    python3 - "$1"/*.image "$2" "$3" <<'END'
import struct, sys
path, tag, how = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(path, "r+b") as file:
    head = file.read(112)
    for i in range(struct.unpack_from("<I", head, 20)[0]):
        found, _, _, _, _, offset, size = struct.unpack("<IHHIIQQ", file.read(32))
        if found == tag:
            break
    else:
        sys.exit("no such section")
    at = offset + size // 2
    count = 1 if how == "flip" else size // 4
    file.seek(at)
    old = file.read(count)
    file.seek(at)
    file.write({"flip": bytes([old[0] ^ 4]), "zeros": bytes(count), "ones": b"\xff" * count}[how])
END
}
verify() { # CASE FOLDER
    [ "$("$pawl" verify "$fixtures/$1/vkey.json" "$2/public.json" "$2/proof.json")" = 'OK!' ]
}

# ---- alone ----

prove() { # KEY WITNESS FOLDER: what it says is in $work/said
    rm -f "$out"/*
    "$pawl" prove "$1" "$2" "$out/proof.json" "$out/public.json" --cache "$3" 2>"$work/said"
}
mended() { # TEXT CASE TAG HOW: damaged, a proof of it succeeds; and then says nothing more
    prove "$fixtures/$2/key.zkey" "$fixtures/$2/w1.wtns" "$work/cache"
    damage "$work/cache" "$3" "$4"
    is "$1: exit code" 0 "$(prove "$fixtures/$2/key.zkey" "$fixtures/$2/w1.wtns" "$work/cache"
        echo $?)"
    is "$1: it is said in one line" "pawl: the key's image in the cache was damaged and is made again" \
        "$(cat "$work/said")"
    check "$1: the proof" verify "$2" "$out"
    prove "$fixtures/$2/key.zkey" "$fixtures/$2/w1.wtns" "$work/cache"
    is "$1: the next is as any" '0 ' "$? $(cat "$work/said")"
    rm -rf "$work/cache"
}
mended 'verification key' bn128/pos10 1 zeros
mended 'public signals of the key' bn128/pos10 2 flip
mended 'points A' bn128/pos10 3 flip
mended 'points A, a hole' bls12381/pos10 3 zeros
mended 'points B2, ones' bn128/pos10 5 ones
mended 'points H' bn128/pos10 7 flip
mended 'rows of A, a worker dies' bn128/pos10 8 ones
mended 'wires of A, a worker dies' bn128/pos10 9 ones
mended 'wires of B, a hole' bls12381/pos10 13 zeros
mended 'values of A' bn128/pos10 10 ones

prove "$pos10/key.zkey" "$pos10/w1.wtns" "$work/cache"
fails_with 'a whole image: the witness is at fault' 1 "$not_satisfied" "$pawl" prove "$pos10/key.zkey" \
    "$work/broken.wtns" "$out/proof.json" "$out/public.json" --cache "$work/cache"
damage "$work/cache" 3 flip
prove "$pos10/key.zkey" "$work/broken.wtns" "$work/cache"
is 'a damaged image and a wrong witness: made again, and the witness is at fault' "1 pawl: $not_satisfied" \
    "$? $(tail -n 1 "$work/said")"
damage "$work/cache" 3 flip
mkfifo "$work/fifo.wtns"
(sleep 0.2 && cat "$pos10/w1.wtns" >"$work/fifo.wtns") &
fails_with 'a witness that cannot be read twice' 70 'start this once more' "$pawl" prove "$pos10/key.zkey" \
    "$work/fifo.wtns" "$out/proof.json" "$out/public.json" --cache "$work/cache"
prove "$pos10/key.zkey" "$pos10/w1.wtns" "$work/cache"
is '... which is right then' '0 ' "$? $(cat "$work/said")"

# ---- a service ----

write_config <<'END'
[workers]
synth = 2
devices = cpu
threads = 2
[limits]
attempts = 2
END
start_stack
is 'the service is ready' 0 $?
check 'a circuit' "$pawl" circuit add pos "$pos10/key.zkey"
check 'its proof' "$pawl" submit pos "$pos10/w1.wtns" --wait --out "$out"
fails_with 'a wrong witness is the input'\''s fault' 1 "$not_satisfied" "$pawl" submit pos \
    "$work/broken.wtns" --wait
for kind in '3 flip' '9 ones' '2 zeros'; do
    # shellcheck disable=SC2086 # two words
    damage "$work/state/images" $kind
    fails_with "damaged ($kind): our fault, and what mends it" 70 "$damaged" "$pawl" submit pos \
        "$pos10/w1.wtns" --wait
    fails_with "... also of a wrong witness" 70 "$damaged" "$pawl" submit pos "$work/broken.wtns" --wait
    if [ "$kind" = '2 zeros' ]; then
        check '... removed' "$pawl" circuit remove pos
    fi
    check '... the circuit added again' "$pawl" circuit add pos "$pos10/key.zkey"
    rm -f "$out"/*
    check '... its proof' "$pawl" submit pos "$pos10/w1.wtns" --wait --out "$out"
    check '... verifies' verify bn128/pos10 "$out"
done
check 'a synth-worker died of wires that were none' \
    sh -c "'$pawl' status --json | jq -e '.deaths_total.synth > 0'"
fails_with 'a wrong witness is the input'\''s fault again' 1 "$not_satisfied" "$pawl" submit pos \
    "$work/broken.wtns" --wait
check 'the log names the image' grep -q 'ev=image_damaged hash=' "$work/supervise.log"
stop_stack 'the end'
finish
