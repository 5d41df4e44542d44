import { expect, test } from 'vitest';
import type { AuditEvent } from '../../core/audit.ts';
import { auditLimits } from './limits.ts';
import { countRepeats } from './repeats.ts';

function counting() {
  const made: { event: AuditEvent; count: number }[] = [];
  const clock = { ms: 0 };
  const repeats = countRepeats(
    (event, count) => made.push({ event, count }),
    () => clock.ms,
  );
  const failure = (address: string, target: string): AuditEvent => ({
    actor: { kind: 'anonymous', name: '' },
    address,
    via: 'api',
    action: 'login',
    target,
    result: 'failed',
  });
  return { made, clock, repeats, failure };
}

test('what one address repeats is one record with a count, of whatever names', () => {
  const { made, repeats, failure } = counting();
  for (let i = 0; i < 30; i++) repeats.count(failure('192.0.2.1', 'ann'));
  repeats.count(failure('192.0.2.2', 'ann'));
  repeats.count(failure('192.0.2.2', 'bob'));
  repeats.flush(true);
  expect(made.map(({ event, count }) => [event.address, event.target, count])).toEqual([
    ['192.0.2.1', 'ann', 30],
    ['192.0.2.2', undefined, 2],
  ]);
});

test('a flood from more addresses than can be counted stays bounded, and nothing of it is left out', () => {
  const { made, clock, repeats, failure } = counting();
  const most = auditLimits.auditStrangersPerHour;
  for (let minute = 0; minute < 59; minute++) {
    for (let i = 0; i < 300; i++) repeats.count(failure(`10.0.${minute}.${i}`, `user${i}`));
    clock.ms += auditLimits.auditWindowMs;
    repeats.flush(false);
  }
  clock.ms += auditLimits.auditWindowMs;
  repeats.flush(false);
  expect(made.length).toBe(most + 1);
  expect(made.reduce((sum, { count }) => sum + count, 0)).toBe(59 * 300);
  expect(made.at(-1)?.event).toMatchObject({ action: 'login', address: undefined, target: undefined });
  repeats.count(failure('192.0.2.7', 'ann'));
  repeats.flush(true);
  expect(made.at(-1)).toMatchObject({ event: { address: '192.0.2.7' }, count: 1 });
});

test('a known caller has records of its own for each target, and takes none of others', () => {
  const { made, repeats, failure } = counting();
  const refused = (name: string, target: string): AuditEvent => ({
    ...failure('192.0.2.1', target),
    actor: { kind: 'user', name },
    action: 'call',
    result: 'refused',
  });
  for (let i = 0; i < 1_000; i++) repeats.count(refused('ann', `tool${i}`));
  repeats.count(refused('bob', 'delete'));
  repeats.count(refused('bob', 'delete'));
  for (let i = 0; i < 2 * auditLimits.auditCallers; i++) repeats.count(refused(`user${i}`, 'delete'));
  repeats.flush(true);
  const of = (name: string) => made.filter(({ event }) => event.actor.name === name);
  expect(of('ann').length).toBe(auditLimits.auditRepeatedPerHour + 1);
  expect(of('bob')).toMatchObject([{ event: { target: 'delete' }, count: 2 }]);
  expect(made.reduce((sum, { count }) => sum + count, 0)).toBe(1_002 + 2 * auditLimits.auditCallers);
});
