import { describe, expect, test } from 'vitest';
import type { Entry } from '../document/document.ts';
import { changeSystemConfig, systemConfigAnswer } from './system-config.ts';

const one = { url: 'https://guard.example/check', on: ['call'], secret: 'first' };
const two = { url: 'https://guard.example/check', on: ['result'], secret: 'second' };
const other = { id: 'pii', url: 'https://other.example/check', on: ['call'], secret: 'third' };

/** What is kept after what a page shows was changed and sent back. */
function changed(guards: readonly Entry[], edit: (shown: Entry[]) => unknown[]): unknown {
  const draft = { systemConfig: { guards: [...guards] } };
  const shown = (systemConfigAnswer(draft.systemConfig) as { guards: Entry[] }).guards;
  expect(JSON.stringify(shown)).not.toMatch(/first|second|third/);
  changeSystemConfig(draft, { guards: edit(shown) });
  return draft.systemConfig.guards;
}

describe('the hidden values of a list', () => {
  test('follow elements that are moved, with an id or without', () => {
    expect(changed([one, two, other], ([a, b, c]) => [c, b, a])).toEqual([other, two, one]);
  });

  test('stay when one is deleted before them', () => {
    expect(changed([one, two, other], ([, b, c]) => [b, c])).toEqual([two, other]);
  });

  test('stay when one is renamed, gets a name, or loses it', () => {
    const renamed = changed([one, two, other], ([a, b, c]) => [{ ...a, id: 'a' }, b, { ...c, id: 'people' }]);
    expect(renamed).toEqual([{ ...one, id: 'a' }, two, { ...other, id: 'people' }]);
    expect(changed([other, one], ([a, b]) => [{ ...a, id: undefined }, b])).toEqual([{ ...other, id: undefined }, one]);
  });

  test('stay when one is changed, though another has the same address', () => {
    expect(changed([one, two], ([a, b]) => [a, { ...b, timeoutMs: 900 }])).toEqual([one, { ...two, timeoutMs: 900 }]);
    expect(changed([one, two], ([a, b]) => [b, { ...a, timeoutMs: 900 }])).toEqual([two, { ...one, timeoutMs: 900 }]);
  });

  test('are asked for where two could be meant', () => {
    const twin = { ...one, secret: 'second' };
    expect(() => changed([one, twin], ([a]) => [a])).toThrow(/Cannot change/);
    expect(() =>
      changed([one, two], ([a, b]) => [
        { ...b, timeoutMs: 900 },
        { ...a, timeoutMs: 900 },
      ]),
    ).toThrow(/Cannot change/);
    expect(changed([one, twin, other], ([a, b, c]) => [c, a, b])).toEqual([other, one, twin]);
    expect(changed([one, one], ([a]) => [a])).toEqual([one]);
  });

  test('go to no other address', () => {
    expect(() => changed([one], ([a]) => [{ ...a, url: 'https://evil.example' }])).toThrow(/Cannot change/);
    expect(() => changed([other], ([a]) => [{ ...a, url: 'https://evil.example' }])).toThrow(/Cannot change/);
    expect(() => changed([one], ([a]) => [a, { ...a, url: 'https://evil.example' }])).toThrow(/Cannot change/);
  });
});
