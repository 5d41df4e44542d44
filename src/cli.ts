#!/usr/bin/env node
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openBundle } from './cli/compiled.ts';
import type { run } from './cli/run.ts';

const program = openBundle(dirname(fileURLToPath(import.meta.url))).load('main.js') as { readonly run: typeof run };
void program.run(process.argv.slice(2)).then((code) => process.exit(code));
