#!/bin/sh
# What gpu-worker says of the GPUs that a machine has, and of those that it cannot use: on the
# software driver, which plays each machine.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317
. "$(dirname "$0")/lib.sh"

driver=$(cd "$BUILD_DIR" && pwd)/softcuda
[ -e "$driver/libcuda.so.1" ] || skip_all 'the software driver is not built'
unset CUDA_VISIBLE_DEVICES
worker=$bin/gpu-worker
absent=$work/absent.sock

listed() { # WORDS OF PAWL_SOFTCUDA: the list goes to $list
    list=$(LD_LIBRARY_PATH=$driver PAWL_SOFTCUDA=$1 "$worker" --list-devices --json)
}
of_list() { # JQ FILTER
    echo "$list" | jq -r "$1"
}
# --device NAME is refused with 78 and one line that holds TEXT
refused() { # TEXT WORDS NAME PART
    said=$(LD_LIBRARY_PATH=$driver PAWL_SOFTCUDA=$2 "$worker" --socket "$absent" --device "$3" 2>&1)
    code=$?
    case "$code $(echo "$said" | wc -l) $said" in
    "78 1 gpu-worker: $3: "*"$4"*) ok "$1" ;;
    *) not_ok "$1" "wanted exit 78 and a line with: $4" "got exit $code:" "$said" ;;
    esac
}
# it is taken: only the coordinator is missing
taken() { # TEXT WORDS NAME
    said=$(LD_LIBRARY_PATH=$driver PAWL_SOFTCUDA=$2 "$worker" --socket "$absent" --device "$3" 2>&1)
    code=$?
    is "$1" 69 "$code"
    [ "$code" -eq 69 ] || echo "# $said"
}

listed devices=2
is 'two GPUs beside the CPU' '3 cpu null 0 1' \
    "$(of_list '"\(.devices | length) \(.devices[0].name) \(.devices | map(.index // "null" | tostring) | join(" "))"')"
is 'names are UUIDs' 2 "$(of_list '[.devices[].name | select(test("^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"))] | length')"
is 'they differ' 3 "$(of_list '[.devices[].name] | unique | length')"
is 'memory, and no threads' 'true null' "$(of_list '.devices[1] | "\(.memory_bytes > 1048576) \(.threads)"')"
is 'the version of the driver' true "$(of_list '.driver.version >= 13000')"
is 'no reason against GPUs' null "$(of_list .why)"
uuid=$(of_list '.devices[2].name')
why=$(of_list '.devices[1].why')
check 'a list for people' sh -c "LD_LIBRARY_PATH='$driver' '$worker' --list-devices | grep -Eq '^GPU-.*  cuda:0, .*compute capability 9.0'"

case $why in
*'without CUDA kernels'*)
    is 'a build without kernels uses no GPU' 'false false' "$(of_list '.devices[1:] | map(.fit) | join(" ")')"
    refused 'and says so' devices=1 cuda:0 'built without CUDA kernels'
    finish
    ;;
esac

is 'both are fit' 'true true' "$(of_list '.devices[1:] | map(.fit) | join(" ")')"
taken 'by number' devices=2 cuda:1
taken 'by UUID' devices=2 "$uuid"
refused 'a number past the last' devices=2 cuda:2 'no such device of this name among the 2'
refused 'a UUID of none' devices=2 GPU-ffffffff-0000 'no such device'

listed devices=1,cc=70
is 'too old a GPU is listed as unfit' 'false true' \
    "$(of_list '.devices[1] | "\(.fit) \(.why | test("compute capability is 7.0"))"')"
refused '... and refused' devices=1,cc=70 cuda:0 'compute capability is 7.0 and 8.0 is wanted'
refused 'one that this build has no code for' devices=1,cc=100 cuda:0 'CUDA_ARCHS=100'
refused 'one that may not compute' prohibited cuda:0 'compute mode prohibits'

listed driver=12040
is 'too old a driver: the CPU alone' 'cpu 12040 true' \
    "$(of_list '"\(.devices | map(.name) | join(" ")) \(.driver.version) \(.why | test("too old"))"')"
refused '... and no GPU' driver=12040 cuda:0 'too old'
listed devices=0
is 'no GPU: the CPU alone, and why' 'cpu true' \
    "$(of_list '"\(.devices | map(.name) | join(" ")) \(.why | test("CUDA_VISIBLE_DEVICES"))"')"

for word in 802:fabricmanager 803:reboot 804:compat 999:nvidia-smi; do
    refused "a driver that does not start with ${word%:*}" "init=${word%:*}" cuda:0 "${word#*:}"
done
stub=$(find /usr/local/cuda/ -path '*/stubs/libcuda.so' 2>/dev/null | head -n 1)
if [ -n "$stub" ]; then
    mkdir "$work/stub" && cp "$stub" "$work/stub/libcuda.so.1"
    driver=$work/stub
    refused "the toolkit's stub in place of a driver" '' cuda:0 "is the CUDA toolkit's stub"
    driver=$(cd "$BUILD_DIR" && pwd)/softcuda
else
    skip "the toolkit's stub in place of a driver" 'no toolkit'
fi

listed mps
is 'MPS shows' true "$(of_list '.devices[1].mps')"
taken 'MPS is no obstacle' mps cuda:0
check '... but warned of' sh -c "echo '$said' | grep -q ev=device_shared_by_mps"
taken 'nor is a GPU that there is PTX alone for' cc=121 cuda:0
check '... but warned of' sh -c "echo '$said' | grep -q 'ev=device_compiles_kernels.*CUDA_ARCHS=121'"
listed mig
is 'a part of a GPU has a name of its own' true "$(of_list '.devices[1].name | test("^MIG-")')"
taken '... by which it is taken' mig "$(of_list '.devices[1].name')"

finish
