#!/bin/sh
# pawl prove by itself, through private processes: right proofs of every case, and for everything
# that is wrong one line, the right exit code and no output file.
# shellcheck source=tests/scenario/lib.sh disable=SC2317,SC2154
. "$(dirname "$0")/lib.sh"

out=$work/out
mkdir "$out"
mul2=$fixtures/bn128/mul2
pos10=$fixtures/bn128/pos10

prove() { # KEY WITNESS [OPTIONS]
    key=$1 witness=$2
    shift 2
    "$pawl" prove "$key" "$witness" "$out/proof.json" "$out/public.json" "$@"
}
verify() { # VKEY
    [ "$("$pawl" verify "$1" "$out/public.json" "$out/proof.json")" = 'OK!' ]
}
forget() {
    rm -f "$out"/*.json
}
# One complaint, exit code 1 (or CODE), and no output file.
refused() { # NAME TEXT KEY WITNESS [CODE]
    forget
    fails_with "$1" "${5:-1}" "$2" prove "$3" "$4"
    if [ -n "$(ls -A "$out")" ]; then
        not_ok "$1: no output file" "$(ls -A "$out")"
    fi
}
break_file() { # KIND IN: the path of the broken copy
    python3 tests/scenario/lib.py "$1" "$2" "$work/$1" && echo "$work/$1"
}

# ---- every case ----

case_folders >"$work/cases"
while read -r folder; do
    name=${folder#"$fixtures"/}
    for witness in "$folder"/w*.wtns; do
        forget
        check "$name ${witness##*/}: prove" prove "$folder/key.zkey" "$witness"
        check "$name ${witness##*/}: verify" verify "$folder/vkey.json"
    done
    forget
    prove "$folder/key.zkey" "$folder/w1.wtns"
    mv "$out/proof.json" "$work/first.json"
    prove "$folder/key.zkey" "$folder/w1.wtns"
    check "$name: two proofs of one witness differ" sh -c "! cmp -s '$work/first.json' '$out/proof.json'"
    "$pawl" vkey "$folder/key.zkey" "$out/vkey.json"
    check "$name: vkey is snarkjs's, byte for byte" cmp "$folder/vkey.json" "$out/vkey.json"
    reference=$folder/w1.r12345.s67890.json
    [ -f "$reference" ] || continue
    forget
    PAWL_TEST_BLINDERS=12345,67890 prove "$folder/key.zkey" "$folder/w1.wtns" 2>"$work/said"
    check "$name: fixed blinders are announced" grep -q PAWL_TEST_BLINDERS "$work/said"
    is "$name: the reference's proof with these blinders" "$(jq -c .proof "$reference")" \
        "$(jq -c . "$out/proof.json")"
    is "$name: the reference's public signals" "$(jq -c .public "$reference")" \
        "$(jq -c . "$out/public.json")"
done <"$work/cases"

# ---- text of the files ----

forget
prove "$mul2/key.zkey" "$mul2/w1.wtns"
for file in proof public; do
    python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1])), indent=1), end="")' \
        "$out/$file.json" >"$work/indented"
    check "$file.json is indented as snarkjs does it" cmp "$work/indented" "$out/$file.json"
done

# ---- wrong witnesses ----

w=$pos10/w1.wtns
not_satisfied='witness does not satisfy key'
refused 'a witness that breaks a constraint' "$not_satisfied" "$pos10/key.zkey" \
    "$(break_file wtns_unsatisfied "$w")"
# Two wires for two wires: the length is right and all else is not.
python3 - "$mul2/w1.wtns" "$work/other.wtns" <<'END'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
one, two = data[-64:-32], data[-32:]
data[-64:-32], data[-32:] = two, one
open(sys.argv[2], "wb").write(data)
END
refused 'a witness of another circuit of the same length' "$not_satisfied" "$mul2/key.zkey" \
    "$work/other.wtns"
refused 'a witness of another circuit' 'Invalid witness length. Circuit: 963, witness: 5' \
    "$pos10/key.zkey" "$mul2/w1.wtns"
refused 'one value too few' 'Invalid witness length. Circuit: 963, witness: 962' \
    "$pos10/key.zkey" "$(break_file wtns_short "$w")"
refused 'one value too many' 'Invalid witness length. Circuit: 963, witness: 964' \
    "$pos10/key.zkey" "$(break_file wtns_long "$w")"
refused 'the other curve' 'Curve of the witness does not match the curve of the proving key' \
    "$pos10/key.zkey" "$fixtures/bls12381/pos10/w1.wtns"
refused 'the other curve, the other way' \
    'Curve of the witness does not match the curve of the proving key' \
    "$fixtures/bls12381/pos10/key.zkey" "$w"
refused 'another prime' 'Curve of the witness' "$pos10/key.zkey" "$(break_file wtns_other_prime "$w")"
refused 'a section shorter than its count' wtns_values_short "$pos10/key.zkey" \
    "$(break_file wtns_values_short "$w")"
refused 'a value not below r' 962 "$pos10/key.zkey" "$(break_file wtns_not_canonical "$w")"
refused 'a first value that is not 1' first "$pos10/key.zkey" "$(break_file wtns_first "$w")"
for bytes in 0 3 11 20 60 100 2000 30000; do
    head -c $bytes "$w" >"$work/cut.wtns"
    refused "a witness cut after $bytes bytes" cut.wtns "$pos10/key.zkey" "$work/cut.wtns"
done
refused 'a witness that is not there' 'cannot read' "$pos10/key.zkey" "$work/nothing.wtns"
refused 'a folder as witness' 'cannot read' "$pos10/key.zkey" "$work"
refused 'a zkey as witness' 'Invalid File format' "$pos10/key.zkey" "$pos10/key.zkey"

# ---- wrong keys ----

key=$mul2/key.zkey
w=$mul2/w1.wtns
for kind in length count domain index row matrix coefficients point missing twice; do
    refused "a zkey that lies: $kind" zkey_$kind "$(break_file zkey_$kind "$key")" "$w"
done
refused 'a PLONK key' 'zkey file is not groth16' "$(break_file zkey_plonk "$key")" "$w"
refused 'a witness as zkey' 'Invalid File format' "$w" "$w"
refused 'a zkey that is not there' "$work/nothing.zkey" "$work/nothing.zkey" "$w"
for bytes in 0 3 11 100 1000; do
    head -c $bytes "$key" >"$work/cut.zkey"
    refused "a zkey cut after $bytes bytes" cut.zkey "$work/cut.zkey" "$w"
done
forget
check 'sections in reverse order are fine' prove "$(break_file zkey_reversed "$key")" "$w"
check '... and the proof verifies' verify "$mul2/vkey.json"

# ---- outputs ----

echo old >"$out/proof.json"
echo old >"$out/public.json"
fails_with 'an error leaves existing files alone: refused' 1 "$not_satisfied" prove "$key" \
    "$work/other.wtns"
is 'an error leaves existing files alone' 'old old' "$(cat "$out/proof.json" "$out/public.json" | xargs)"
check 'existing files are replaced' prove "$key" "$w"
check '... by a right proof' verify "$mul2/vkey.json"
forget
fails_with 'no such folder: 73' 73 'cannot write' "$pawl" prove "$key" "$w" "$out/proof.json" \
    "$work/no/public.json"
is 'neither file without the other' '' "$(ls -A "$out")"
mkdir "$out/folder"
fails_with 'a folder in the place of an output: 73' 73 'cannot write' "$pawl" prove "$key" "$w" \
    "$out/proof.json" "$out/folder"
rmdir "$out/folder"
is 'neither file without the other, again' '' "$(ls -A "$out")"
ln -s real.json "$out/link.json"
echo old >"$out/real.json"
check 'a link as output' "$pawl" prove "$key" "$w" "$out/link.json" "$out/public.json"
check '... stays a link' test -L "$out/link.json"
check '... to the file that it was' grep -q pi_a "$out/real.json"
forget
cp "$key" "$out/k.zkey"
cp "$w" "$out/w.wtns"
two='need two files'
fails_with 'one output by two names: 64' 64 "$two" "$pawl" prove "$key" "$w" "$out/a" "$out/./a"
for file in k.zkey w.wtns; do
    fails_with "$file as output of itself: 64" 64 'is an input' "$pawl" prove "$out/k.zkey" "$out/w.wtns" \
        "$out/../out/$file" "$out/b"
done
fails_with 'a key as output of vkey: 64' 64 'is an input' "$pawl" vkey "$out/k.zkey" "$out/./k.zkey"
check '... all is as it was' cmp "$key" "$out/k.zkey"
check '... the witness too' cmp "$w" "$out/w.wtns"
rm "$out/k.zkey" "$out/w.wtns"
mkfifo "$out/fifo"
ends_at_term() { # ARGUMENTS: pawl waits, and a TERM alone ends it
    timeout -k 5 2 "$pawl" "$@" 2>"$work/said"
    [ $? -eq 124 ]
}
check 'TERM ends the wait for the reader of an output' ends_at_term prove "$key" "$w" "$out/fifo" "$out/b"
check 'TERM ends verify at a FIFO' ends_at_term verify "$out/fifo" "$out/b" "$out/b"
rm -f "$out/fifo" "$out/link.json" "$out/real.json"
is '... and no output is there' '' "$(ls -A "$out")"
"$pawl" prove "$key" "$w" /dev/stdout "$out/public.json" >"$out/proof.json"
check 'a proof to /dev/stdout' verify "$mul2/vkey.json"

# ---- usage ----

forget
fails_with 'too few arguments: 64' 64 arguments "$pawl" prove "$key" "$w"
fails_with 'an unknown option: 64' 64 --frob "$pawl" prove --frob "$key" "$w" a b
fails_with 'a GPU that is not there: 71' 71 'there is no device cuda:9:' prove "$key" "$w" --device cuda:9
fails_with 'no name of a device: 64' 64 'no such device: tpu' prove "$key" "$w" --device tpu
fails_with 'bad threads: 64' 64 --threads prove "$key" "$w" --threads many
for command in top plan; do
    fails_with "$command: not in this version" 64 'is not in this version' "$pawl" $command
done
fails_with 'bad blinders: 64' 64 PAWL_TEST_BLINDERS \
    env PAWL_TEST_BLINDERS=frob "$pawl" prove "$key" "$w" "$out/proof.json" "$out/public.json"
fails_with 'no coordinator: 69' 69 'no coordinator' "$pawl" status --socket "$work/nothing.sock"
for command in prove verify vkey 'circuit add' 'circuit list' 'circuit remove' submit job jobs cancel \
    status trace; do
    # shellcheck disable=SC2086 # two words
    check "pawl $command --help" "$pawl" $command --help
    # shellcheck disable=SC2086 # two words
    is "... no line ends in a space" '' "$("$pawl" $command --help | grep ' $')"
done
for program in pawl coordinator synth-worker gpu-worker; do
    check "$program --help" "$bin/$program" --help
    check "$program --version" "$bin/$program" --version
done

# ---- verify ----

prove "$key" "$w"
jq '.[0] = "1"' "$out/public.json" >"$work/wrong.json"
is 'a wrong public signal' 'Invalid proof' \
    "$("$pawl" verify "$mul2/vkey.json" "$work/wrong.json" "$out/proof.json" 2>/dev/null)"
jq '.[0] = "21888242871839275222246405745257275088548364400416034343698204186575808495618"' \
    "$out/public.json" >"$work/wrong.json"
is 'a public signal not below r' 'Invalid proof' \
    "$("$pawl" verify "$mul2/vkey.json" "$work/wrong.json" "$out/proof.json" 2>/dev/null)"
jq 'del(.[0])' "$out/public.json" >"$work/wrong.json"
is 'one public signal too few' 'Invalid proof' \
    "$("$pawl" verify "$mul2/vkey.json" "$work/wrong.json" "$out/proof.json" 2>/dev/null)"
jq '.pi_c = .pi_a' "$out/proof.json" >"$work/wrong.json"
is 'a wrong proof' 'Invalid proof' \
    "$("$pawl" verify "$mul2/vkey.json" "$out/public.json" "$work/wrong.json" 2>/dev/null)"
"$pawl" verify "$mul2/vkey.json" "$out/public.json" "$work/wrong.json" >/dev/null 2>&1
is 'exit code of a wrong proof' 1 $?
echo '{' >"$work/wrong.json"
fails_with 'no JSON' 1 'not JSON' "$pawl" verify "$work/wrong.json" "$out/public.json" "$out/proof.json"
is 'verify --json' '{"valid":true}' \
    "$("$pawl" verify --json "$mul2/vkey.json" "$out/public.json" "$out/proof.json")"

# ---- odd files and places ----

odd="$work/a folder; with ünïcode"
mkdir "$odd"
cp "$key" "$odd/the key.zkey"
cp "$w" "$odd/-w itness.wtns"
chmod 400 "$odd/the key.zkey"
forget
check 'spaces, UTF-8, a read-only key' "$pawl" prove "$odd/the key.zkey" "$odd/-w itness.wtns" \
    "$odd/proof.json" "$odd/public.json" --cache "$odd/cache"
check '... verifies' "$pawl" verify "$mul2/vkey.json" "$odd/public.json" "$odd/proof.json"
mkfifo "$work/fifo.wtns"
(sleep 0.5 && cat "$w" >"$work/fifo.wtns") &
forget
check 'a FIFO as witness' prove "$key" "$work/fifo.wtns"
check '... verifies' verify "$mul2/vkey.json"
forget
check '--cache none' prove "$key" "$w" --cache none
check '... verifies' verify "$mul2/vkey.json"
for cache in XDG_CACHE_HOME="$key" 'XDG_CACHE_HOME= HOME=/dev/null'; do
    forget
    # shellcheck disable=SC2086 # several settings
    check "no folder for a cache: $cache" env $cache "$pawl" prove "$key" "$w" "$out/proof.json" \
        "$out/public.json"
    check '... verifies' verify "$mul2/vkey.json"
done
fails_with 'a --cache that cannot be used is said' 73 'see --cache' prove "$key" "$w" --cache "$key"
forget
check 'no usable XDG_RUNTIME_DIR' env XDG_RUNTIME_DIR="$odd" "$pawl" prove "$key" "$w" "$out/proof.json" \
    "$out/public.json"
check '--threads 1' prove "$key" "$w" --threads 1
is 'prove --json: the job' 'done' "$(prove "$key" "$w" --json | jq -r .state)"

# ---- interrupts, and what is left ----

private() { # N: so many private processes of an instance
    list=$(processes_here)
    [ "$(printf '%s\n' "$list" | grep -c ' --config \| --socket ')" -eq "$1" ]
}
mkfifo "$work/never.wtns"
forget
for signal in INT TERM HUP KILL; do
    # a witness that never comes: pawl waits with its private processes
    env --default-signal=INT "$pawl" prove "$key" "$work/never.wtns" "$out/proof.json" "$out/public.json" \
        2>"$work/said" &
    pid=$!
    exec 9<>"$work/never.wtns"
    check "waiting for $signal: three private processes" wait_for 5 private 3
    kill -$signal $pid
    wait $pid
    code=$?
    exec 9<&-
    [ $signal = KILL ] || is "$signal: exit code" 130 $code
    [ $signal = KILL ] || check "$signal: no process is left" private 0
    check "$signal: no process is left a moment later" wait_for 5 private 0
    # nobody can clean up after a KILL
    [ $signal != KILL ] || rm -rf "$work"/run/pawl-*
done
is 'no output of an interrupted proof' '' "$(ls -A "$out")"
is 'nothing is left in the temporary folder' '' "$(ls -A "$work/run")"
is 'nothing is left in /dev/shm' '' "$(shm_objects)"
is 'no process is left' '' "$(processes_here)"
finish
