// Runs commands of the suite one after the other in one process, on the Node that comes with it:
//   node suite-runs.mjs <the suite's program>
// A line of standard input is the arguments of one, as JSON. When it has ended that is said in a line of its own, after
// all that it printed. Most of what a command of the suite computes is to load it and to compile what it needs.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [, , suite] = process.argv;

/** The program of the suite, which runs when it is loaded: what it would run then is kept. */
let program;
const { Command } = createRequire(suite)('commander');
const { parse } = Command.prototype;
Command.prototype.parse = function keep() {
  program = this;
};
await import(pathToFileURL(suite).href);
Command.prototype.parse = parse;

for await (const line of createInterface({ input: process.stdin })) {
  const code = await run(JSON.parse(line));
  process.stdout.write(`\nThe command has ended with ${code}.\n`);
}

/** Until it would end its process. */
async function run(args) {
  const { exit } = process;
  try {
    return await new Promise((resolve, reject) => {
      process.exit = resolve;
      program.parseAsync(args, { from: 'user' }).then(() => resolve(0), reject);
    });
  } finally {
    process.exit = exit;
  }
}
