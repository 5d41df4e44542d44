import { expect, test } from 'vitest';
import { HubError } from '../core/errors.ts';
import { authLimits } from './limits.ts';
import { logFailures } from './login-log.ts';

const loggedBy = (code: 'unauthenticated' | 'too_many', now = Date.now) => {
  const lines: string[] = [];
  const at = (level: string) => (message: string, fields?: object) =>
    void lines.push(`${level} ${message} ${JSON.stringify(fields)}`);
  const log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  const login = logFailures(() => Promise.reject(new HubError(code, 'no')), log, now);
  const attempt = (username: string, address: string) =>
    expect(login({ username, address, password: 'hunter2-canary' })).rejects.toThrow('no');
  return { lines, attempt };
};

test('a failed login is logged with who and from where, and never the password', async () => {
  const { lines, attempt } = loggedBy('unauthenticated');
  await attempt('x'.repeat(1_000), '203.0.113.7');
  expect(lines).toEqual([`warn login failed {"user":"${'x'.repeat(100)}","address":"203.0.113.7"}`]);
  expect(lines.join()).not.toContain('canary');
});

test('what the limit refuses is logged once for each address and window', async () => {
  let now = 1_000;
  const { lines, attempt } = loggedBy('too_many', () => now);
  for (let i = 0; i < 50; i++) await attempt(`user-${i}`, '203.0.113.7');
  await attempt('ann', '203.0.113.8');
  expect(lines.map((line) => /user-0|ann|user-\d+/.exec(line)?.[0])).toEqual(['user-0', 'ann']);
  now += authLimits.loginWindowMs;
  await attempt('later', '203.0.113.7');
  expect(lines).toHaveLength(3);
});
