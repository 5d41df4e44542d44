// Tries changes of a file one after the other (`run.mjs`): the modules are loaded again for each, and the tests of the
// file run until one fails. What becomes of each is a line of output.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';

const { ids, tests } = JSON.parse(process.env['MUTATE'] ?? '{}');

/** What the instrumented code reads: which change is made, how often it was come by, and how often it may be. */
const switches = { activeMutant: '', hitCount: 0, hitLimit: 5_000_000 };
globalThis.__stryker__ = switches;

function activate(id) {
  switches.activeMutant = id;
  switches.hitCount = 0;
}

function say(id, what) {
  process.stdout.write(`mutant ${id} ${what}\n`);
}

// The engine of policies is compiled once, and not for each change.
const compiled = new Map();
WebAssembly.Module = new Proxy(WebAssembly.Module, {
  construct(target, [bytes]) {
    const known = compiled.get(bytes.byteLength) ?? new target(bytes);
    compiled.set(bytes.byteLength, known);
    return known;
  },
});

for (const id of ids)
  describe(id, async () => {
    let isKilled = false;
    say(id, 'begins');
    activate(id);
    vi.resetModules();
    beforeAll(() => {
      say(id, 'begins');
    });
    beforeEach(({ onTestFailed, skip }) => {
      if (isKilled) skip();
      activate(id);
      onTestFailed(() => {
        isKilled = true;
      });
    });
    afterAll(() => {
      say(id, isKilled ? 'killed' : 'survived');
    });
    try {
      for (const file of tests) await import(/* @vite-ignore */ file);
    } catch {
      isKilled = true;
      test('its modules are loaded', () => expect.fail());
    }
  });
