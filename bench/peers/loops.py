"""The workloads on asyncio, or on uvloop: loops.py asyncio|uvloop w1|...|w7 [NUMBER...]

A handle of a timer that was cancelled stays in asyncio's heap until the loop's next turn, which is measured too."""
import asyncio
import json
import os
import resource
import sys
import threading
import time

SECOND = 10**9
HOUR = 3600 * SECOND
CHURN_AT_MOST = 5 * 10**6
LEAD = 0.5

now = time.monotonic
cpu = time.process_time
peer = sys.argv[1]


class Draws:
    """SplitMix64 from seed 42."""

    def __init__(self):
        self.state = 42

    def below(self, bound):
        mask = 2**64 - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return (z ^ (z >> 31)) % bound

    def up_to(self, most):
        return 1 + self.below(most)


def say(workload, **figures):
    print(json.dumps({"w": workload, "peer": peer, **figures}), flush=True)


def lateness(late, prefix=""):
    late = sorted(late) or [0.0]
    at = lambda share: late[min(int(share * len(late)), len(late) - 1)] * 1e6
    shares = {"p50_us": 0.5, "p99_us": 0.99, "p999_us": 0.999, "max_us": 1.0}
    return {prefix + name: round(at(share), 3) for name, share in shares.items()}


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def children_cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def arm_and_cancel(n):
    loop = asyncio.get_running_loop()
    draws = Draws()
    delays = [draws.up_to(HOUR) / 1e9 for _ in range(n)]
    nothing_to_do = lambda: None
    before = resident()
    begun = cpu()
    timers = [loop.call_later(delay, nothing_to_do) for delay in delays]
    armed = cpu()
    grown = resident() - before
    cancelling = cpu()
    for timer in timers:
        timer.cancel()
    await asyncio.sleep(0.001)
    gone = cpu()
    say("w1.arm", n=n, arm_ns=(armed - begun) / n * 1e9, cancel_ns=(gone - cancelling) / n * 1e9, bytes=grown / n)


async def w1(n=200_000, live=100_000, seconds=1):
    await arm_and_cancel(n)
    loop = asyncio.get_running_loop()
    draws = Draws()
    delays = [draws.up_to(CHURN_AT_MOST) / 1e9 for _ in range(2**16)]
    over = loop.create_future()
    fires, end = 0, float("inf")

    # The callback itself looks at the clock: in a loop that never rests a task may wait for many seconds.
    def fire():
        nonlocal fires
        fires += 1
        if not fires & 1023 and now() >= end and not over.done():
            over.set_result(now())
        if not over.done():
            loop.call_later(delays[fires & 0xFFFF], fire)

    for i in range(live):
        loop.call_later(delays[i & 0xFFFF], fire)
    begun, begun_cpu = now(), cpu()
    end = begun + seconds
    wall = await over - begun
    used, count = cpu() - begun_cpu, fires
    say("w1.churn", n=live, fires_s=count / wall, cpu_ns=used / count * 1e9)


async def w2(n=1000, seconds=2):
    draws = Draws()
    late = []

    async def periodic(due, end):
        while due < end:
            await asyncio.sleep(due - now())
            late.append(now() - due)
            due += 1.0

    lead = LEAD + n * 20e-6  # to arm them all takes that long here
    before = resident()
    start = now() + lead
    tasks = [asyncio.create_task(periodic(start + draws.below(SECOND) / 1e9, start + seconds)) for _ in range(n)]
    await asyncio.sleep(0.9 * lead)
    grown = resident() - before
    begun = cpu()
    await asyncio.gather(*tasks)
    used = cpu() - begun
    say("w2", n=n, **lateness(late), cpu_s_per_M=used / len(late) * 1e6, fires=len(late) / (n * seconds),
        task_bytes=grown / n)


async def nothing():
    pass


async def w3(n=100_000, gathered=20_000):
    loop = asyncio.get_running_loop()

    async def measure(part, count, work):
        begun = cpu()
        await work
        say("w3." + part, ns=(cpu() - begun) / count * 1e9)

    async def call():
        for _ in range(n):
            await nothing()

    async def spawn():
        for _ in range(n):
            await asyncio.create_task(nothing())

    async def yields(count):
        for _ in range(count):
            await asyncio.sleep(0)

    async def future():
        for _ in range(n):
            made = loop.create_future()
            loop.call_soon(made.set_result, None)
            await made

    limit = asyncio.Semaphore(100)

    async def limited():
        async with limit:
            await asyncio.sleep(0)

    async def answers(there, back):
        for _ in range(n):
            await back.put(await there.get())

    async def pingpong():
        there, back = asyncio.Queue(1), asyncio.Queue(1)
        answering = asyncio.create_task(answers(there, back))
        for _ in range(n):
            await there.put(1)
            await back.get()
        await answering

    await measure("call", n, call())
    await measure("spawn", n, spawn())
    await measure("yield", n, asyncio.gather(*(yields(n // 100) for _ in range(100))))
    await measure("future", n, future())
    await measure("gather", gathered, asyncio.gather(*(limited() for _ in range(gathered))))
    await measure("pingpong", n, pingpong())


async def w4(posts=100_000, idle=1000):
    loop = asyncio.get_running_loop()
    late = []
    over = asyncio.Event()

    def arrived(posted):
        late.append(now() - posted)
        if len(late) == idle:
            over.set()

    def post_now_and_then():
        for _ in range(idle):
            time.sleep(0.0002)
            loop.call_soon_threadsafe(arrived, now())

    producer = threading.Thread(target=post_now_and_then)
    producer.start()
    await over.wait()
    producer.join()
    say("w4.idle", **lateness(late))

    for producers in (1, 2):
        each = posts // producers
        left = each * producers
        over = asyncio.Event()

        def one_less():
            nonlocal left
            left -= 1
            if not left:
                over.set()

        def post_all(count=each, call=one_less):
            for _ in range(count):
                loop.call_soon_threadsafe(call)

        begun, begun_cpu = now(), cpu()
        threads = [threading.Thread(target=post_all) for _ in range(producers)]
        for thread in threads:
            thread.start()
        await over.wait()
        wall = now() - begun
        for thread in threads:
            thread.join()
        say(f"w4.post{producers}", posts_s=posts / wall, cpu_ns=(cpu() - begun_cpu) / posts * 1e9)


async def w5(count=300):
    late = []
    begun = cpu()
    for _ in range(count):
        due = now() + 0.001
        await asyncio.sleep(0.001)
        late.append(now() - due)
    say("w5", **lateness(late), cpu_us=(cpu() - begun) / count * 1e6)


async def w6():
    class Echo(asyncio.Protocol):
        def connection_made(self, transport):
            self.write = transport.write

        def data_received(self, data):
            self.write(data)

    server = await asyncio.get_running_loop().create_server(Echo, "127.0.0.1", 0)
    print("PORT", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def w7(runs=300, in_flight=16):
    limit = asyncio.Semaphore(in_flight)
    pipes = {"stdin": asyncio.subprocess.DEVNULL, "stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.STDOUT}
    gaps = []

    async def one():
        async with limit:
            child = await asyncio.create_subprocess_exec("/bin/true", env={}, **pipes)
            output, _ = await child.communicate()
            return child.returncode == 0 and not output

    async def ticker():
        last = None
        while True:
            await asyncio.sleep(0.005)
            this = now()
            if last is not None:
                gaps.append(this - last - 0.005)
            last = this

    ticking = asyncio.create_task(ticker())
    begun, begun_cpu, begun_children = now(), cpu(), children_cpu()
    good = await asyncio.gather(*(one() for _ in range(runs)))
    wall, used, used_children = now() - begun, cpu() - begun_cpu, children_cpu() - begun_children
    ticking.cancel()
    assert all(good)
    say("w7", n=runs, spawns_s=runs / wall, loop_cpu_us=used / runs * 1e6, child_cpu_us=used_children / runs * 1e6,
        **lateness(gaps, "tick_"))


def main():
    works = {work.__name__: work for work in (w1, w2, w3, w4, w5, w6, w7)}
    name, numbers = sys.argv[2], map(int, sys.argv[3:])
    if peer == "uvloop":
        import uvloop

        uvloop.install()
    elif name == "w7" and sys.version_info < (3, 12):
        asyncio.set_child_watcher(asyncio.PidfdChildWatcher())  # the cheapest it has: no thread for each child
    asyncio.run(works[name](*numbers))


main()
