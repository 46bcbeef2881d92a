#!/usr/bin/env python3
"""Judges a trace (pawl trace, on stdin) from outside, for the scenario scripts:

    lib.trace.py credits LANE     the credit rule: between any two points of the trace, starts are at
                                  most what was available at the first and what was returned between
    lib.trace.py complete N       N whole partitions: synth, ready, prove, finalize, verify each

Says what it counted, or what is wrong (exit 1).
"""
import collections
import json
import sys


def fail(text):
    print(text)
    sys.exit(1)


def credits(events, lane):
    steps = sorted(
        (e["args"]["seq"], e["name"], e["args"]["available"], e["args"]["limit"])
        for e in events
        if e["name"].startswith("credit_") and e["args"]["lane"] == lane
    )
    # The largest excess of starts over returns since any earlier point, less what was available
    # there: must never be above 0. `owed` is that maximum for the points so far.
    owed, before = None, None
    counts = collections.Counter()
    for seq, name, available, limit in steps:
        counts[name] += 1
        if before is not None and name == "credit_take":
            owed += 1
            if available != before - 1:
                fail(f"seq {seq}: available {before} became {available} at a take")
        elif before is not None and name == "credit_return":
            owed -= 1
        if owed is not None and owed > 0 and name == "credit_take":
            fail(f"seq {seq}: {owed} starts more than were available and returned")
        if not 0 <= available <= limit:
            fail(f"seq {seq}: {available} available of {limit}")
        owed = -available if owed is None else max(owed, -available)
        before = available
    print(f"{counts['credit_take']} taken, {counts['credit_return']} returned")


def complete(events, wanted):
    seen = collections.defaultdict(collections.Counter)
    for event in events:
        if event.get("ph") == "X":
            seen[(event["args"]["job"], event["args"]["partition"])][event["name"]] += 1
    stages = ("synth", "ready", "prove", "finalize", "verify")
    whole = sum(all(names[stage] for stage in stages) for names in seen.values())
    if whole != wanted:
        fail(f"{whole} whole partitions of {wanted}")
    print(f"{whole} whole")


def main():
    trace = json.load(sys.stdin)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    if sys.argv[1] == "credits":
        credits(events, sys.argv[2])
    else:
        complete(events, int(sys.argv[2]))


if __name__ == "__main__":
    main()
