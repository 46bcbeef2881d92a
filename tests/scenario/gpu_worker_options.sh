#!/bin/sh
# gpu-worker by hand: options, environment, exit codes.
set -u

worker=${BUILD_DIR:-build}/bin/gpu-worker
output=$(mktemp "${TMPDIR:-/tmp}/pawl-options.XXXXXX") || exit 70
trap 'rm -f "$output"' EXIT
count=0

# check TEXT CODE PATTERN COMMAND...: the exit code, and a line that matches
check() {
    text=$1 code=$2 pattern=$3
    shift 3
    count=$((count + 1))
    timeout 20 "$@" >"$output" 2>&1 </dev/null
    got=$?
    if [ "$got" -eq "$code" ] && grep -Eq -- "$pattern" "$output"; then
        echo "ok $count - $text"
    else
        echo "not ok $count - $text"
        echo "# exit $got, wanted $code and /$pattern/; it said:"
        sed 's/^/# /' "$output"
    fi
}

absent=/nonexistent/pawl.sock
check "help" 0 "--device" "$worker" --help
check "version" 0 "^gpu-worker [0-9]" "$worker" --version
check "devices" 0 "^cpu  .*threads" "$worker" --list-devices
check "devices as JSON" 0 '^\{"devices":\[\{"name":"cpu","device":"cpu","index":null,"model":"[^"]*","capability":null,"memory_bytes":null,"threads":[0-9]+,"mps":false,"fit":true,"why":null\}.*\],"driver":(null|\{"version":[0-9]+\}),"why":(null|"[^"]*")\}$' \
    "$worker" --list-devices --json
# shellcheck disable=SC2016
check "... which is JSON" 0 '^cpu$' sh -c '"$1" --list-devices --json | jq -r ".devices[0].name"' sh "$worker"
check "an unknown option" 64 "unrecognized" "$worker" --bogus
check "an argument too many" 64 "no argument" "$worker" --device cpu extra
check "no device" 64 "--device is missing" "$worker" --socket "$absent"
check "--json by itself" 64 "--list-devices" "$worker" --json
check "a device of no kind" 78 "no such device" "$worker" --socket "$absent" --device gpu
# a GPU that this machine may have is hidden from it; then the reason is a line that says what to do
no_gpu="built without CUDA kernels|NVIDIA's driver .*: "
check "cuda:0 where there is no GPU" 78 "cuda:0: .*($no_gpu)" \
    env CUDA_VISIBLE_DEVICES= "$worker" --socket "$absent" --device cuda:0
check "a UUID where there is no GPU" 78 "GPU-01234567: .*($no_gpu)" \
    env CUDA_VISIBLE_DEVICES= "$worker" --socket "$absent" --device GPU-01234567
check "the list says why there is no GPU" 0 "^no GPU: NVIDIA's driver" \
    env CUDA_VISIBLE_DEVICES= "$worker" --list-devices
check "no coordinator" 69 "ev=no_coordinator" "$worker" --socket "$absent" --device cpu
check "a configuration that is not there" 78 "configuration" "$worker" --config "$absent" --device cpu
check "PAWL_CPU=portable" 69 "ev=no_coordinator" \
    env PAWL_CPU=portable "$worker" --socket "$absent" --device cpu
# a form is there where the CPU has what it wants; else asking for it is an error
form_check() { # FORM FLAG
    if grep -qsw "$2" /proc/cpuinfo && [ "$(uname -m)" = x86_64 ]; then
        check "PAWL_CPU=$1" 69 "ev=no_coordinator" env PAWL_CPU="$1" "$worker" --socket "$absent" --device cpu
        check "PAWL_CPU=$1 is what the devices' list says" 0 "[(]$1[)]" env PAWL_CPU="$1" "$worker" --list-devices
    else
        check "PAWL_CPU=$1" 78 "$1: this CPU or build has no such form" \
            env PAWL_CPU="$1" "$worker" --socket "$absent" --device cpu
        check "PAWL_CPU=$1 lists nothing" 78 "no such form" env PAWL_CPU="$1" "$worker" --list-devices
    fi
}
form_check adx adx
form_check ifma avx512ifma
check "PAWL_CPU=other" 64 "none of portable" env PAWL_CPU=other "$worker" --socket "$absent" --device cpu
check "test blinders are announced" 69 "PAWL_TEST_BLINDERS fixes" \
    env PAWL_TEST_BLINDERS=1,2 "$worker" --socket "$absent" --device cpu
check "bad test blinders" 64 "not R,S" env PAWL_TEST_BLINDERS=1 "$worker" --socket "$absent" --device cpu
check "test blinders above the order" 64 "not R,S" \
    env PAWL_TEST_BLINDERS=52435875175126190479447740508185965837690552500527637822603658699938581184513,1 \
    "$worker" --socket "$absent" --device cpu
echo "1..$count"
