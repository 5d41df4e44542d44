import { expect, test } from 'vitest';
import { changesOf, configOf, draftOf } from './config.ts';

const openapi = { url: 'https://api.example.com/openapi.json', security: { type: 'none' } };

test('the base URL of an API is written beside what no field shows of it, and gone when it is cleared', () => {
  const draft = draftOf({ openapi }, 'openapi');
  expect(draft.apiBase).toBe('');
  const named = configOf({ ...draft, apiBase: ' https://api.example.com/v2 ' });
  expect(named).toEqual({ openapi: { ...openapi, baseUrl: 'https://api.example.com/v2' } });
  const again = draftOf(named, 'openapi');
  expect(again.apiBase).toBe('https://api.example.com/v2');
  expect(configOf({ ...again, apiBase: '' })).toEqual({ openapi });
});

test('what was not touched is not sent', () => {
  const config = { openapi: { ...openapi, baseUrl: 'https://api.example.com/v2' }, unknown: { stays: true } };
  expect(changesOf(config, configOf(draftOf(config, 'openapi')))).toEqual({});
});

test('what each user sets is a line per slot, and stays as it is where it is not edited', () => {
  const credentialTemplate = [
    { target: 'env', name: 'TOKEN', label: 'A token' },
    { target: 'args', name: 'team' },
  ];
  const draft = draftOf({ command: 'x', credentialTemplate }, 'stdio');
  expect(draft.template).toBe('env.TOKEN A token\nargs.team');
  expect(configOf(draft)).toMatchObject({ credentialTemplate });
  expect(configOf({ ...draft, template: ' headers.X-Api.Key  Its key ' })['credentialTemplate']).toEqual([
    { target: 'headers', name: 'X-Api.Key', label: 'Its key' },
  ]);
});

test('a sandbox is what the fields say: that of the hub, an own one, an empty one too, or none', () => {
  const of = (sandbox: unknown) => draftOf({ command: 'x', ...(sandbox !== undefined && { sandbox }) }, 'stdio');
  const kept = { network: 'host', read: ['/a', '/b c'], write: ['/d'] };
  for (const sandbox of [undefined, false, {}, kept]) expect(configOf(of(sandbox))).toEqual(of(sandbox).rest);
  expect(of(kept)).toMatchObject({ sandbox: 'own', network: true, read: '/a\n/b c', write: '/d' });
  expect(configOf({ ...of(kept), sandbox: 'off' })).toMatchObject({ sandbox: false });
  expect(configOf({ ...of(kept), sandbox: 'default' })).toEqual({ command: 'x' });
  const bounds = { memoryMb: 64, cpus: 0.5, processes: 9 };
  expect(configOf(of({ ...kept, ...bounds }))).toMatchObject({ sandbox: { ...kept, ...bounds } });
  expect(configOf({ ...of({ ...kept, ...bounds }), memoryMb: '128', cpus: '' })).toMatchObject({
    sandbox: { ...kept, memoryMb: 128, processes: 9 },
  });
  // What is no number is for the hub to refuse.
  expect(configOf({ ...of(kept), memoryMb: '1,5', cpus: '1,5', processes: 'two' })).toMatchObject({
    sandbox: { memoryMb: '1,5', cpus: 1.5, processes: 'two' },
  });
  expect(configOf({ ...of(kept), cpus: 'Infinity' })).toMatchObject({ sandbox: { cpus: 'Infinity' } });
  expect(configOf({ ...of({ ...kept, ...bounds }), cpus: '' })['sandbox']).not.toHaveProperty('cpus');
  expect(configOf({ ...of(kept), network: false, write: '' })).toMatchObject({
    sandbox: { network: 'none', read: ['/a', '/b c'] },
  });
});

test('limits and the mode of pins are written as they are set, and gone when they are cleared', () => {
  const config = { command: 'x', limits: { callsPerDay: 100 }, pins: { mode: 'hold' } };
  const draft = draftOf(config, 'stdio');
  expect(draft.limits).toEqual({ callsPerMinute: '', concurrentCalls: '', callsPerDay: '100' });
  expect(changesOf(config, configOf(draft))).toEqual({});
  const changed = { ...draft, limits: { ...draft.limits, concurrentCalls: '2' }, pins: 'off' };
  expect(changesOf(config, configOf(changed))).toEqual({
    limits: { concurrentCalls: 2, callsPerDay: 100 },
    pins: { mode: 'off' },
  });
  const cleared = { ...draft, limits: { callsPerMinute: '', concurrentCalls: '', callsPerDay: '' }, pins: '' };
  expect(changesOf(config, configOf(cleared))).toEqual({ limits: null, pins: null });
});
