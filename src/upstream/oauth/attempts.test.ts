import { expect, test } from 'vitest';
import { limits } from '../../core/limits.ts';
import { type Attempt, createAttempts } from './attempts.ts';

const attemptOf = (account: object): Attempt => ({
  account,
  server: 'mail',
  by: undefined,
  verifier: 'v',
  client: { id: 'c', redirectUri: 'https://hub.example/oauth/callback', kind: 'configured' },
  authority: { issuer: 'https://as.example', metadata: {} as never, resource: undefined, scope: undefined },
});

function table() {
  let time = 1_000_000;
  const attempts = createAttempts(() => time);
  const begin = (account: object): string => {
    const state = attempts.newState();
    attempts.add(state, attemptOf(account));
    return state;
  };
  return { attempts, begin, pass: (ms: number) => (time += ms) };
}

test('a state works once', () => {
  const { attempts, begin } = table();
  const state = begin({});
  expect(attempts.take(state)?.server).toBe('mail');
  expect(attempts.take(state)).toBeUndefined();
});

test('a state works for ten minutes and not a moment longer', () => {
  const { attempts, begin, pass } = table();
  const [early, late] = [begin({}), begin({})];
  pass(10 * 60_000 - 1);
  expect(attempts.take(early)).toBeDefined();
  pass(1);
  expect(attempts.take(late)).toBeUndefined();
});

test('states cannot be guessed from one another', () => {
  const { attempts } = table();
  const states = Array.from({ length: 1_000 }, () => attempts.newState());
  expect(new Set(states).size).toBe(1_000);
  expect(states.every((state) => /^[\w-]{43}$/.test(state))).toBe(true);
});

test('who begins again and again loses the oldest, and nobody else’s', () => {
  const { attempts, begin } = table();
  const [eager, other] = [{}, {}];
  const untouched = begin(other);
  const states = Array.from({ length: limits.signInsPerServer + 3 }, () => begin(eager));
  expect(states.map((state) => attempts.take(state) !== undefined)).toEqual(states.map((_, i) => i >= 3));
  expect(attempts.take(untouched)).toBeDefined();
});

test('there is a bound for all of them together', () => {
  const { attempts, begin } = table();
  const states = Array.from({ length: limits.signIns + 5 }, () => begin({}));
  expect(states.filter((state) => attempts.take(state) !== undefined)).toHaveLength(limits.signIns);
});

test('a server that is set up anew gets no answers to what was asked before', () => {
  const { attempts, begin } = table();
  const account = {};
  const state = begin(account);
  attempts.forget(account);
  expect(attempts.take(state)).toBeUndefined();
});
