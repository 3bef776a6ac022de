"""A program as many are that use etcd3 for Python: it writes, watches what is written, and keeps a lease alive.

It follows the files of its certificates. Each line that it prints says what it knows by now. Each line of its input
begins a chapter, with gaps and lags of its own; it ends when that does.
"""
import json
import pathlib
import sys
import threading
import time

import etcd3
import grpc

PATIENCE = 3
BREATH = 0.02
LEASE_TTL = 15
PREFIX = "python/"
FILES = ("ca.crt", "tls.crt", "tls.key")
# A connection whose other end is gone without a word is given up after four seconds.
OPTIONS = [("grpc.keepalive_time_ms", 2000), ("grpc.keepalive_timeout_ms", 2000)]
ERRORS = (etcd3.Etcd3Exception, grpc.RpcError)

host, port, directory = sys.argv[1], int(sys.argv[2]), pathlib.Path(sys.argv[3])
lock = threading.RLock()
stopped = threading.Event()
state = {
    "acknowledged": 0, "seen": 0, "leaseLost": 0, "compacted": 0, "renewals": 0,
    "chapter": "", "longestGap": 0, "longestLag": 0,
}
acknowledged = {}
seen = set()
last = time.monotonic()


def connect():
    ca, certificate, key = (str(directory / name) for name in FILES)
    return etcd3.client(
        host=host, port=port, ca_cert=ca, cert_cert=certificate, cert_key=key, timeout=PATIENCE, grpc_options=OPTIONS
    )


client = connect()


def milliseconds(seconds):
    return round(seconds * 1000)


def problem(what, error):
    words = error.details() if isinstance(error, grpc.Call) else error
    with lock:
        state["problem"] = f"{what}: {type(error).__name__} {words}".strip()


def write():
    """One key after the other, each until it is acknowledged."""
    global last
    number = 0
    while not stopped.is_set():
        key = f"{PREFIX}w/{number:06}"
        try:
            client.put(key, "x")
        except ERRORS as error:
            problem("put", error)
            stopped.wait(BREATH)
            continue
        number += 1
        with lock:
            now = time.monotonic()
            acknowledged[key] = now
            state["acknowledged"] = number
            state["longestGap"] = max(state["longestGap"], milliseconds(now - last))
            last = now
        stopped.wait(BREATH)


def saw(key):
    with lock:
        if key in seen:
            return
        seen.add(key)
        state["seen"] += 1
        if key in acknowledged:
            state["longestLag"] = max(state["longestLag"], milliseconds(time.monotonic() - acknowledged[key]))


def watch():
    """Goes on after the last revision that it saw, whatever ends a stream: its callback is told once of an error."""
    revision = 1
    while not stopped.is_set():
        held, ended = client, threading.Event()

        def told(response):
            nonlocal revision
            if isinstance(response, Exception):
                if isinstance(response, etcd3.exceptions.RevisionCompactedError):
                    revision = response.compacted_revision
                    with lock:
                        state["compacted"] += 1
                problem("watch", response)
                ended.set()
                return
            for event in response.events:
                saw(event.key.decode())
                revision = max(revision, event.mod_revision + 1)

        try:
            number = held.add_watch_prefix_callback(f"{PREFIX}w/", told, start_revision=revision)
        except ERRORS as error:
            problem("watch", error)
            stopped.wait(BREATH)
            continue
        while held is client and not ended.wait(BREATH) and not stopped.is_set():
            pass
        if not ended.is_set():
            held.cancel_watch(number)


def keep_lease():
    """One lease for as long as it lives: one that ends is counted, and another one taken."""
    lease = None
    while not stopped.is_set():
        try:
            if lease is None:
                lease = client.lease(LEASE_TTL).id
                client.put(f"{PREFIX}lease", "held", lease=lease)
            if any(answer.TTL <= 0 for answer in client.refresh_lease(lease)):
                with lock:
                    state["leaseLost"] += 1
                lease = None
        except ERRORS as error:
            problem("lease", error)
        stopped.wait(1)


def follow():
    """Connects anew with other certificates before it lets go of the connection that it has."""
    global client
    held = [(directory / name).read_bytes() for name in FILES]
    while not stopped.wait(0.25):
        found = [(directory / name).read_bytes() for name in FILES]
        if found == held:
            continue
        try:
            following = connect()
            following.get(f"{PREFIX}lease")
        except ERRORS as error:
            problem("with the new certificates", error)
            continue
        with lock:
            former, client = client, following
            state["renewals"] += 1
        held = found
        stopped.wait(2 * PATIENCE)
        former.close()


def say():
    with lock:
        print(json.dumps(state), flush=True)


def report():
    while not stopped.wait(0.2):
        say()


def finish():
    """Reads everything back, and waits until the watch has seen it."""
    deadline = time.monotonic() + 20
    with lock:
        written = sorted(acknowledged)
    kept = None
    while kept is None and time.monotonic() < deadline:
        try:
            kept = {metadata.key.decode() for _, metadata in client.get_prefix(f"{PREFIX}w/", keys_only=True)}
        except ERRORS as error:
            problem("reading back", error)
            time.sleep(BREATH)
    while not seen.issuperset(written) and time.monotonic() < deadline:
        time.sleep(BREATH)
    with lock:
        state["lost"] = [key for key in written if key not in (kept or ())]
        state["missed"] = [key for key in written if key not in seen]
        state["ended"] = True
    say()


# A watcher's thread ends with an error when its client is closed.
threading.excepthook = lambda told: problem(told.thread.name, told.exc_value)
working = [threading.Thread(target=work, daemon=True) for work in (write, watch, keep_lease, follow, report)]
for one in working:
    one.start()
for line in sys.stdin:
    with lock:
        state.update(chapter=line.strip(), longestGap=0, longestLag=0)
        state.pop("problem", None)
finish()
stopped.set()
