"""Inserts one row after the other into the primary, and counts what was acknowledged.

Each line that it prints says what it knows by now. Each line of its input begins a chapter; it ends when that does.
"""
import json
import sys
import threading
import time

import psycopg2

PATIENCE = 3
BREATH = 0.02

dsn = sys.argv[1]
lock = threading.Lock()
stopped = threading.Event()
state = {"acknowledged": 0, "chapter": "", "longestGap": 0}
last = time.monotonic()


def connect():
    connection = psycopg2.connect(dsn, connect_timeout=PATIENCE, options=f"-c statement_timeout={PATIENCE}s")
    connection.autocommit = True
    return connection


def write():
    """Each row until it is acknowledged: one that was, without a word of it, is not written twice."""
    global last
    connection = None
    number = 0
    while not stopped.is_set():
        try:
            if connection is None:
                connection = connect()
                connection.cursor().execute("CREATE TABLE IF NOT EXISTS told (number bigint PRIMARY KEY)")
            connection.cursor().execute("INSERT INTO told VALUES (%s) ON CONFLICT DO NOTHING", (number,))
        except psycopg2.Error as error:
            with lock:
                state["problem"] = str(error).strip()
            if connection is not None:
                connection.close()
            connection = None
            stopped.wait(BREATH)
            continue
        number += 1
        with lock:
            now = time.monotonic()
            state["acknowledged"] = number
            state["longestGap"] = max(state["longestGap"], round((now - last) * 1000))
            last = now
        stopped.wait(BREATH)


def say():
    with lock:
        told = dict(state)
        told["longestGap"] = max(told["longestGap"], round((time.monotonic() - last) * 1000))
    print(json.dumps(told), flush=True)


def report():
    while not stopped.wait(0.2):
        say()


working = [threading.Thread(target=work) for work in (write, report)]
for one in working:
    one.start()
for line in sys.stdin:
    with lock:
        state.update(chapter=line.strip(), longestGap=0)
        state.pop("problem", None)
stopped.set()
for one in working:
    one.join()
cursor = connect().cursor()
cursor.execute("SELECT number FROM told")
kept = {number for (number,) in cursor.fetchall()}
state["lost"] = [str(number) for number in range(state["acknowledged"]) if number not in kept]
state["ended"] = True
print(json.dumps(state), flush=True)
