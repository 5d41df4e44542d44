import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { builtParts } from '../../test/kit/built-parts.ts';
import { addServer, program, refusalOf, settingsPlace } from '../../test/kit/settings-place.ts';
import type { SettingsPlace } from '../../test/kit/settings-place.ts';
import { until } from '../../test/kit/until.ts';
import { settingsFile } from './file.ts';
import { openSettings } from './store.ts';

let place: SettingsPlace;
let folder = '';
let path = '';
beforeEach(() => {
  place = settingsPlace();
  ({ folder, path } = place);
});

const quiet = () => {};
const silent = { debug: quiet, info: quiet, warn: quiet, error: quiet };

test('hand edits and changes in any order lose nothing', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('hand', 'change', 'together'), { minLength: 1, maxLength: 8 }),
      async (steps) => {
        rmSync(path, { force: true });
        const store = await openSettings({ backend: settingsFile(path), log: silent });
        let n = 0;
        const expected: string[] = [];
        const name = () => {
          expected.push(`n${n++}`);
          return `n${n - 1}`;
        };
        // Read, edit and replaced in one go, as a quick person does it.
        const byHand = () => {
          const document = place.read();
          addServer(name())(document);
          writeFileSync(`${path}.hand`, JSON.stringify(document));
          renameSync(`${path}.hand`, path);
        };
        try {
          for (const step of steps) {
            if (step === 'hand') byHand();
            else if (step === 'change') await store.change(addServer(name()));
            else {
              const changes = [store.change(addServer(name())), store.change(addServer(name()))];
              byHand();
              await Promise.all(changes);
            }
          }
          await store.change(() => undefined);
          expect([...store.current.servers.keys()].toSorted()).toEqual(expected.toSorted());
          expect(Object.keys(place.read().mcpServers ?? {}).toSorted()).toEqual(expected.toSorted());
        } finally {
          await store.close();
        }
      },
    ),
    { numRuns: 30 },
  );
});

test("two hubs on one file do not lose each other's changes", async () => {
  const stores = [await place.open(), await place.open()];
  await Promise.all(
    stores.flatMap((store, i) => Array.from({ length: 5 }, (_, j) => store.change(addServer(`s${i}-${j}`)))),
  );
  expect(Object.keys(place.read().mcpServers ?? {})).toHaveLength(10);
});

/** Starts a program that opens the store of `path` and runs `body` on it, under limits that `shell` sets. */
function elsewhere(body: string, shell = ':') {
  const script = `
    import { openSettings, settingsFile } from ${JSON.stringify(builtParts)};
    const quiet = () => {};
    const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
    const store = await openSettings({ backend: settingsFile(${JSON.stringify(path)}), log });
    const add = (name, more) => (draft) => { draft.mcpServers = { ...draft.mcpServers, [name]: { command: name, ...more } }; };
    ${body}`;
  return spawn('sh', ['-c', `${shell}; exec "$0" --input-type=module -e "$1"`, process.execPath, script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

describe('a write that fails', () => {
  test('for want of room leaves the old file whole and no temporary one, and says what to do', async () => {
    place.write({ mcpServers: { a: program('a') } });
    const before = readFileSync(path, 'utf8');
    // A limit on file sizes fails in the middle of writing, as a full disk does, and needs no rights.
    const child = elsewhere(
      `const error = await store.change(add('b', { description: 'x'.repeat(100_000) })).catch((e) => e);
       console.log(JSON.stringify([error.code, error.message, store.version, store.current.servers.has('b')]));
       await store.change(add('c'));
       process.exit(0);`,
      'ulimit -f 8',
    );
    const said = await text(child.stdout);
    const [code, message, version, took] = JSON.parse(said) as [string, string, number, boolean];
    expect([code, version, took]).toEqual(['misconfigured', 1, false]);
    expect(message).toContain(`Cannot write settings file ${path}, it stays as it was: no room left on the disk`);
    expect(before).not.toContain('"c"');
    expect(Object.keys(place.read().mcpServers ?? {})).toEqual(['a', 'c']);
    expect(readdirSync(folder)).toEqual(['mcp_settings.json']);
  });

  test('for want of rights says which folder, and changes nothing', async () => {
    const store = await place.open();
    const before = readFileSync(path, 'utf8');
    chmodSync(path, 0o644);
    chmodSync(folder, 0o555);
    // Root may write anywhere, so the test becomes another user for a moment.
    const root = process.geteuid?.() === 0;
    if (root) process.seteuid?.(65_534);
    const error = await refusalOf(store.change(addServer('a')));
    if (root) process.seteuid?.(0);
    chmodSync(folder, 0o755);
    expect(error.code).toBe('misconfigured');
    expect(error.message).toContain('no permission (EACCES)');
    expect(error.message).toContain(`the right to write to ${folder}`);
    expect(readFileSync(path, 'utf8')).toBe(before);
    expect(store.version).toBe(1);
  });

  test('because the process is killed leaves the old content or the new, never a part', async () => {
    for (let round = 0; round < 4; round++) {
      place.write({ mcpServers: {} });
      const child = elsewhere(
        `console.log('open'); for (let i = 0; ; i++) await store.change(add('s', { description: String(i % 10).repeat(200_000) }));`,
      );
      await once(child.stdout, 'data');
      await until('it writes', () => statSync(path).size > 1000);
      child.kill('SIGKILL');
      await once(child, 'exit');
      const description = place.read().mcpServers?.['s']?.['description'];
      expect(description).toMatch(/^(\d)\1+$/);
      expect(description).toHaveLength(200_000);
    }
  });
});
