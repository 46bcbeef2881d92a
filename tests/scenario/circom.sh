#!/bin/sh
# A circom circuit with its own C++ program: inputs are exact, every proof's public signals are
# those of its own input, and each synth-worker that is added while it runs adds throughput: the
# program waits on purpose, for two cores would show nothing otherwise. Needs g++, nasm, gmp,
# nlohmann-json and, once, the npm registry.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

mul2=$fixtures/bn128/mul2
for tool in node npm g++ nasm; do
    command -v $tool >/dev/null || skip_all "$tool is missing"
done
for header in nlohmann/json.hpp gmp.h; do
    echo "#include <$header>" | g++ -E -x c++ - >/dev/null 2>&1 || skip_all "$header is missing"
done
kept=$(CDPATH='' cd -- "$BUILD_DIR" && pwd)/circom
program=$kept/mul2_cpp/mul2
if [ ! -x "$program" ]; then
    mkdir -p "$kept"
    npm install --silent --no-save --no-package-lock --no-audit --no-fund --prefix "$kept" circom2@0.2.23 \
        >"$work/said" 2>&1 || skip_all 'npm cannot install circom2'
    cp "$mul2/mul2.circom" "$kept"
    (cd "$kept" && node node_modules/circom2/cli.js mul2.circom --c) >"$work/said" 2>&1 || skip_all 'circom2 fails'
    # it waits before it begins
    sed -i 's/^int main (int argc, char \*argv\[\]) {/#include <unistd.h>\n&\n  usleep(200000);/' "$kept/mul2_cpp/main.cpp"
    make -C "$kept/mul2_cpp" >"$work/said" 2>&1 || skip_all 'the C++ program cannot be built'
fi

write_config <<'END'
[workers]
synth = 1
[lane main]
slabs = 12
size = 64K
END
start_stack
is 'the stack starts' 0 $?
check 'circuit add --program' "$pawl" circuit add mul2 "$mul2/key.zkey" --program "$program"

# ---- exact or refused by name ----

publics_of() { # INPUT: the public signals of its proof, c d b
    echo "$1" >"$work/i.json"
    rm -rf "$work/out"
    "$pawl" submit mul2 "$work/i.json" --wait --out "$work/out" >"$work/said" 2>&1 && jq -c . "$work/out/public.json"
}
is 'beyond 2^53' '["18014398509481986","162259276829213399420375029252098","2"]' \
    "$(publics_of '{"a": 9007199254740993, "b": 2}')"
is 'hexadecimal' '["32","512","2"]' "$(publics_of '{"a": "0x10", "b": 2}')"
is 'negative' '["21888242871839275222246405745257275088548364400416034343698204186575808495615","4","1"]' \
    "$(publics_of '{"a": "-2", "b": 1}')"
is 'mixed arrays' '["6","18","2"]' "$(publics_of '{"a": ["3"], "b": [2]}')"
refused() { # INPUT TEXT
    echo "$1" >"$work/i.json"
    fails_with "$1" 1 "$2" "$pawl" submit mul2 "$work/i.json" --wait
}
refused '{"a": 1.6, "b": 1}' 'input signal a: a fraction'
refused '{"a": "", "b": 1}' 'input signal a: an empty text'
refused '{"a": 1, "b": 1, "a": 2}' 'input signal a: given twice'
refused '{"a": 21888242871839275222246405745257275088548364400416034343698204186575808495622, "b": 1}' \
    'input signal a: the number is not below'
refused '{"a": 1}' 'Not all inputs have been set'
refused '{"a": 1, "b": 1, "z": 1}' 'SIGABRT'

# ---- 100 inputs, ever more synth-workers ----

at=1
while [ $at -le 100 ]; do
    echo "{\"a\": $at, \"b\": $((at + 1000))}" >"$work/in$at.json"
    at=$((at + 1))
done
workers=1 from=1
: >"$work/rates"
for many in 14 26 30 30; do
    files=$(seq -f "$work/in%.0f.json" $from $((from + many - 1)))
    begin=$(date +%s%N)
    # shellcheck disable=SC2086 # a list of words without spaces
    "$pawl" submit mul2 $files --wait --out "$work/many$workers" >"$work/said" 2>&1 ||
        not_ok "$many inputs on $workers synth-workers" "$(cat "$work/said")"
    awk "BEGIN { printf \"%.2f\n\", $many * 1e9 / ($(date +%s%N) - $begin) }" >>"$work/rates"
    good=0 n=0
    while [ $n -lt $many ]; do
        a=$((from + n)) b=$((from + n + 1000)) out=$work/many$workers/$n
        if [ "$(jq -c . "$out/public.json")" = "[\"$((a * b))\",\"$((a * b * a))\",\"$b\"]" ] &&
            "$pawl" verify "$mul2/vkey.json" "$out/public.json" "$out/proof.json" >/dev/null 2>&1; then
            good=$((good + 1))
        fi
        n=$((n + 1))
    done
    is "$many inputs on $workers synth-workers: each has its own proof" $many $good
    from=$((from + many)) workers=$((workers + 1))
    [ $workers -gt 4 ] && break
    kill -TTIN "$supervise_pid"
    joined() {
        [ "$(worker_pids synth | wc -l)" -eq "$workers" ]
    }
    check "a synth-worker more: $workers" wait_for 10 joined
done
echo "# inputs a second on 1, 2, 3, 4 synth-workers: $(tr '\n' ' ' <"$work/rates")"
is 'each synth-worker that was added worked' 4 \
    "$("$pawl" status --json | jq '[.workers[] | select(.role == "synth" and .done_total > 0)] | length')"
finish
