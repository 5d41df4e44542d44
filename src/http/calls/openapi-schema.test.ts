import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { resolveRef } from '../../core/schema/ref.ts';
import { hasReferences, rebased } from './openapi-schema.ts';

const at = '#/components/schemas/x';
const rebasedValue = (schema: unknown) => JSON.parse(rebased(JSON.stringify(schema), at)) as Record<string, unknown>;

test('a schema without references stays byte for byte', () => {
  const text = '{ "type":"object", "properties": {"n": {"maximum": 18446744073709551615 }} }';
  expect(rebased(text, at)).toBe(text);
  expect(hasReferences(text)).toBe(false);
});

test('what a local reference named is what it names in the document', () => {
  const schema = {
    properties: { a: { $ref: '#/$defs/no~1de' }, b: { $ref: '#/definitions/n%20m' }, c: { $ref: '#' } },
    $defs: { 'no/de': { items: { $ref: '#/$defs/no~1de' } } },
    definitions: { 'n m': { type: 'string' } },
  };
  const document = { components: { schemas: { x: rebasedValue(schema) } } };
  const { properties } = document.components.schemas.x as { properties: Record<string, { $ref: string }> };
  expect(resolveRef(document, properties['a']?.$ref ?? '')).toEqual({ items: { $ref: `${at}/$defs/no~1de` } });
  expect(resolveRef(document, properties['b']?.$ref ?? '')).toEqual({ type: 'string' });
  expect(resolveRef(document, properties['c']?.$ref ?? '')).toBe(document.components.schemas.x);
});

describe('nothing is fetched for a tool server', () => {
  test.each([
    'http://198.51.100.1/x',
    'other.json#/a',
    '//evil.example/x',
    '#/nothing/there',
    '#anchor',
    'file:///etc/passwd',
  ])('%s is a comment', ($ref) => {
    expect(rebasedValue({ properties: { a: { $ref } } })).toEqual({ properties: { a: { $comment: `$ref ${$ref}` } } });
  });

  test('however the key is spelled', () => {
    expect(rebased('{"a":["x:","\\":\\"",":"],"\\u0024re\\u0066" : "http://x"}', at)).toBe(
      '{"a":["x:","\\":\\"",":"],"$comment":"$ref http://x"}',
    );
  });

  test('a base of its own would lead every reference astray', () => {
    expect(rebasedValue({ $id: 'http://evil.example/', $ref: '#/$defs/a', $defs: { a: true } })).toEqual({
      $comment: '$id http://evil.example/',
      $ref: `${at}/$defs/a`,
      $defs: { a: true },
    });
  });
});

test('properties of these names, and texts that look like references, are left alone', () => {
  const schema = {
    properties: { $ref: { type: 'string' }, $id: { type: 'integer' } },
    description: 'like "$ref": "#/$defs/a" or \\"$ref":"http://x"',
    $ref: '#/properties',
  };
  expect(rebasedValue(schema)).toEqual({ ...schema, $ref: `${at}/properties` });
});

test('texts of megabytes, of quotes and backslashes, and deep nesting cost time and nothing else', () => {
  const long = JSON.stringify({ description: '\\"'.repeat(1_000_000), $ref: '#' });
  expect(rebased(long, at).endsWith(`"$ref":"${at}"}`)).toBe(true);
  const many = JSON.stringify({ enum: Array.from({ length: 100_000 }, (_, i) => `"$ref":"#${i}`) });
  expect(rebased(many, at)).toBe(many);
  const deep = `${'{"items":'.repeat(50_000)}{"$ref":"http://x"}${'}'.repeat(50_000)}`;
  expect(rebased(deep, at)).toContain('{"$comment":"$ref http://x"}');
});

test('whatever else is in a schema comes out as it went in', () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(rebased(text, at)).toBe(text);
    }),
  );
});
