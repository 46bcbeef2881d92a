#!/bin/sh
# snarkjs as the judge: it accepts Pawl's proofs of every case, and of testkey's keys, and has the
# same public signals and verification keys. Needs node and, once, the npm registry.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

# Skips, or fails where $PAWL_SNARKJS says `required`.
skip_or_fail() { # WHY
    [ "${PAWL_SNARKJS-}" = required ] || skip_all "$1"
    not_ok 'snarkjs can be asked' "$1"
    finish
}

version=0.7.6
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
    skip_or_fail 'node or npm is missing'
fi
modules=$(CDPATH='' cd -- "$BUILD_DIR" && pwd)/npm
snarkjs=$modules/node_modules/snarkjs/build/cli.cjs
if [ ! -f "$snarkjs" ] && ! npm install --silent --no-save --no-package-lock --no-audit --no-fund \
    --prefix "$modules" snarkjs@$version >"$work/npm.log" 2>&1; then
    tail -n 5 "$work/npm.log" | sed 's/^/# /'
    skip_or_fail "npm cannot install snarkjs@$version"
fi

snark() {
    NODE_OPTIONS=--no-deprecation node "$snarkjs" "$@"
}
accepts() { # VKEY PUBLIC PROOF
    snark groth16 verify "$@" | grep -q OK!
}

out=$work/out
mkdir "$out"
prove_and_judge() { # NAME KEY WITNESS VKEY
    rm -f "$out"/*.json
    check "$1: pawl prove" "$pawl" prove "$2" "$3" "$out/proof.json" "$out/public.json"
    check "$1: snarkjs groth16 verify" accepts "$4" "$out/public.json" "$out/proof.json"
    if snark groth16 prove "$2" "$3" "$work/sproof.json" "$work/spublic.json" >"$work/said" 2>&1; then
        check "$1: public.json is snarkjs's, byte for byte" cmp "$work/spublic.json" "$out/public.json"
        check "$1: pawl verifies snarkjs's proof" "$pawl" verify "$4" "$work/spublic.json" "$work/sproof.json"
        is "$1: proof.json has snarkjs's keys" "$(jq -c '[paths | map(tostring) | join(".")]' "$work/sproof.json")" \
            "$(jq -c '[paths | map(tostring) | join(".")]' "$out/proof.json")"
    else
        not_ok "$1: snarkjs groth16 prove" "$(cat "$work/said")"
    fi
}

case_folders >"$work/cases"
while read -r folder; do
    name=${folder#"$fixtures"/}
    snark zkey export verificationkey "$folder/key.zkey" "$work/svkey.json" >"$work/said" 2>&1
    "$pawl" vkey "$folder/key.zkey" "$work/vkey.json"
    check "$name: pawl vkey is snarkjs's, byte for byte" cmp "$work/svkey.json" "$work/vkey.json"
    for witness in "$folder"/w*.wtns; do
        prove_and_judge "$name ${witness##*/}" "$folder/key.zkey" "$witness" "$work/svkey.json"
    done
done <"$work/cases"

for curve in bn128 bls12381; do
    for profile in dense bits; do
        name="testkey $curve $profile"
        keys=$work/$curve-$profile
        mkdir "$keys"
        check "$name" "$bin/testkey" --curve $curve --profile $profile --log2 8 --seed 7 --out "$keys"
        check "$name: snarkjs wtns check" snark wtns check "$keys/circuit.r1cs" "$keys/w1.wtns"
        snark zkey export verificationkey "$keys/key.zkey" "$work/svkey.json" >"$work/said" 2>&1
        is "$name: its vkey.json is snarkjs's" "$(jq -S . "$work/svkey.json")" "$(jq -S . "$keys/vkey.json")"
        prove_and_judge "$name w1" "$keys/key.zkey" "$keys/w1.wtns" "$keys/vkey.json"
        prove_and_judge "$name w2" "$keys/key.zkey" "$keys/w2.wtns" "$keys/vkey.json"
    done
done
finish
