import { expect, test } from 'vitest';
import { logRefusedCredentials, sampledByAccount } from './event-sampler.ts';
import { authLimits } from './limits.ts';

const watch = () => {
  const lines: string[] = [];
  const clock = { now: 0 };
  const say = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log = { debug: say, info: say, warn: say, error: say };
  return { lines, clock, log, refused: logRefusedCredentials(log, () => clock.now) };
};

test('refused credentials of one address are told once in a window, and then with how many there were', () => {
  const { lines, clock, refused } = watch();
  for (let i = 0; i < 1_000; i++) refused('203.0.113.7');
  expect(lines).toEqual(['credential refused {"address":"203.0.113.7"}']);
  clock.now += authLimits.loginWindowMs;
  refused('203.0.113.7');
  expect(lines[1]).toBe('credential refused {"address":"203.0.113.7","before":999}');
});

test('many addresses cannot fill the log either: what is past the bound is counted', () => {
  const { lines, clock, refused } = watch();
  for (let i = 0; i < 10_000; i++) refused(`203.0.113.${i}`);
  expect(lines).toHaveLength(authLimits.strangersTold);
  clock.now += authLimits.loginWindowMs;
  refused('198.51.100.1');
  expect(lines.at(-1)).toBe(
    `credential refused {"address":"198.51.100.1","others":${10_000 - authLimits.strangersTold}}`,
  );
});

test('what one account does fills the log as little: so many of a kind, so many in all, and the rest is counted', () => {
  const { lines, clock, log } = watch();
  const accounts = sampledByAccount(log, () => clock.now);
  for (let i = 0; i < 1_000; i++) accounts.info('login', { user: 'ann', address: '203.0.113.7' });
  expect(lines).toHaveLength(authLimits.accountToldOfKind);
  // From elsewhere it is told, also in a flood, and so is what others do.
  accounts.info('login', { user: 'ann', address: '198.51.100.1' });
  accounts.info('login', { user: 'bob', address: '203.0.113.7' });
  expect(lines.slice(authLimits.accountToldOfKind)).toEqual([
    'login {"user":"ann","address":"198.51.100.1"}',
    'login {"user":"bob","address":"203.0.113.7"}',
  ]);
  for (let i = 0; i < 1_000; i++) accounts.warn(`kind ${i}`, { by: 'ann' });
  expect(lines.filter((line) => line.includes('"ann"'))).toHaveLength(authLimits.accountTold);
  clock.now += authLimits.loginWindowMs;
  accounts.info('login', { user: 'ann', address: '203.0.113.7' });
  const others = 1_000 - (authLimits.accountTold - authLimits.accountToldOfKind - 1);
  expect(lines.at(-1)).toBe(
    `login {"user":"ann","address":"203.0.113.7","before":${1_000 - authLimits.accountToldOfKind},"others":${others}}`,
  );
});
