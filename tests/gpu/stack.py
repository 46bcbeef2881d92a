"""A whole stack on one GPU, whose gpu-worker is killed in the middle of a proof.

The programs are started by hand and asked over the HTTP socket, so that nothing but python3 and the
programs themselves is needed. Everything lies in one folder, which goes at the end with the
processes.
"""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

AT_WORK = ("upload", "rows", "ntt", "msm")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Late(Exception):
    """what should have happened has not, in time"""


class Stack:
    def __init__(self, bin_folder, device, keep, roots, environment, deadline):
        self.bin, self.device, self.environment = bin_folder, device, environment
        self.deadline = deadline
        self.folder = tempfile.mkdtemp(prefix="pawl-gpu-")
        self.socket = self.folder + "/pawl.sock"
        self.log_path = self.folder + "/log"
        self.log = open(self.log_path, "w")
        self.processes = []
        with open(self.folder + "/pawl.ini", "w") as file:
            file.write("[pawl]\nsocket = %s\nrun_dir = %s/run\nstate_dir = %s/state\n"
                       "path_roots = %s\n"
                       "[workers]\nkeep_device_keys = %s\ndevices = %s\n"
                       "[limits]\ndeaths = 10\n"
                       % (self.socket, self.folder, self.folder, roots, keep, device))
        self.start("coordinator", "--config", self.folder + "/pawl.ini")
        self.until("the coordinator answers", lambda: self.ask("GET", "/v1/status"))
        self.start("synth-worker", "--socket", self.socket)
        self.gpu = self.start_gpu()

    def start(self, program, *arguments):
        process = subprocess.Popen([os.path.join(self.bin, program), *arguments], stdout=self.log,
                                   stderr=self.log, env=self.environment)
        self.processes.append(process)
        return process

    def start_gpu(self):
        return self.start("gpu-worker", "--socket", self.socket, "--device", self.device)

    def until(self, what, ask):
        while time.monotonic() < self.deadline:
            try:
                answer = ask()
            except OSError:
                answer = None
            if answer:
                return answer
            time.sleep(0.002)
        raise Late(what)

    def ask(self, method, path, body=None):
        connection = UnixConnection(self.socket + ".http")
        try:
            connection.request(method, path, json.dumps(body) if body else None,
                               {"Content-Type": "application/json"})
            response = connection.getresponse()
            text = response.read()
            if response.status >= 300:
                raise Late("%s %s: %s" % (method, path, text.decode(errors="replace")[:200]))
            return json.loads(text)
        finally:
            connection.close()

    def add_circuit(self, name, key):
        self.ask("PUT", "/v1/circuits/" + name, {"zkey_path": key})

        def ready():
            circuits = self.ask("GET", "/v1/status")["circuits"]
            return any(c["name"] == name and c["state"] == "ready" for c in circuits)
        self.until("the circuit is ready", ready)

    def submit(self, name, witness, count):
        return self.ask("POST", "/v1/jobs", {
            "circuit": name, "partitions": [{"path": witness}] * count})["id"]

    def gpu_worker(self):
        return next((w for w in self.ask("GET", "/v1/status")["workers"]
                     if w["pid"] == self.gpu.pid), None)

    def wait_job(self, job):
        def ended():
            answer = self.ask("GET", "/v1/jobs/" + job)
            return answer if answer["state"] in ("done", "failed", "cancelled") else None
        return self.until("job %s ends" % job, ended)

    def at_work(self):
        worker = self.gpu_worker()
        return worker and worker["job"] and worker["stage"] in AT_WORK

    def has_proved(self):
        worker = self.gpu_worker()
        return worker and worker["done_total"] > 0

    def kill_and_replace(self, submit):
        """seconds from the kill to the first proof of the worker that takes its place, and the jobs
        that were submitted: as many as it takes to catch the worker at work, by submit()"""
        jobs = [submit()]

        def caught():
            if self.at_work():
                return True
            if self.ask("GET", "/v1/jobs/" + jobs[-1])["state"] == "done":
                jobs.append(submit())
            return False
        self.until("the gpu-worker is at work", caught)
        begin = time.monotonic()
        self.gpu.send_signal(signal.SIGKILL)
        self.gpu.wait()
        self.gpu = self.start_gpu()
        self.until("the next gpu-worker has proved", self.has_proved)
        return time.monotonic() - begin, jobs

    def has_imported(self):
        self.log.flush()
        with open(self.log_path) as file:
            return any("ev=key_imported" in line for line in file)

    def log_tail(self):
        with open(self.log_path) as file:
            return "".join(file.readlines()[-15:])

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def measure_kill(bin_folder, device, keep, key_folder, partitions, environment, seconds):
    """a record of one kill: seconds to the next proof, and whether every job ended right"""
    deadline = time.monotonic() + seconds
    stack = Stack(bin_folder, device, keep, key_folder, environment, deadline)
    try:
        stack.add_circuit("k", key_folder + "/key.zkey")
        witness = key_folder + "/w1.wtns"
        states = [stack.wait_job(stack.submit("k", witness, 1))["state"]]
        took, jobs = stack.kill_and_replace(lambda: stack.submit("k", witness, partitions))
        states += [stack.wait_job(job)["state"] for job in jobs]
        return {"check": "kill", "keep": keep, "pinned": stack.gpu_worker()["pinned"], "imported": "yes" if stack.has_imported() else "no",
                "seconds": took, "done": "all" if set(states) == {"done"} else "not all"}
    except Late as late:
        raise Late("%s\n%s" % (late, stack.log_tail()))
    finally:
        stack.stop()
