#!/bin/sh
# Acceptance owns the bytes: files named by path, uploads and inputs are in the spool, hashed and
# durable, before a job has an id; what is not taken leaves nothing; a full queue costs no memory.
# PAWL_ACCEPT_MIB (200): how much one client uploads while the coordinator's memory is watched.
# shellcheck source=tests/scenario/lib.sh disable=SC2154,SC2317,SC2016
. "$(dirname "$0")/lib.sh"

mul2=$fixtures/bn128/mul2
w1=$mul2/w1.wtns
w2=$mul2/w2.wtns
in=$work/in
mkdir "$in" "$work/elsewhere" "$work/out"
write_config <<END
path_roots = $in
[workers]
synth = 1
END
start_stack
is 'the stack starts' 0 $?
check 'a circuit' "$pawl" circuit add mul2 "$mul2/key.zkey"

post() { # BODY: the answer's status and problem in $answer
    answer=$(curl -s --unix-socket "$PAWL_SOCKET.http" -w '\n%{http_code}' http://pawl/v1/jobs -d "$1")
}
refused() { # TEXT STATUS FIELD BODY
    post "$4"
    is "$1" "$2 $3" "$(echo "$answer" | tail -n 1) $(echo "$answer" | head -n 1 | jq -r .field)"
}
by_path() { # PATH
    printf '{"circuit":"mul2","partitions":[{"path":"%s"}]}' "$1"
}
spool_files() {
    find "$work/state/spool" -type f | wc -l
}
proves() { # JOB PUBLIC: done, a proof that verifies, with those public signals
    "$pawl" job "$1" --wait --out "$work/out/$1" &&
        "$pawl" verify "$mul2/vkey.json" "$work/out/$1/public.json" "$work/out/$1/proof.json" &&
        [ "$(jq -c . "$work/out/$1/public.json")" = "$(jq -c . "$2")" ]
}
public_of() { # WITNESS NAME: what an unhurried proof says
    "$pawl" submit mul2 "$1" --wait --out "$work/out/$2" && mv "$work/out/$2/public.json" "$work/$2"
}
check 'public signals of w1' public_of "$w1" public1
check 'public signals of w2' public_of "$w2" public2

# ---- changed and deleted after the 202 ----

cp "$w1" "$in/changed.wtns"
cp "$w2" "$in/deleted.wtns"
kill -STOP "$(worker_pids synth)"
post "$(by_path "$in/changed.wtns")"
changed=$(echo "$answer" | head -n 1 | jq -r .id)
post "$(by_path "$in/deleted.wtns")"
deleted=$(echo "$answer" | head -n 1 | jq -r .id)
cp "$w2" "$in/changed.wtns" # in place: the same inode
rm "$in/deleted.wtns"
is 'both lie in the spool' 2 "$(spool_files)"
is 'the spool is ours alone' '700 600' \
    "$(stat -c %a "$work/state/spool") $(find "$work/state/spool" -type f -exec stat -c %a {} + | sort -u)"
kill -CONT "$(worker_pids synth)"
check 'a file changed after the 202: the proof is of the accepted bytes' proves "$changed" "$work/public1"
check 'a file deleted after the 202: likewise' proves "$deleted" "$work/public2"
is 'the spool is empty after the last job' 0 "$(wait_for 5 sh -c "[ -z \"\$(ls '$work/state/spool')\" ]" && spool_files)"

# ---- paths that are not taken ----

cp "$w1" "$work/elsewhere/w.wtns"
cp "$w1" "$in/w.wtns"
ln -s w.wtns "$in/link"
ln -s "$work/elsewhere" "$in/folder"
mkfifo "$in/fifo"
mkdir "$in/below"
is 'below the roots' 202 "$(post "$(by_path "$in/w.wtns")" && echo "$answer" | tail -n 1)"
for path in "$work/elsewhere/w.wtns" "$in/../elsewhere/w.wtns" "$in/link" "$in/folder/w.wtns" "$in/fifo" \
    "$in/below" "$in" "$in/none" "/proc/self/environ" "/proc/$$/root$in/w.wtns" /dev/zero in/w.wtns; do
    refused "refused: $(echo "$path" | sed "s|$work||")" 422 'partitions[0].path' "$(by_path "$path")"
done
refused 'a later partition is named' 422 'partitions[2].path' '{"circuit":"mul2","partitions":[
    {"path":"'"$in/w.wtns"'"},{"path":"'"$in/w.wtns"'"},{"path":"/etc/passwd"}]}'
refused 'an input without a witness program' 422 'partitions[1].input' \
    '{"circuit":"mul2","partitions":[{"path":"'"$in/w.wtns"'"},{"input":{"a":["1","}"]}}]}'
post "$(by_path /etc/passwd)"
check '... and the text says what to do' sh -c 'echo "$1" | grep -q path_roots.*upload' sh "$answer"

# ---- pawl submit ----

check 'pawl submit uploads what is not taken by path' "$pawl" submit mul2 "$work/elsewhere/w.wtns" --wait
check 'pawl submit follows a link to its file' "$pawl" submit mul2 "$in/link" --wait
mkfifo "$work/fifo"
cat "$w1" >"$work/fifo" &
check 'pawl submit with a file, a pipe and a file elsewhere' "$pawl" submit mul2 "$in/w.wtns" "$work/fifo" \
    "$work/elsewhere/w.wtns" --wait --out "$work/out/three"
is '... three proofs' 3 "$(find "$work/out/three" -name proof.json | wc -l)"
check 'pawl prove --socket' "$pawl" prove "$mul2/key.zkey" "$in/w.wtns" "$work/proof.json" \
    "$work/public.json" --socket "$PAWL_SOCKET"
echo '{"a": "1"}' >"$in/input.json"
fails_with 'an input without a witness program: 1' 1 'witness program' "$pawl" submit mul2 "$in/input.json"
fails_with 'no such file: 1' 1 'No such file' "$pawl" submit mul2 "$in/none.wtns"

# ---- the same once more ----

first=$("$pawl" submit mul2 "$in/w.wtns" "$w2" --key 'one job')
is 'the same key and bytes, by other ways: the same job' "$first" \
    "$("$pawl" submit mul2 "$work/elsewhere/w.wtns" "$w2" --key 'one job')"
fails_with 'the same key and other bytes: 1, naming the job' 1 "$first" \
    "$pawl" submit mul2 "$w2" "$in/w.wtns" --key 'one job'
refused '... 409' 409 idempotency_key \
    '{"circuit":"mul2","idempotency_key":"one job","partitions":[{"path":"'"$in/w.wtns"'"}]}'
check 'it is done' "$pawl" job "$first" --wait
is 'done, it is still the same job' "$first" "$("$pawl" submit mul2 "$in/w.wtns" "$w2" --key 'one job')"
kill -KILL "$("$pawl" status --json | jq .pid)"
check 'the coordinator is there again after kill -9' wait_for 20 is_ready
is 'and knows the key' "$first" "$("$pawl" submit mul2 "$in/w.wtns" "$w2" --key 'one job')"
is 'nothing is left in the spool' 0 \
    "$(wait_for 5 sh -c "[ -z \"\$(ls '$work/state/spool')\" ]" && spool_files)"
stop_stack 'the stack'

# ---- a coordinator without workers: nothing leaves the queue ----

write_config <<END
path_roots = $in
dumpable = yes
[limits]
queued_jobs = 5
queued_bytes = 2G
END
start coordinator "$bin/coordinator" --config "$work/pawl.ini"
check 'a coordinator by itself' wait_for 20 "$pawl" status
wait_for 20 sh -c "'$pawl' circuit list --json | jq -e '.[0].state == \"ready\"'"
check 'full queues and long uploads' python3 "$root/tests/scenario/lib.accept.py" \
    "$PAWL_SOCKET.http" "$started_pid" "$in/w.wtns" "${PAWL_ACCEPT_MIB:-200}" "$work/figures"
sed 's/^/# /' "$work/figures"
fails_with 'pawl submit to a full queue: 75' 75 'queue is full' "$pawl" submit mul2 "$w1"
is 'its upload is taken back; five jobs are left' 5 "$(spool_files)"
kill -TERM "$started_pid"
wait_gone "$started_pid" 30 || kill -KILL "$started_pid"
finish
