// Preloaded into what is measured: at SIGUSR2 it writes down how late its main thread was since the last time, in milliseconds, as percentiles of a timer that is due each millisecond.
const { renameSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { monitorEventLoopDelay } = require('node:perf_hooks');

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('SIGUSR2', () => {
  const told = { p50: delay.percentile(50) / 1e6, p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 };
  const file = `${tmpdir()}/bench-delay-${process.pid}`;
  writeFileSync(`${file}.new`, JSON.stringify(told));
  renameSync(`${file}.new`, file);
  delay.reset();
});
