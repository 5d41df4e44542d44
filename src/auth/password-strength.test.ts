import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgePassword, weaknessOf } from './password-strength.ts';
import { codePoints } from '../../test/kit/code-points.ts';

const six = { minLength: 6, refuseCommon: false };
const strict = { minLength: 6, refuseCommon: true };

test.each([
  ['123456', 'sequence'],
  ['987654321', 'sequence'],
  ['qwertyuiop', 'sequence'],
  ['asdfgh1', 'sequence'],
  ['abcdef12', 'sequence'],
  ['password', 'common'],
  ['Password1', 'common'],
  ['p@ssw0rd!', 'common'],
  ['letmein2024', 'common'],
  ['dragon', 'common'],
  ['      ', 'repeated'],
  ['aaaaaaaaaaaa', 'repeated'],
  ['ababababab', 'repeated'],
  ['abcabcabc', 'repeated'],
  ['Ann-Lee', 'name'],
  ['annlee2024', 'name'],
  ['eelnna!', 'name'],
  ['ToolHub1', 'product'],
  ['mcp-hub!', 'product'],
  ['x7Q!ab', 'short'],
] as const)('%j is weak: %s', (password, weakness) => {
  expect(weaknessOf(password, 'ann.lee', six)).toBe(weakness);
  const { strength, refusal } = judgePassword(password, 'ann.lee', six);
  expect([strength, refusal]).toEqual(['weak', undefined]);
  const refused = judgePassword(password, 'ann.lee', strict).refusal;
  expect(refused === undefined).toBe(weakness === 'short');
});

test.each([
  'correct horse battery staple',
  'kV3#pw9!Lq',
  'Blaue Ente im Schnee',
  '我的密码是一只鸭子',
  'annleen goes swimming',
])('%j is not, and no policy of six characters refuses it', (password) => {
  const judged = judgePassword(password, 'ann.lee', strict);
  expect(judged).not.toHaveProperty('weakness');
  expect(judged).not.toHaveProperty('refusal');
  expect(['good', 'strong']).toContain(judged.strength);
});

describe('a policy', () => {
  test('of a length counts characters, not bytes or halves of them', () => {
    const twelve = { minLength: 12, refuseCommon: false };
    expect(judgePassword('🦆'.repeat(6), 'ann', twelve).refusal).toBe('must have at least 12 characters');
    expect(judgePassword('kV3#pw9!Lqx', 'ann', twelve)).toMatchObject({ strength: 'weak', weakness: 'short' });
    expect(judgePassword('kV3#pw9!Lqxy', 'ann', twelve)).not.toHaveProperty('refusal');
  });
});

test('anything can be judged, in bounded time', () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoints, maxLength: 1_024 }), fc.string({ maxLength: 128 }), (password, name) => {
      expect(judgePassword(password, name, strict).strength).toMatch(/^(?:weak|fair|good|strong)$/);
    }),
    { numRuns: 300 },
  );
  // Expressions that try every way to repeat a text would not come back.
  for (const long of ['a'.repeat(1_024), 'ab'.repeat(512), `${'abc'.repeat(341)}x`, `${'1'.repeat(1_023)}x`])
    expect(judgePassword(long, long, strict)).toBeDefined();
});
