// Preloaded into what is measured: at SIGUSR2 it collects and writes down how many kilobytes are in use.
const { writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

process.on('SIGUSR2', () => {
  // Not before: with another flag from the start on V8 does not take what was compiled ahead.
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${tmpdir()}/bench-memory-${process.pid}`, `${(heapUsed + external) / 1024}\n`);
});
