import fc from 'fast-check';
import { expect, test } from 'vitest';
import { metaKeys } from '../../../core/protocol/stateless.ts';
import { createEnvelope } from './request-writer.ts';

const envelope = createEnvelope('1.2.3', (tool, args) => ['mcp-param-x', `${tool} ${JSON.stringify(args)}`]);
const own = {
  [metaKeys.protocolVersion]: '2026-07-28',
  [metaKeys.clientInfo]: { name: 'toolhub', title: 'Tool Hub', version: '1.2.3' },
};

/** What the server reads. */
const read = (params: string | undefined, facts = {}): unknown => JSON.parse(envelope.params(params, facts));

test('whatever the params are, the server reads them as they were, with what the request says of itself', () => {
  const json = fc.jsonValue({ depthSize: 'small' });
  const meta = fc.dictionary(fc.oneof(fc.constantFrom(...Object.values(metaKeys)), fc.string()), json);
  const params = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('name', 'arguments')), json);
  fc.assert(
    fc.property(params, fc.option(fc.oneof(meta, json)), fc.boolean(), (params, meta, spaced) => {
      const given = { ...params, ...(meta !== null && { _meta: meta }) };
      const text = JSON.stringify(given, null, spaced ? 2 : undefined);
      const { [metaKeys.logLevel]: _, ...kept } =
        typeof meta === 'object' && meta !== null && !Array.isArray(meta) ? (meta as Record<string, unknown>) : {};
      // Through JSON, where `__proto__` is a member like any other and -0 is 0.
      const expected = {
        ...(JSON.parse(text) as object),
        _meta: { ...kept, ...own, [metaKeys.clientCapabilities]: {} },
      };
      expect(read(text)).toEqual(JSON.parse(JSON.stringify(expected)));
    }),
  );
});

test('what is no object is not made another thing', () => {
  for (const text of ['[{"a":1}]', '"{}"', 'null']) expect(envelope.params(text, {})).toBe(text);
});

test('a `_meta` in another spelling is the same', () => {
  expect(read('{"_m\\u0065ta":{"a":1}}')).toEqual({ _meta: { a: 1, ...own, [metaKeys.clientCapabilities]: {} } });
});

test('of the client only what it can do goes along, and how much it wants to read', () => {
  const facts = { capabilities: '{"roots":{}}', logLevel: 'error' };
  const said = { ...own, [metaKeys.clientCapabilities]: { roots: {} }, [metaKeys.logLevel]: 'error' };
  for (const text of [undefined, '{}', ' { } ', '{"_meta":{}}', `{"_meta":{"${metaKeys.logLevel}":"debug"}}`])
    expect(read(text, facts)).toEqual({ _meta: said });
  expect(read(`{"_meta":{"${metaKeys.logLevel}":"debug"}}`)).toEqual({
    _meta: { ...own, [metaKeys.clientCapabilities]: {} },
  });
});

test('the trace of the request goes along, in place of that of the client', () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`;
  const said = { ...own, [metaKeys.clientCapabilities]: {}, traceparent };
  const given = ['{}', '{"_meta":7}', '{"_meta":{"traceparent":"x","tracestate":"a=1"}}'];
  for (const text of [undefined, ...given]) {
    expect(read(text, { trace: { traceparent } })).toEqual({ _meta: said });
    const trace = { traceparent, tracestate: 'b=2' };
    expect(read(text, { trace })).toEqual({ _meta: { ...said, tracestate: 'b=2' } });
  }
});

test('headers name what is asked for, from what is known or from the params', () => {
  const name = ['mcp-name', 'a b'];
  expect(envelope.headers('tools/list', undefined, {})).toEqual(['mcp-method', 'tools/list']);
  expect(envelope.headers('prompts/get', '{"name":"a b"}', {})).toEqual(['mcp-method', 'prompts/get', ...name]);
  expect(envelope.headers('resources/read', '{"uri":"x"}', { name: 'a b' })).toEqual([
    'mcp-method',
    'resources/read',
    ...name,
  ]);
  expect(envelope.headers('tools/call', '{"name":"a b","arguments":{}}', { args: { n: 1 } })).toEqual([
    'mcp-method',
    'tools/call',
    ...name,
    'mcp-param-x',
    'a b {"n":1}',
  ]);
});
