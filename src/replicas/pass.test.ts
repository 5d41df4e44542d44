import { expect, test } from 'vitest';
import { replicaLimits } from './limits.ts';
import { createPasses, passHeader, secretHash } from './pass.ts';

let time = 50_000;
const clock = () => time;
const passes = (hub: string, secret = 'shared') => createPasses(secret, hub, clock);
const a = passes('aaaaaaaa');
const request = { method: 'POST', url: '/mcp', headers: { host: 'hub', authorization: 'Bearer x', accept: '*/*' } };
const to = (hub: string) => ({ hub, at: time });
const withPass = (pass: string, more: object = {}) => ({
  ...request,
  headers: { ...request.headers, ...more, [passHeader]: pass },
});

test('a pass is good once, at the hub it was made for, with where the request came from', () => {
  const b = passes('bbbbbbbb');
  const pass = a.make(request, to('bbbbbbbb'), '192.0.2.7');
  expect(passes('cccccccc').check(withPass(pass))).toBeUndefined();
  expect(passes('bbbbbbbb', 'another').check(withPass(pass))).toBeUndefined();
  expect(b.check(withPass(pass))).toEqual({ address: '192.0.2.7' });
  expect(b.check(withPass(pass))).toBeUndefined();
  expect(b.check(withPass(a.make(request, to('bbbbbbbb'), undefined)))).toEqual({ address: undefined });
});

test('a pass is bound to the request: its path, its credential, its session and where it came from', () => {
  const b = passes('bbbbbbbb');
  const pass = () => a.make(request, to('bbbbbbbb'), '192.0.2.7');
  const changed = [
    withPass(pass(), { authorization: 'Bearer y' }),
    withPass(pass(), { cookie: 'c=1' }),
    withPass(pass(), { 'mcp-session-id': 's' }),
    withPass(pass(), { 'x-forwarded-for': '127.0.0.1' }),
    { ...withPass(pass()), url: '/mcp/other' },
    { ...withPass(pass()), method: 'DELETE' },
    withPass(pass().replace('MTkyLjAuMi43', 'MTI3LjAuMC4x')),
    withPass(`${pass()}A`),
    withPass('aaaaaaaa.bbbbbbbb.50000.1..'),
    withPass('x'),
    withPass(''),
  ];
  for (const one of changed) expect(b.check(one)).toBeUndefined();
  expect(b.check(withPass(pass(), { accept: 'text/event-stream' }))).toEqual({ address: '192.0.2.7' });
});

test('a pass is good for seconds, by the clock of the hub it was made for', () => {
  const b = passes('bbbbbbbb');
  const late = a.make(request, { hub: 'bbbbbbbb', at: time - replicaLimits.passMs - 1 }, undefined);
  const early = a.make(request, { hub: 'bbbbbbbb', at: time + replicaLimits.passMs + 1 }, undefined);
  const kept = a.make(request, to('bbbbbbbb'), undefined);
  expect([late, early].map((pass) => b.check(withPass(pass)))).toEqual([undefined, undefined]);
  time += replicaLimits.passMs + 1;
  expect(b.check(withPass(kept))).toBeUndefined();
});

test('passes may come in any order; what came is remembered within a bound', () => {
  const b = passes('bbbbbbbb');
  const made = Array.from({ length: 300 }, () => withPass(a.make(request, to('bbbbbbbb'), undefined)));
  for (const one of made.toReversed()) expect(b.check(one)).toBeDefined();
  for (const one of made) expect(b.check(one)).toBeUndefined();
  const early = withPass(a.make(request, to('bbbbbbbb'), undefined));
  // What goes to another hub has numbers of its own.
  for (let i = 0; i < replicaLimits.passNumbers + 1; i++) a.make(request, to('cccccccc'), undefined);
  expect(b.check(withPass(a.make(request, to('bbbbbbbb'), undefined)))).toBeDefined();
  expect(b.check(early)).toBeDefined();
  const old = withPass(a.make(request, to('bbbbbbbb'), undefined));
  for (let i = 0; i < replicaLimits.passNumbers + 1; i++) b.check(withPass(a.make(request, to('bbbbbbbb'), undefined)));
  expect(b.check(old)).toBeUndefined();
});

test('a proof is good for what it was made for, and a secret is named without being told', () => {
  const proof = a.mac('ask', 'text');
  expect(passes('bbbbbbbb').isMac('ask', 'text', proof)).toBe(true);
  expect(a.isMac('answer', 'text', proof)).toBe(false);
  expect(a.isMac('ask', 'texts', proof)).toBe(false);
  expect(secretHash('one')).toBe(secretHash('one'));
  expect(secretHash('one')).not.toBe(secretHash('two'));
});
