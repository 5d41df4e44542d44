import { expect, test } from 'vitest';
import { inOrderOf } from './json.ts';

test('members stand in the order of a model, at any depth, and none is lost', () => {
  const model = { owner: 'a', command: 'x', env: { B: '1', A: '2' }, list: [{ p: 1, q: 2 }] };
  const value = { new: 1, command: 'y', env: { A: '2', C: '3', B: '1' }, list: [{ q: 2, p: 1 }, { z: 1 }], owner: 'a' };
  expect(JSON.stringify(inOrderOf(model, value))).toBe(
    '{"owner":"a","command":"y","env":{"B":"1","A":"2","C":"3"},"list":[{"p":1,"q":2},{"z":1}],"new":1}',
  );
  expect(inOrderOf(undefined, value)).toBe(value);
  expect(inOrderOf(model, 'text')).toBe('text');
});
