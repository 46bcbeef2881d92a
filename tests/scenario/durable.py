#!/usr/bin/env python3
"""Jobs that were accepted outlive the coordinator: it is killed at random while jobs are submitted,
proved and cancelled, and afterwards each job has one final state under its id and at most one proof
a partition. With state_dir on a small file system that fills up (as root) likewise. Prints TAP, and
as comments how long acceptances and commits took.

PAWL_DURABLE_JOBS (500) and PAWL_DURABLE_KILLS (6) make it longer.
"""
import glob
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
BIN = os.path.join(os.path.abspath(os.environ.get("BUILD_DIR", "build")), "bin")
CASE = os.path.join(ROOT, "tests", "fixtures", "bn128", "mul2")
JOBS = int(os.environ.get("PAWL_DURABLE_JOBS", "500"))
KILLS = int(os.environ.get("PAWL_DURABLE_KILLS", "6"))
FINAL = ("done", "failed", "cancelled")
SUBMITTERS = 4
LIMIT_S = 300  # against hanging alone

tests = {"count": 0, "failed": 0}


def judge(text, good, detail=""):
    tests["count"] += 1
    print(f"{'ok' if good else 'not ok'} {tests['count']} - {text}", flush=True)
    if not good:
        tests["failed"] += 1
        for line in str(detail).splitlines()[:20]:
            print("#   " + line)


def say(text):
    print("# " + text, flush=True)


# ---- HTTP over the unix socket ----


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=30)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Service:
    def __init__(self, work, state):
        self.work, self.state = work, state
        self.run = os.path.join(work, "run")
        os.makedirs(self.run, mode=0o700, exist_ok=True)
        self.socket = os.path.join(self.run, "s")
        self.config = os.path.join(work, "pawl.ini")
        with open(self.config, "w", encoding="utf-8") as file:
            file.write(
                f"[pawl]\nsocket = {self.socket}\nrun_dir = {self.run}\nstate_dir = {state}\n"
                "backing = memfd\n[workers]\nsynth = 2\nthreads = 1\n"
                "[lane main]\nslabs = 4\nsize = 64K\n[limits]\nqueued_jobs = 100000\n"
            )
        self.supervise = None

    def call(self, method, path, body=None):
        """Status and body (decoded where it is JSON); OSError where nobody answers."""
        connection = Connection(self.socket + ".http")
        try:
            if isinstance(body, dict):
                body = json.dumps(body)
            connection.request(method, path, body=body)
            answer = connection.getresponse()
            data = answer.read()
            if "json" in (answer.getheader("Content-Type") or ""):
                data = json.loads(data)
            return answer.status, data
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()

    def start(self):
        with open(os.path.join(self.work, "log"), "ab") as log:
            self.supervise = subprocess.Popen(
                [os.path.join(BIN, "supervise"), "--config", self.config], stdout=log, stderr=log
            )

    def stop(self):
        self.supervise.send_signal(signal.SIGTERM)
        try:
            return self.supervise.wait(60)
        except subprocess.TimeoutExpired:
            self.supervise.kill()
            return None

    def said(self):
        """What went wrong, as the log has it."""
        with open(os.path.join(self.work, "log"), encoding="utf-8", errors="replace") as log:
            return "".join(line for line in log if not re.search("lvl=info|job_final", line))

    def wait_for(self, method, path, wanted, seconds=60):
        until = time.monotonic() + seconds
        status, body = None, None
        while time.monotonic() < until:
            try:
                status, body = self.call(method, path)
                if status == wanted:
                    return status, body
            except OSError:
                pass
            time.sleep(0.05)
        return status, body

    def pid(self):
        try:
            return self.call("GET", "/v1/status")[1]["pid"]
        except (OSError, KeyError, TypeError, ValueError):
            return None

    def add_circuit(self):
        self.call("PUT", "/v1/circuits/mul2", {"zkey_path": os.path.join(CASE, "key.zkey")})
        until = time.monotonic() + 30
        while time.monotonic() < until:
            listed = self.call("GET", "/v1/circuits")[1]
            if listed and listed[0]["state"] == "ready":
                return True
            time.sleep(0.05)
        return False


# ---- submitting ----


def read(name):
    with open(os.path.join(CASE, name), "rb") as file:
        return file.read()


WITNESSES = [read("w1.wtns"), read("w2.wtns")]


class Load:
    """Jobs by key, from several threads, each submitted until it is answered with its id."""

    def __init__(self, service, count, prefix):
        self.service, self.count, self.prefix = service, count, prefix
        self.lock = threading.Lock()
        self.next = 0
        self.ids, self.seconds, self.wrong, self.refused = {}, [], [], 0
        self.pause_s = 0.01
        self.threads = [threading.Thread(target=self.work) for _ in range(SUBMITTERS)]
        self.stopped = False

    def parts(self, number):
        return 3 if number % 10 == 0 else 1

    def upload(self, data):
        status, body = self.service.call("POST", "/v1/uploads")
        if status != 201:
            raise OSError(f"upload: {status}")
        upload = body["upload"]
        status, _ = self.service.call("PUT", f"/v1/uploads/{upload}?offset=0", data)
        if status not in (200, 204):
            raise OSError(f"part: {status}")
        digest = hashlib.sha256(data).hexdigest()
        finish = {"bytes": len(data), "sha256": digest}
        status, _ = self.service.call("POST", f"/v1/uploads/{upload}/finish", finish)
        if status != 200:
            raise OSError(f"finish: {status}")
        return {"upload": upload}

    def submit(self, number):
        data = WITNESSES[number % 2]
        partitions = [self.upload(data) for _ in range(self.parts(number))]
        body = {"circuit": "mul2", "idempotency_key": f"{self.prefix}{number}", "partitions": partitions}
        began = time.monotonic()
        status, answer = self.service.call("POST", "/v1/jobs", body)
        took = time.monotonic() - began
        if status not in (200, 202):
            if status not in (404, 503):
                self.wrong.append(f"{status} {answer}")
            raise OSError(f"{status} {answer}")
        with self.lock:
            self.ids[number] = answer["id"]
            self.seconds.append(took)

    def work(self):
        while not self.stopped:
            with self.lock:
                number = self.next
                self.next += 1
            if number >= self.count:
                return
            while not self.stopped and number not in self.ids:
                try:
                    self.submit(number)
                except (OSError, ValueError, KeyError):
                    self.refused += 1
                    time.sleep(0.05)
            if number % 17 == 5:
                self.cancel(number)
            time.sleep(self.pause_s)

    def cancel(self, number):
        try:
            self.service.call("DELETE", f"/v1/jobs/{self.ids[number]}")
        except (OSError, ValueError, KeyError):
            pass  # whether it came through or not: one final state

    def start(self):
        for thread in self.threads:
            thread.start()

    def join(self):
        for thread in self.threads:
            if thread.ident:
                thread.join(LIMIT_S)

    def stop(self):
        self.stopped = True
        self.join()


class Watch:
    """What clients see: a final state never changes."""

    def __init__(self, service):
        self.service, self.states, self.changed = service, {}, []

    def page(self, before):
        query = f"?limit=1000&before={before}" if before else "?limit=1000"
        status, body = self.service.call("GET", "/v1/jobs" + query)
        if status != 200:
            raise OSError(str(status))
        return body

    def look(self):
        """Whether all that are listed are final; None where nobody answers."""
        before, all_final = None, True
        try:
            while True:
                body = self.page(before)
                for job in body["jobs"]:
                    all_final &= self.see(job)
                before = body["next_before"]
                if not body["jobs"] or not before:
                    return all_final
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def see(self, job):
        old = self.states.get(job["id"])
        if old in FINAL and old != job["state"]:
            self.changed.append(f"{job['id']}: {old} became {job['state']}")
        self.states[job["id"]] = job["state"]
        return job["state"] in FINAL

    def until_final(self, seconds=LIMIT_S):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.look():
                return True
            time.sleep(0.2)
        return False


# ---- judging ----


def publics_of(service, name):
    """What the witness's proof shows, by a job of its own."""
    load = Load(service, 1, name)
    load.parts = lambda number: 1
    data = WITNESSES[0 if name == "w1" else 1]
    part = load.upload(data)
    job = service.call("POST", "/v1/jobs", {"circuit": "mul2", "partitions": [part]})[1]["id"]
    return service.call("GET", f"/v1/jobs/{job}?wait=30")[1]["partitions"][0]["public"]


def judge_jobs(text, service, load, watch):
    known = set(load.ids.values())
    judge(f"{text}: each key has one job", len(load.ids) == load.count and len(known) == load.count)
    judge(f"{text}: nothing was refused but for trouble", not load.wrong, "\n".join(load.wrong[:5]))
    judge(f"{text}: no final state changed", not watch.changed, "\n".join(watch.changed))
    missing = [job for job in known if watch.states.get(job) not in FINAL]
    judge(f"{text}: each job is final under its id", not missing, missing[:5])
    expected = [publics_of(service, "w1"), publics_of(service, "w2")]
    bad = []
    for number, job in load.ids.items():
        shown = service.call("GET", f"/v1/jobs/{job}")[1]
        if shown["state"] == "failed" or shown["state"] == "cancelled" and number % 17 != 5:
            bad.append(f"job {number}: {shown['state']} {shown['error']}")
        elif shown["state"] == "done":
            for part in shown["partitions"]:
                if part["public"] != expected[number % 2] or not part["proof"]:
                    bad.append(f"job {number}: another's result: {part}")
    judge(f"{text}: done with the results of its own witness, or cancelled as asked", not bad,
          "\n".join(bad))


def judge_database(text, state):
    handle = sqlite3.connect(os.path.join(state, "jobs.db"))

    def one(query):
        return handle.execute(query).fetchone()[0]

    judge(f"{text}: the database is whole", one("PRAGMA integrity_check") == "ok")
    judge(f"{text}: at most one proof a partition, and no key twice",
          one("SELECT count(*) - count(DISTINCT job || '/' || partition) FROM results") == 0
          and one("SELECT count(key) - count(DISTINCT key) FROM jobs") == 0)
    judge(f"{text}: what is done has its proof, what was never done has none",
          one("SELECT count(*) FROM partitions p LEFT JOIN results r ON r.job = p.job AND"
              " r.partition = p.partition WHERE (p.state = 4) <> (r.job IS NOT NULL)") == 0)
    handle.close()
    left = glob.glob(os.path.join(state, "spool", "*"))
    judge(f"{text}: no input is left in the spool", not left, left[:5])


def quantiles(values):
    values = sorted(values)
    at = lambda q: values[min(len(values) - 1, int(q * len(values)))]
    return f"median {1000 * at(0.5):.2f} ms, p99 {1000 * at(0.99):.2f} ms of {len(values)}"


def report(service, load):
    say("acceptance (POST /v1/jobs): " + quantiles(load.seconds))
    text = service.call("GET", "/metrics")[1].decode()
    found = dict(re.findall(r'pawl_store_commit_seconds\{quantile="([0-9.]+)"\} ([0-9.]+)', text))
    total = re.search(r"pawl_store_commit_seconds_count (\d+)", text)
    if found and total:
        say(f"commits since the last start: median {1000 * float(found['0.5']):.2f} ms, "
            f"p99 {1000 * float(found['0.99']):.2f} ms of {total.group(1)}")


# ---- the scenarios ----


def kill_at_random(service, watch, load):
    kills = 0
    while kills < KILLS:
        time.sleep(random.uniform(0.2, 1.2))
        watch.look()
        pid = service.pid()
        if not pid:
            continue
        os.kill(pid, signal.SIGKILL)
        kills += 1
        service.wait_for("GET", "/healthz", 200)
    say(f"killed {kills} times; {load.refused} requests were made again")


def scenario_kills(work):
    state = os.path.join(work, "state")
    service = Service(work, state)
    load, watch = Load(service, JOBS, "kill-"), Watch(service)
    load.pause_s = KILLS * SUBMITTERS / JOBS  # so that kills and submissions go on together
    service.start()
    try:
        service.wait_for("GET", "/readyz", 200)
        judge("kills: a circuit", service.add_circuit())
        load.start()
        kill_at_random(service, watch, load)
        load.join()
        judge("kills: all jobs end", watch.until_final())
        report(service, load)
        judge_jobs("kills", service, load, watch)
    finally:
        load.stop()
        code = service.stop()
    judge("kills: a clean stop", code == 0, code)
    judge_database("kills", state)


def fill_up(folder):
    with open(os.path.join(folder, "filler"), "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass


def scenario_full_disk(work):
    state = os.path.join(work, "state")
    os.makedirs(state, mode=0o700)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "none", state],
                          capture_output=True, check=False)
    if os.geteuid() != 0 or made.returncode:
        tests["count"] += 1
        print(f"ok {tests['count']} - a full disk # SKIP no file system can be mounted")
        return
    service = Service(work, state)
    load, watch = Load(service, max(60, JOBS // 5), "full-"), Watch(service)
    service.start()
    try:
        full_disk_steps(service, state, load, watch)
        code = service.stop()
        judge("full disk: a clean stop", code == 0, code)
        judge_database("full disk", state)
    finally:
        load.stop()
        service.supervise.kill()
        subprocess.run(["umount", "-l", state], check=False)


def full_disk_steps(service, state, load, watch):
    service.wait_for("GET", "/readyz", 200)
    judge("full disk: a circuit", service.add_circuit())
    load.start()
    while len(load.ids) < 10:
        time.sleep(0.02)
    fill_up(state)
    status, text = service.wait_for("GET", "/readyz", 503, 20)
    judge("full disk: /readyz says so", status == 503 and b"cannot be written" in text, text)
    refused = load.refused
    time.sleep(1)
    judge("full disk: new jobs are refused", load.refused > refused)
    credits = service.call("GET", "/v1/status")[1]["jobs"]
    say(f"while it is full: {credits}")
    pid = service.pid()
    os.kill(pid, signal.SIGKILL)
    judge("full disk: the next coordinator starts on it",
          service.wait_for("GET", "/healthz", 200, 30)[0] == 200, service.said())
    watch.look()
    os.unlink(os.path.join(state, "filler"))
    judge("full disk: it recovers by itself", service.wait_for("GET", "/readyz", 200)[0] == 200)
    load.join()
    judge("full disk: all jobs end", watch.until_final())
    judge_jobs("full disk", service, load, watch)


def main():
    seed = os.environ.get("PAWL_DURABLE_SEED", str(random.randrange(1 << 32)))
    random.seed(seed)
    say(f"PAWL_DURABLE_SEED={seed}")
    for scenario in (scenario_kills, scenario_full_disk):
        work = tempfile.mkdtemp(prefix="pawl-scenario-")
        try:
            scenario(work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    print(f"1..{tests['count']}")
    return 1 if tests["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
