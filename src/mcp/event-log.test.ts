import { expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { createEventLogs } from './event-log.ts';
import { mcpLimits } from './limits.ts';

function logs(now?: () => number) {
  const all = createEventLogs(now);
  atEnd(() => all.close());
  return all;
}

const places = (all: ReturnType<typeof logs>, sid: string, id: string): number[] | undefined => {
  const found = all.find(sid, id);
  return found?.log.after(found.place).map(({ place }) => place);
};

test('what came after an event is found by its id, in its own session and stream alone', () => {
  const all = logs();
  const [a, b] = [all.begin('one', 'p'), all.begin('one', 'g')];
  const ids = ['x', 'y', 'z'].map((text) => a.add(text));
  b.add('of another stream');
  expect(new Set([...ids, b.id]).size).toBe(4);
  expect(places(all, 'one', ids[0] ?? '')).toEqual([2, 3]);
  expect(places(all, 'one', `${ids[0]}.and.what.a.stream.adds`)).toEqual([2, 3]);
  expect(places(all, 'two', ids[0] ?? '')).toBeUndefined();
  const strange = ['', 'p', 'p.1', a.name, `${a.name}.`, `${a.name}.-1`, `${a.name}.1x`, `x${ids[0]}`];
  expect(strange.filter((id) => places(all, 'one', id) !== undefined)).toEqual([]);
  expect(places(all, 'one', `${a.name}.999`)).toEqual([]);
});

test('ids are never given twice, not even by another hub', () => {
  const names = Array.from({ length: 50 }, () => logs().begin('one', 'g').name);
  expect(new Set(names).size).toBe(50);
});

test('one stream, one session and all together have bounds; the youngest event always stays', () => {
  const all = logs();
  const busy = all.begin('busy', 'p');
  for (let i = 0; i < mcpLimits.replayEvents + 10; i++) busy.add('x');
  expect(busy.events).toHaveLength(mcpLimits.replayEvents);
  expect(busy.events.at(-1)?.place).toBe(mcpLimits.replayEvents + 10);

  const half = 'x'.repeat(mcpLimits.replaySessionChars / 2);
  const [first, second] = [all.begin('large', 'p'), all.begin('large', 'p')];
  for (const log of [first, second]) for (let i = 0; i < 3; i++) log.add(half);
  expect(first.chars + second.chars).toBeLessThanOrEqual(mcpLimits.replaySessionChars);
  expect(second.events.at(-1)?.place).toBe(3);
  second.add('x'.repeat(mcpLimits.replaySessionChars + 1));
  expect(second.events.map(({ place }) => place)).toEqual([4]);
  expect(busy.events).toHaveLength(mcpLimits.replayEvents);

  for (let i = 0; i < 40; i++) all.begin(`session ${i}`, 'p').add(half);
  expect(all.chars).toBeLessThanOrEqual(mcpLimits.replayChars);
  expect(busy.events).toEqual([]);
});

test('what is dropped, and what belongs to a session that ended, takes no room', () => {
  const all = logs();
  const [a, b, c] = [all.begin('one', 'p'), all.begin('one', 'p'), all.begin('two', 'p')];
  for (const log of [a, b, c]) log.add('12345');
  all.drop(a);
  all.drop(a);
  expect(all.chars).toBe(10);
  all.endSession('one');
  expect(all.chars).toBe(5);
  expect(all.find('one', b.id)).toBeUndefined();
  expect(all.find('two', c.id)).toBeDefined();
});

test('of one principal only so many calls wait for their clients; the oldest gives way, and no call of another', () => {
  const all = logs();
  const over: string[] = [];
  const ends = ['bob', ...Array.from({ length: mcpLimits.resumeWaiting }, (_, i) => `ann ${i}`)].map((name) =>
    all.wait(name.slice(0, 3), () => over.push(name)),
  );
  expect(over).toEqual([]);
  all.wait('ann', () => over.push('one more'));
  expect(over).toEqual(['ann 0']);
  ends[2]?.();
  all.wait('ann', () => over.push('another'));
  expect(over).toEqual(['ann 0']);
});
