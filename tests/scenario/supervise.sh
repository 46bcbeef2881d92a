#!/bin/sh
# conf/supervise: what it starts, restarts and leaves alone. Programs that only note their starts
# stand in for the real ones, so that each may end as the test wants.
# shellcheck source=tests/scenario/lib.sh disable=SC2016,SC2013,SC2317
. "$(dirname "$0")/lib.sh"

fake=$work/fake
notes=$fake/notes # one line a start: seconds PROGRAM pid arguments
mkdir "$fake"
cp "$root/conf/supervise" "$fake/supervise"

# The stand-ins end at once with the code in PROGRAM.code, else live until TERM.
cat >"$fake/coordinator" <<'END'
#!/bin/sh
here=$(dirname "$0")
case $* in
*--get*pawl.run_dir*) echo "$here/run" && exit ;;
*--get*pawl.socket*) echo "$here/run/pawl.sock" && exit ;;
*--get*pawl.drain_timeout*) echo 2s && exit ;;
*--get*workers.synth*) cat "$here/synth" && exit ;;
*--get*workers.devices*) cat "$here/devices" && exit ;;
*--list-devices*) cat "$here/list" && exit ;;
esac
echo "$(date +%s.%N) ${0##*/} $$ $* sees=${CUDA_VISIBLE_DEVICES-}" >>"$here/notes"
[ ! -f "$0.code" ] || exit "$(cat "$0.code")"
trap 'echo "$(date +%s.%N) ${0##*/}-term $$" >>"$here/notes"; kill $nap; [ -f "$0.stay" ] || exit 0' TERM
trap 'echo "$(date +%s.%N) ${0##*/}-hup $$" >>"$here/notes"' HUP
case $* in *--ready-fd*) echo >&6 ;; esac
# ends with its owner, as the real one does
case $* in *--owner-fd*) ( read -r line <&7; kill -KILL $$ ) & ;; esac
while :; do
    sleep 60 &
    nap=$!
    wait $nap
done
END
for program in synth-worker gpu-worker; do
    cp "$fake/coordinator" "$fake/$program"
done
printf '#!/bin/sh\nexit "$(cat %s/healthz 2>/dev/null || echo 0)"\n' "$fake" >"$fake/pawl"
chmod +x "$fake"/*
echo 2 >"$fake/synth"
echo cpu >"$fake/devices"
touch "$fake/pawl.ini"

begin() {
    : >"$notes"
    rm -f "$fake"/*.code "$fake"/*.stay "$fake/healthz"
}
begin_supervise() {
    start supervise /bin/sh "$fake/supervise" --config "$fake/pawl.ini"
    super=$started_pid
}
starts() { # PROGRAM: how often it was started
    grep -c "^[0-9.]* $1 " "$notes"
}
has_starts() { # PROGRAM N
    [ "$(starts "$1")" -eq "$2" ]
}
live() { # PROGRAM: pids
    for pid in $(awk -v p="$1" '$2 == p { print $3 }' "$notes"); do
        is_gone "$pid" || echo "$pid"
    done
}
has_live() { # PROGRAM N
    # shellcheck disable=SC2046
    set -- "$2" $(live "$1")
    [ $(($# - 1)) -eq "$1" ]
}
all_up() {
    has_live coordinator 1 && has_live synth-worker "$1" && has_live gpu-worker 1
}
none_left() {
    [ -z "$(processes_here)" ]
}
stop_and_judge() { # TEXT CODE
    kill -TERM "$super"
    wait "$super"
    is "$1: exit code" "$2" $?
    check "$1: no process left" wait_for 3 none_left
}

# ---- start and stop ----

for shell in /bin/sh $(command -v bash) $(command -v busybox); do
    [ "${shell##*/}" != busybox ] || shell="$shell sh"
    begin
    # shellcheck disable=SC2086
    start supervise $shell "$fake/supervise" --config "$fake/pawl.ini"
    super=$started_pid
    check "$shell: coordinator, two synth-workers, one gpu-worker" wait_for 5 all_up 2
    stop_and_judge "$shell: TERM" 0
done
is 'the coordinator is first' coordinator "$(awk 'NR == 1 { print $2 }' "$notes")"
check 'TERM goes to the coordinator first' sh -c \
    "grep -e -term '$notes' | head -n 1 | grep -q coordinator-term"

# ---- second start, HUP, TTIN, TTOU ----

begin
begin_supervise
check 'up' wait_for 5 all_up 2
said=$("$fake/supervise" --config "$fake/pawl.ini" 2>&1)
is 'a second start is refused: exit code' 78 $?
is 'a second start is refused: text' "supervise: already running (pid $super)" "$said"
kill -HUP "$super"
check 'HUP reaches the coordinator' wait_for 3 grep -q coordinator-hup "$notes"
kill -TTIN "$super"
check 'TTIN starts one synth-worker more' wait_for 3 has_live synth-worker 3
kill -TTOU "$super"
check 'TTOU ends one' wait_for 3 has_live synth-worker 2
sleep 1
check 'it stays down' has_live synth-worker 2
kill -TTOU "$super"
sleep 0.3
kill -TTOU "$super"
check 'TTOU twice leaves none' wait_for 3 has_live synth-worker 0
kill -TTOU "$super"
sleep 0.3
kill -TTIN "$super"
check 'TTIN after none' wait_for 3 has_live synth-worker 1

# Pairs so close that one comes while the other's keeper is being started.
turn=0
while [ $turn -lt 40 ]; do
    kill -TTIN "$super"
    sleep "0.00$((turn % 7 + 3))"
    kill -TTOU "$super"
    sleep 0.08
    turn=$((turn + 1))
done
sleep 1
check 'as many TTIN as TTOU change nothing' wait_for 3 has_live synth-worker 1

# ---- kill -9 of each ----

for program in synth-worker gpu-worker coordinator; do
    before=$(starts $program)
    kill -KILL "$(live $program)"
    check "kill -9 of the $program: started again" wait_for 3 has_starts $program $((before + 1))
done
check 'all are up again' wait_for 3 all_up 1
stop_and_judge 'after kills' 0

begin
begin_supervise
wait_for 5 all_up 2
kill -KILL "$super"
wait "$super" 2>/dev/null
check 'kill -9 of supervise: the coordinator ends' wait_for 3 has_live coordinator 0
# the real workers end with the coordinator; these do not
for pid in $(live synth-worker) $(live gpu-worker); do
    kill -KILL "$pid"
done
check 'kill -9 of supervise: nobody starts anything again' wait_for 5 none_left
begin
begin_supervise
check 'and a new start works' wait_for 5 all_up 2
stop_and_judge 'the new one' 0

# The same below a parent that waits for nobody: it stays a zombie.
begin
# shellcheck disable=SC2016 # the inner shell's
start careless /bin/sh -c '/bin/sh "$0/supervise" --config "$0/pawl.ini" & echo $! >"$0/super"; exec sleep 100' "$fake"
careless=$started_pid
wait_for 5 all_up 2
kill -KILL "$(cat "$fake/super")"
wait_for 3 has_live coordinator 0
for pid in $(live synth-worker) $(live gpu-worker); do
    kill -KILL "$pid"
done
sleep 1.5
is 'kill -9 of supervise, and nobody waits for it: nothing is started again' '1 2 1' \
    "$(starts coordinator) $(starts synth-worker) $(starts gpu-worker)"
kill "$careless"

# ---- pauses ----

begin
echo 1 >"$fake/synth"
echo 1 >"$fake/synth-worker.code"
begin_supervise
sleep 3
kill -TERM "$super"
wait "$super"
# starts at 0, 0, 0.1, 0.3, 0.7, 1.5, 3.1 s after the first
n=$(starts synth-worker)
check "pauses grow: 5 to 7 starts in 3 s, here $n" [ "$n" -ge 5 -a "$n" -le 7 ]
awk '$2 == "synth-worker" { if (n++) print $1 - last; last = $1 }' "$notes" >"$work/gaps"
check 'the first restart is at once' awk 'NR == 1 { exit $1 > 0.1 }' "$work/gaps"
check 'each pause is longer than the one before' awk 'NR > 1 && $1 < last { exit 1 } { last = $1 }' "$work/gaps"

begin
echo 0 >"$fake/gpu-worker.code"
begin_supervise
check 'exit code 0 is restarted too' wait_for 3 has_starts gpu-worker 3
kill -TERM "$super"
wait "$super"

# ---- do not start me again ----

for code in 64 77 78; do
    begin
    echo $code >"$fake/gpu-worker.code"
    begin_supervise
    wait_for 3 has_starts gpu-worker 1
    sleep 0.7
    check "a worker's exit code $code: it stays down" has_starts gpu-worker 1
    check "a worker's exit code $code: the rest goes on" has_live synth-worker 1
    kill -TERM "$super"
    wait "$super"

    begin
    echo $code >"$fake/coordinator.code"
    begin_supervise
    wait "$super"
    is "the coordinator's exit code $code ends the whole with it" $code $?
    check "the coordinator's exit code $code: nothing left" wait_for 3 none_left
done

# ---- hangs ----

begin
begin_supervise
wait_for 5 all_up 1
echo 75 >"$fake/healthz"
check 'a silent coordinator is killed and started again' wait_for 8 has_starts coordinator 2
rm "$fake/healthz"
touch "$fake/coordinator.stay" "$fake/synth-worker.stay"
check 'up after that' wait_for 5 all_up 1
kill -TERM "$super"
wait "$super"
check 'what does not end at TERM is killed' wait_for 3 none_left

# ---- devices ----

cat >"$fake/list" <<'END'
{"devices":[{"name":"cpu","index":null,"model":"A CPU {1}","memory_bytes":null,"fit":true,"why":null},
 {"name":"GPU-a1-b2","index":0,"model":"One","memory_bytes":5,"fit":true,"why":null},
 {"name":"GPU-c3","index":1,"model":"Two","memory_bytes":5,"fit":false,"why":"too old"}],"driver":null}
END
names_devices() { # TEXT WANTED...
    begin
    begin_supervise
    wait_for 5 has_starts gpu-worker $(($# - 1))
    text=$1
    shift
    asked=$(sed -n 's/.* gpu-worker .*--device \(.*\)/\1/p' "$notes" | sort | tr '\n' ' ')
    is "$text" "$(printf '%s ' "$@")" "$asked"
    kill -TERM "$super"
    wait "$super"
}
echo 0 >"$fake/synth"
echo auto >"$fake/devices"
names_devices 'auto: every device that is fit, each GPU alone in sight' 'GPU-a1-b2 sees=GPU-a1-b2' 'cpu sees='
check 'the coordinator is told what auto stands for' \
    grep -q ' coordinator .*--devices cpu GPU-a1-b2 ' "$notes"
echo 'cuda:1 cuda:7 MIG-5 cpu' >"$fake/devices"
names_devices 'cuda:N by its UUID; what is not there is left to its gpu-worker' \
    'GPU-c3 sees=GPU-c3' 'MIG-5 sees=MIG-5' 'cpu sees=' 'cuda:7 sees='
echo 'gone wrong' >"$fake/list"
echo auto >"$fake/devices"
names_devices 'auto where no list comes: the CPU' 'cpu sees='

check 'no --config: exit 64' sh -c "'$fake/supervise' 2>/dev/null; [ \$? -eq 64 ]"
check 'only run_dir is left' sh -c "[ -z \"\$(ls '$fake/run')\" ]"
finish
