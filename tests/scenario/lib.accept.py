"""What accept.sh asks of a coordinator without workers: SOCKET PID WITNESS MIB FIGURES.

Fills the queue, has a thousand more jobs refused, and uploads MIB in parts, while the memory of the coordinator is
watched. Writes the figures; says what is wrong and exits 1.
"""
import hashlib
import http.client
import json
import socket
import sys
import time

socket_path, pid, witness, mib, figures = sys.argv[1:]
PART = 4 << 20
PAGES = 1 << 20  # what a heap may keep besides


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(socket_path)


connection = Connection("pawl")


def call(method, path, body=None):
    connection.request(method, path, body)
    answer = connection.getresponse()
    text = answer.read()
    return answer, json.loads(text)


def memory(name):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith(name))


def forget_peak():
    with open(f"/proc/{pid}/clear_refs", "w") as refs:
        refs.write("5")


def expect(what, wanted, got):
    if wanted != got:
        sys.exit(f"{what}: wanted {wanted}, got {got}")


def upload(size):
    """The parts of an upload of zeros; its id."""
    answer, body = call("POST", "/v1/uploads")
    expect("POST /v1/uploads", 201, answer.status)
    digest, sent, part = hashlib.sha256(), 0, bytes(PART)
    while sent < size:
        answer, _ = call("PUT", f"/v1/uploads/{body['upload']}?offset={sent}", part)
        expect("PUT", 200, answer.status)
        digest.update(part)
        sent += PART
    finish = json.dumps({"bytes": sent, "sha256": digest.hexdigest()})
    answer, _ = call("POST", f"/v1/uploads/{body['upload']}/finish", finish)
    expect("finish", 200, answer.status)
    return body["upload"]


job = json.dumps({"circuit": "mul2", "partitions": [{"path": witness}]})
while True:
    answer, _ = call("POST", "/v1/jobs", job)
    if answer.status != 202:
        break
expect("a full queue", 503, answer.status)
before, start, longest = memory("VmRSS"), time.monotonic(), 0.0
for _ in range(1000):
    one = time.monotonic()
    answer, problem = call("POST", "/v1/jobs", job)
    longest = max(longest, time.monotonic() - one)
    expect("a full queue", (503, True), (answer.status, "Retry-After" in answer.headers))
refused_ms, refused_bytes = 1000 * (time.monotonic() - start), memory("VmRSS") - before

call("DELETE", f"/v1/uploads/{upload(PART)}")  # what one part needs is there by now
forget_peak()
before, start = memory("VmHWM"), time.monotonic()
size = int(mib) << 20
last = upload(size)
seconds, grown = time.monotonic() - start, memory("VmHWM") - before
answer, _ = call("DELETE", f"/v1/uploads/{last}")
expect("DELETE", 200, answer.status)

with open(figures, "w") as out:
    out.write(f"1,000 jobs refused in {refused_ms:.0f} ms, the longest {1000 * longest:.1f} ms, "
              f"memory {refused_bytes >> 10:+} KiB\n")
    out.write(f"{mib} MiB uploaded in {seconds:.1f} s, memory at most {grown >> 10:+} KiB\n")
if refused_bytes > PAGES:
    sys.exit(f"1,000 refused jobs cost {refused_bytes} bytes")
if grown > PART + PAGES:
    sys.exit(f"an upload of {mib} MiB cost {grown} bytes")
