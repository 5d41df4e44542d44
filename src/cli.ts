#!/usr/bin/env node
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBundle } from './cli/compiled.ts';
import type { run } from './cli/run.ts';

// A reader may have enough of what is printed (`toolhub tools | head`). What is printed from then on goes nowhere; the
// command still comes to its end, and its exit code says what came of it.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
const program = openBundle(dirname(fileURLToPath(import.meta.url))).load('main.js') as { readonly run: typeof run };
// What a command waits for may be a timer or a child that does not keep the process alive, as an installation elsewhere
// is for `doctor`. Without this it would end in the middle, without a word and with the exit code 0.
setInterval(() => undefined, 2 ** 30);
void program.run(process.argv.slice(2)).then((code) => process.exit(code));
