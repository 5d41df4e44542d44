#!/usr/bin/env node
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBundle } from './cli/compiled.ts';
import type { run } from './cli/run.ts';

const program = openBundle(dirname(fileURLToPath(import.meta.url))).load('main.js') as { readonly run: typeof run };
// What a command waits for may be a timer or a child that does not keep the process alive, as an installation elsewhere
// is for `doctor`. Without this it would end in the middle, without a word and with the exit code 0.
setInterval(() => undefined, 2 ** 30);
void program.run(process.argv.slice(2)).then((code) => process.exit(code));
