import { mkdirSync, writeFileSync } from 'node:fs';

const folder = 'node_modules/.cache/toolhub/chaos';

/** Keeps a table for `npm run chaos`, which prints it: what a test process writes to its output is not shown. */
export function keepTable(name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/${name}.md`, text);
}
