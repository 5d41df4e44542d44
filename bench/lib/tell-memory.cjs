// Preloaded into what is measured: at SIGUSR2 it collects and writes down how many kilobytes are in use.
const { writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');

process.on('SIGUSR2', () => {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${tmpdir()}/bench-memory-${process.pid}`, `${(heapUsed + external) / 1024}\n`);
});
