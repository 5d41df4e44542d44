import { afterEach, expect, test } from 'vitest';
import { anonymous, type Principal } from '../core/access/principal.ts';
import { until } from '../../test/kit/until.ts';
import { type Arrivals, createArrivals } from './arrivals.ts';
import { mcpLimits } from './limits.ts';

const open: Arrivals[] = [];
afterEach(() => open.splice(0).forEach((each) => each.close()));

function arrivals(): Arrivals & { readonly told: string[] } {
  const told: string[] = [];
  const made = createArrivals({ changed: (next) => told.push(...next) });
  open.push(made);
  return { ...made, told };
}

const scope = { kind: 'all' } as const;
const key = (id: string): Principal => ({ kind: 'key', id });
const from = (principal: Principal) => ({ principal, scope });

test('a client is known by what it says, newest first, once for each credential', () => {
  const { note, list } = arrivals();
  note(from(anonymous), { name: 'Cursor', version: '1' }, true);
  note(from(key('k')), { name: 'Cursor', version: '1' }, true);
  note(from(anonymous), { name: 'Cursor', version: '2' }, true);
  expect(list().map(({ principal, name, version }) => [principal.kind, name, version])).toEqual([
    ['anonymous', 'Cursor', '2'],
    ['key', 'Cursor', '1'],
  ]);
});

test('what a stranger calls itself is plain, short, and never none', () => {
  const { note, list } = arrivals();
  const names = ['\u202Eevil\u0000\n\u200Bname', 'x'.repeat(1_000_000), '', 7, { toString: 'no' }, '\uD800'];
  for (const [at, name] of names.entries()) note(from(key(String(at))), { name, version: name }, true);
  for (const info of [undefined, null, [], 'text']) note(from(key('none')), info, true);
  expect(
    list()
      .map(({ name }) => name)
      .reverse(),
  ).toEqual(['evilname', 'x'.repeat(mcpLimits.arrivalTextChars), ...Array.from({ length: 5 }, () => 'MCP client')]);
});

test('one credential with many names keeps few places, and takes none of another', () => {
  const { note, list } = arrivals();
  note(from(key('mine')), { name: 'Cursor' }, true);
  for (let at = 0; at < 1_000; at++) note(from(anonymous), { name: `flood ${at}` }, true);
  expect(list()).toHaveLength(mcpLimits.arrivalsOfOne + 1);
  expect(list().at(-1)?.name).toBe('Cursor');
  for (let at = 0; at < 1_000; at++) note(from(key(String(at))), { name: 'one of many' }, true);
  expect(list()).toHaveLength(mcpLimits.arrivals);
});

test('the first call of its credential is seen, and a client that comes again has still called', () => {
  const { note, called, list } = arrivals();
  note(from(key('a')), { name: 'Cursor' }, true);
  called(key('b'));
  expect(list()[0]?.hasCalled).toBe(false);
  called(key('a'));
  note(from(key('a')), { name: 'Cursor' }, true);
  expect(list().map(({ hasCalled }) => hasCalled)).toEqual([true]);
});

test('clients that came and never called keep no first call of others from being seen', () => {
  const { note, called, list } = arrivals();
  for (let at = 0; at < 1_000; at++) note(from(key(String(at))), { name: 'one of many' }, true);
  note(from(key('late')), { name: 'Cursor' }, true);
  called(key('late'));
  expect(list()[0]).toMatchObject({ name: 'Cursor', hasCalled: true });
});

test('what a client only says with each request is noted once', () => {
  const { note, list } = arrivals();
  note(from(anonymous), { name: 'Cursor', version: '1' }, false);
  note(from(anonymous), { name: 'Cursor', version: '2' }, false);
  expect(list().map(({ version }) => version)).toEqual(['1']);
  note(from(anonymous), { name: 'Cursor', version: '2' }, true);
  expect(list().map(({ version }) => version)).toEqual(['2']);
});

test('another hub hears of it, and of no more at once than there is room for', async () => {
  const here = arrivals();
  const there = arrivals();
  here.note(from({ kind: 'user', username: 'ann', since: 'then' }), { name: 'Codex' }, true);
  await until('it is told', () => here.told.length > 0);
  for (const told of here.told) there.hear(told);
  expect(there.list()).toEqual(here.list());
  for (const told of ['', 'null', '7', '{}', '{"principal":"?"}', '{"principal":"i:no json"}']) there.hear(told);
  expect(there.list()).toHaveLength(1);
  for (let at = 0; at < 1_000; at++) here.note(from(key(String(at))), { name: 'one of many' }, true);
  await until('they are told', () => here.told.length > 1);
  expect(here.told.length).toBeLessThanOrEqual(mcpLimits.arrivalsTold + 1);
});
