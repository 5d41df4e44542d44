// Preloaded into what is measured: at SIGUSR2 it writes down how late its main thread was since the last time, in
// milliseconds, as percentiles of a timer that is due each millisecond. `own` is the same without the time in which the
// thread was ready to run and other processes had its core (Linux).
const { openSync, readSync, renameSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { monitorEventLoopDelay } = require('node:perf_hooks');

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();

const schedule = open(`/proc/self/task/${process.pid}/schedstat`);
const bytes = Buffer.alloc(128);
let own = [];
let lastAt = performance.now();
let lastWaited = waitedMs();
setInterval(() => {
  const at = performance.now();
  const waited = waitedMs();
  own.push(Math.max(0, at - lastAt - 1 - (waited - lastWaited)));
  lastAt = at;
  lastWaited = waited;
}, 1).unref();

process.on('SIGUSR2', () => {
  own.sort((a, b) => a - b);
  const told = {
    p50: delay.percentile(50) / 1e6,
    p99: delay.percentile(99) / 1e6,
    max: delay.max / 1e6,
    ownP99: own[Math.floor(own.length * 0.99)] ?? 0,
    ownMax: own.at(-1) ?? 0,
  };
  const file = `${tmpdir()}/bench-delay-${process.pid}`;
  writeFileSync(`${file}.new`, JSON.stringify(told));
  renameSync(`${file}.new`, file);
  delay.reset();
  own = [];
});

function open(path) {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

/** How long the main thread has waited for a core so far. */
function waitedMs() {
  if (schedule === undefined) return 0;
  const [, waited] = bytes.latin1Slice(0, readSync(schedule, bytes, 0, bytes.length, 0)).split(' ');
  return Number(waited) / 1e6;
}
