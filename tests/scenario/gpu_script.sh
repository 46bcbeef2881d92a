#!/bin/sh
# tests/gpu/run, the script for a machine with a GPU, from end to end on the software driver.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

driver=$BUILD_DIR/softcuda/libcuda.so.1
[ -e "$driver" ] || skip_all 'the software driver is not built'
[ -x "$BUILD_DIR/gpu/gpu-check" ] || skip_all 'gpu-check is not built'
"$bin/gpu-worker" --list-devices --json >/dev/null || exit 70
kernels=$(LD_LIBRARY_PATH=$BUILD_DIR/softcuda "$bin/gpu-worker" --list-devices --json | jq '.devices[1].fit')
[ "$kernels" = true ] || skip_all 'built without CUDA kernels'

BUILD_DIR=$BUILD_DIR timeout 300 tests/gpu/run --soft --no-build >"$work/out" 2>"$work/err"
code=$?
is 'exit code' 0 "$code"
[ "$code" -eq 0 ] || sed 's/^/# /' "$work/err"
report() { # JQ FILTER, over the last line
    tail -n 1 "$work/out" | jq -r "$1"
}
is 'it says that no figure is a GPU'\''s' 2 "$(grep -c 'No figure here is a GPU' "$work/out")"
is 'the last line is the report' true "$(report .soft)"
is 'nothing failed' '[]' "$(report '.failed | tostring')"
is 'nothing is wrong' 0 "$(report '[.records[] | select(.wrong == true or (.wrong // 0 | numbers) > 0)] | length')"
for part in selftest case rate copy operation proof kill; do
    check "part $part left records" [ "$(report "[.records[] | select(.check == \"$part\")] | length")" -gt 0 ]
done
is 'proofs on both curves, held against the CPU' 'bls12381 bn128 false' \
    "$(report '[.records[] | select(.check == "proof")] | "\([.[].curve] | unique | join(" ")) \([.[].wrong] | unique | join(" "))"')"
is 'a kill with the key kept, and one without' 'no yes' \
    "$(report '[.records[] | select(.check == "kill")] | map(.imported) | join(" ")')"
is 'slabs were registered' 'direct direct' \
    "$(report '[.records[] | select(.check == "kill")] | map(.pinned) | join(" ")')"
is 'the report lies beside' "$(report '.records | length')" "$(jq '.records | length' "$BUILD_DIR/gpu/report.json")"
LD_LIBRARY_PATH=$BUILD_DIR/softcuda PAWL_SOFTCUDA=flip@2 "$BUILD_DIR/gpu/gpu-check" --soft selftest >"$work/out" 2>&1
is 'a bit that flips is found' 1 $?
said=$(env CUDA_VISIBLE_DEVICES= LD_LIBRARY_PATH="$BUILD_DIR/softcuda" tests/gpu/run --no-build 2>&1)
is 'no GPU: exit code 78' 78 $?
check '... and a reason' sh -c "echo \"\$1\" | grep -q 'cuda:0: .*driver'" sh "$said"
finish
