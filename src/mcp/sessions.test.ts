import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anonymous } from '../core/access/principal.ts';
import { createSealer } from '../core/seal.ts';
import { mcpLimits } from './limits.ts';
import { createSessions, InFlight, type SessionFacts } from './sessions.ts';
import type { Stream } from './stream.ts';

const factsOf = (sid: string): SessionFacts => ({
  sid,
  principal: anonymous,
  scope: { kind: 'all' },
  revision: '2025-11-25',
  abilities: '',
  expiresAt: Infinity,
});

test('who lets go of a session late does not take away the one that is alive again', () => {
  const sessions = createSessions(createSealer(randomBytes(32), 'session'));
  const token = sessions.begin(anonymous, { kind: 'all' }, '2025-11-25');
  const facts = sessions.find(token, anonymous, { kind: 'all' });
  if (!facts) throw new Error('the session is not there');
  const earlier = sessions.live(facts);
  earlier.settle({});
  expect(sessions.liveCount).toBe(0);
  const again = sessions.live(facts);
  let ended = false;
  const stream: Stream = { send() {}, news() {}, prime() {}, event() {}, end: () => void (ended = true), open: true };
  again.streams.add(stream);
  earlier.settle({});
  expect(sessions.live(facts)).toBe(again);
  sessions.end(facts);
  expect(ended).toBe(true);
  expect(sessions.liveCount).toBe(0);
});

test('what a client is and can be asked survives the hub; a token from before it was kept says nothing of it', () => {
  const secret = randomBytes(32);
  const scope = { kind: 'all' } as const;
  const token = createSessions(createSealer(secret, 'session')).begin(anonymous, scope, '2025-11-25', {
    abilities: 'fur',
    client: 'Cursor',
  });
  const after = createSessions(createSealer(secret, 'session'));
  expect(after.find(token, anonymous, scope)).toMatchObject({ abilities: 'fur', client: 'Cursor' });
  const older = createSealer(secret, 'session').seal(
    JSON.stringify(['sid', '-', '', '2025-11-25', Date.now() + 60_000]),
  );
  expect(after.find(older, anonymous, scope)).toMatchObject({ sid: 'sid', abilities: '' });
});

test('a session is kept ready for its next request, but not one of an endpoint with an endless name', () => {
  const sealer = createSealer(randomBytes(32), 'session');
  let opens = 0;
  const counting = { ...sealer, open: (token: string) => ((opens += 1), sealer.open(token)) };
  const sessions = createSessions(counting);
  const opensFor = (name: string): number => {
    const scope = { kind: 'named', name } as const;
    const token = sessions.begin(anonymous, scope, '2025-11-25');
    opens = 0;
    for (let i = 0; i < 3; i++) expect(sessions.find(token, anonymous, scope)).toMatchObject({ scope });
    return opens;
  };
  expect(opensFor('x'.repeat(300))).toBe(0);
  expect(opensFor('x'.repeat(8_000))).toBe(3);
});

test('of more sessions with a wish for log messages than are remembered, those that wished last keep theirs', () => {
  const sessions = createSessions(createSealer(randomBytes(32), 'session'));
  const wish = (i: number, level: string): void => sessions.live(factsOf(`s${i}`)).setLogLevel(level);
  const levelOf = (i: number) => sessions.live(factsOf(`s${i}`)).logLevel;
  for (let i = 0; i < mcpLimits.wantedLogLevels; i++) wish(i, 'error');
  // Set again, it is the newest.
  wish(0, 'debug');
  expect([levelOf(0), levelOf(1)]).toEqual(['debug', 'error']);
  wish(mcpLimits.wantedLogLevels, 'error');
  expect([0, 1, 2, mcpLimits.wantedLogLevels].map(levelOf)).toEqual(['debug', undefined, 'error', 'error']);
});

test('what is held for a client that left is let go after a while, and who is gone is ended', () => {
  let now = 0;
  const sessions = createSessions(createSealer(randomBytes(32), 'session'), () => now);
  const begin = (username: string) => {
    const principal = { kind: 'user', username } as const;
    const facts = sessions.find(sessions.begin(principal, { kind: 'all' }, '2025-11-25'), principal, { kind: 'all' });
    if (!facts) throw new Error('the session is not there');
    const released: string[] = [];
    const session = sessions.live(facts);
    session.holds.set('x', () => released.push('x'));
    session.settle({});
    return { facts, released };
  };
  const [ann, bob] = [begin('ann'), begin('bob')];
  expect(sessions.sweep(() => false)).toEqual([]);
  expect(sessions.liveCount).toBe(2);
  expect(sessions.sweep((principal) => principal.kind === 'user' && principal.username === 'bob')).toEqual([
    bob.facts.sid,
  ]);
  expect([ann.released, bob.released]).toEqual([[], ['x']]);
  now += mcpLimits.heldSessionMs + 1;
  sessions.live(ann.facts);
  expect(sessions.sweep(() => false)).toEqual([]);
  expect(ann.released).toEqual([]);
  now += mcpLimits.heldSessionMs + 1;
  sessions.sweep(() => false);
  expect(ann.released).toEqual(['x']);
  expect(sessions.liveCount).toBe(0);
});

const step = fc.record({
  key: fc.constantFrom('1', '2', '"1"', '"a"'),
  value: fc.option(fc.integer(), { nil: undefined }),
});

/** Their order does not matter. */
const inOrder = (values: Iterable<number>) => [...values].toSorted((a, b) => a - b);

test('holds what a Map would hold, whatever comes and goes', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const inFlight = new InFlight<number>();
      const model = new Map<string, number>();
      for (const { key, value } of steps) {
        if (value === undefined) {
          inFlight.delete(key);
          model.delete(key);
        } else {
          inFlight.set(key, value);
          model.set(key, value);
        }
        expect(inFlight.size).toBe(model.size);
        expect(inOrder(inFlight.values())).toEqual(inOrder(model.values()));
        for (const one of ['1', '2', '"1"', '"a"']) expect(inFlight.get(one)).toBe(model.get(one));
      }
    }),
  );
});

test('all can be ended while they are gone through', () => {
  const inFlight = new InFlight<string>();
  for (const key of ['1', '2', '3']) inFlight.set(key, key);
  const ended: string[] = [];
  for (const key of inFlight.values()) {
    ended.push(key);
    inFlight.delete(key);
  }
  expect(ended.toSorted()).toEqual(['1', '2', '3']);
  expect(inFlight.size).toBe(0);
});
