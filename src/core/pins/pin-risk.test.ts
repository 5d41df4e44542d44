import { describe, expect, test } from 'vitest';
import { riskOf } from './pin-risk.ts';

// What is said of a change, word for word; signs of texts against the user are in `pin-states.test.ts`.

const tool = (more: object) => JSON.stringify({ name: 't', description: 'Reads.', ...more });
const schema = (path: object | undefined, more: object = {}) => ({
  inputSchema: { type: 'object', properties: { ...(path && { path }) }, ...more },
});
const changed = (before: object, now: object) => riskOf('tool', tool(before), tool(now));
const low = (...reasons: string[]) => ({ risk: reasons.length > 0 ? 'low' : 'none', reasons });

describe('a change of a tool', () => {
  test.each<[string, object, object, string[]]>([
    ['nothing', { outputSchema: {} }, { outputSchema: {} }, []],
    ['a title', {}, { title: 'T' }, []],
    ['the description', {}, { description: 'Reads all.' }, ['The description has changed.']],
    ['the output', { outputSchema: {} }, {}, ['What it answers has changed.']],
    ['its page', {}, { _meta: { ui: {} } }, ['The page that it shows has changed.']],
    ['a new argument', schema(undefined), schema({}), ['It has new arguments: "path".']],
    ['an argument that is gone', schema({}), schema(undefined), ['Arguments are gone: "path".']],
    [
      'arguments of any name',
      schema({}, { additionalProperties: false }),
      schema({}),
      ['It takes arguments of any name now.'],
    ],
    [
      'no more names than before',
      schema({}, { additionalProperties: false }),
      schema({}, { additionalProperties: false }),
      [],
    ],
    ['names that were free already', schema({}), schema({}), []],
    [
      'its world',
      { annotations: { openWorldHint: false } },
      { annotations: {} },
      ['It no longer says that it stays within its own world.'],
    ],
    ['a world that stays', { annotations: { openWorldHint: false } }, { annotations: { openWorldHint: false } }, []],
    ['a world that was open', { annotations: { openWorldHint: true } }, {}, []],
  ])('of %s', (_, before, now, reasons) => {
    expect(changed(before, now)).toEqual(low(...reasons));
  });

  test.each(['pattern', 'format', 'maxLength', 'maximum', 'minimum', 'maxItems'])(
    'whose argument loses its %s takes more, and one that gets it is another',
    (bound) => {
      const [bounded, free] = [schema({ [bound]: 1 }), schema({ description: 'x' })];
      expect(changed(bounded, free)).toEqual(low('It takes more than before in "path".'));
      expect(changed(free, bounded)).toEqual(low('Arguments have changed: "path".'));
      expect(changed(bounded, bounded)).toEqual(low());
    },
  );

  test.each<[object | boolean, object | boolean, 'wider' | 'other']>([
    [{ type: 'string' }, { type: ['string', 'number'] }, 'wider'],
    [{ type: ['string', 'number'] }, { type: 'string' }, 'other'],
    [{ type: 'string' }, {}, 'wider'],
    [{}, { type: 'string' }, 'other'],
    [{ enum: ['a'] }, { enum: ['a', 'b'] }, 'wider'],
    [{ enum: ['a', 'b'] }, { enum: ['a'] }, 'other'],
    [{ const: 1 }, { const: 2 }, 'wider'],
    [false, true, 'wider'],
    [{ type: 'string' }, true, 'wider'],
    [true, { type: 'string' }, 'wider'],
  ])('whose argument was %j and is %j: %s', (before, now, what) => {
    const reason = what === 'wider' ? 'It takes more than before in "path".' : 'Arguments have changed: "path".';
    const properties = (path: unknown) => ({ inputSchema: { type: 'object', properties: { path } } });
    expect(changed(properties(before), properties(now))).toEqual(low(reason));
  });

  test('names ten arguments at most', () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`a${i}`, {}]));
    const { reasons } = changed({ inputSchema: {} }, { inputSchema: { properties: many } });
    expect(reasons).toEqual([expect.stringMatching(/^It has new arguments: ("a\d", ){9}"a9"\.$/)]);
  });

  test('that takes back a promise is high, with that first', () => {
    const promised = { annotations: { readOnlyHint: true, destructiveHint: false } };
    expect(changed(promised, { description: 'x' })).toEqual({
      risk: 'high',
      reasons: [
        'It no longer says that it only reads.',
        'It no longer says that it destroys nothing.',
        'The description has changed.',
      ],
    });
    expect(changed(promised, promised)).toEqual(low());
    expect(changed({}, promised)).toEqual(low());
  });
});

describe('a change of something else', () => {
  const of = (kind: 'instructions' | 'prompt' | 'resource', before: unknown, now: unknown) =>
    riskOf(kind, before === undefined ? undefined : JSON.stringify(before), JSON.stringify(now));

  test('of instructions, which are all that there is of them', () => {
    expect(of('instructions', 'Be kind.', 'Be quick.')).toEqual(low('The instructions for the model have changed.'));
    expect(of('instructions', 'Be kind.', 'Be kind.')).toEqual(low());
    expect(of('instructions', undefined, 'Be kind.')).toEqual(low());
  });

  test('of the arguments of a prompt, and not of a resource', () => {
    const [before, now] = [{ arguments: [] }, { arguments: [{ name: 'a' }] }];
    expect(of('prompt', before, now)).toEqual(low('Its arguments have changed.'));
    expect(of('prompt', now, now)).toEqual(low());
    expect(of('resource', before, now)).toEqual(low());
  });

  test('takes back no promise, and has no schema', () => {
    const before = { annotations: { readOnlyHint: true }, inputSchema: { properties: { a: {} } } };
    expect(of('resource', before, {})).toEqual(low());
    expect(of('prompt', undefined, {})).toEqual(low());
  });
});

test('what is new and does not say that it only reads is low; that of another kind is none', () => {
  expect(riskOf('tool', undefined, tool({}))).toEqual(low('It is new, and does not say that it only reads.'));
  expect(riskOf('tool', undefined, tool({ annotations: { readOnlyHint: 'true' } }))).toMatchObject({ risk: 'low' });
  expect(riskOf('resource', undefined, tool({}))).toEqual(low());
});
