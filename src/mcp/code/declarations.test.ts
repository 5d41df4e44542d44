import { expect, test } from 'vitest';
import { declarationOf } from './declarations.ts';

const declared = (inputSchema: unknown, outputSchema?: unknown): string =>
  declarationOf('crm', 'find', { inputSchema, ...(outputSchema !== undefined && { outputSchema }) });

test.each([
  [{ type: 'object' }, 'tools.crm.find(args?: Record<string, unknown>): Promise<any>'],
  [undefined, 'tools.crm.find(args?: unknown): Promise<any>'],
  [
    { type: 'object', properties: { q: { type: 'string' }, 'a-b': { type: ['integer', 'null'] } }, required: ['q'] },
    'tools.crm.find(args: { q: string; "a-b"?: number | null }): Promise<any>',
  ],
  [
    {
      properties: {
        x: { enum: ['a', 1] },
        y: { const: true },
        z: { anyOf: [{ type: 'string' }, { type: 'boolean' }] },
      },
    },
    'tools.crm.find(args?: { x?: "a" | 1; y?: true; z?: string | boolean }): Promise<any>',
  ],
  [
    { properties: { list: { type: 'array', items: { enum: ['a', 'b'] } }, any: { type: 'array' } } },
    'tools.crm.find(args?: { list?: ("a" | "b")[]; any?: unknown[] }): Promise<any>',
  ],
  [
    { properties: { a: { type: 'string', description: 'ends */ here' } } },
    'tools.crm.find(args?: { a?: string /* ends * / here */ }): Promise<any>',
  ],
  [{ type: 'object', properties: {} }, 'tools.crm.find(args?: {}): Promise<any>'],
])('%j', (schema, expected) => {
  expect(declared(schema)).toBe(expected);
});

test('what comes back is said where the tool says it', () => {
  const output = { type: 'object', properties: { rows: { type: 'array', items: { type: 'number' } } } };
  expect(declared({ type: 'object' }, output)).toContain('Promise<{ rows?: number[] }>');
});

test('names that are no words stand in brackets', () => {
  expect(declarationOf('my-crm', 'find all', {})).toBe('tools["my-crm"]["find all"](args?: unknown): Promise<any>');
});

test('depth and choices are bounded', () => {
  const deep = (left: number): object => (left === 0 ? { type: 'string' } : { properties: { a: deep(left - 1) } });
  expect(declared(deep(50)).length).toBeLessThan(200);
  const many = { enum: Array.from({ length: 1_000 }, (_, i) => `value ${i}`) };
  expect(declared({ properties: { a: many } }).length).toBeLessThan(400);
});
