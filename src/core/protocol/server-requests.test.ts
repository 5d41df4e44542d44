import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  capabilitiesOf,
  capabilitiesText,
  missingFor,
  sharedCapabilities,
  unsupportedRefusal,
} from './server-requests.ts';

const any = fc.constantFrom(undefined, {}, null, true, []);
const capabilities = fc.record(
  {
    elicitation: fc.option(fc.record({ form: any, url: any }, { requiredKeys: [] }), { nil: undefined }),
    sampling: fc.option(fc.record({ tools: any, context: any }, { requiredKeys: [] }), { nil: undefined }),
    roots: fc.option(fc.record({ listChanged: fc.constantFrom(true, false, 1) }, { requiredKeys: [] }), {
      nil: undefined,
    }),
    experimental: fc.constant({ x: {} }),
  },
  { requiredKeys: [] },
);
const asks = [
  { method: 'elicitation/create', params: {} },
  { method: 'elicitation/create', params: { mode: 'form' } },
  { method: 'elicitation/create', params: { mode: 'url' } },
  { method: 'sampling/createMessage', params: {} },
  { method: 'sampling/createMessage', params: { tools: [] } },
  { method: 'roots/list', params: {} },
] as const;

test('what a client can be asked survives its way through a session’s token', () => {
  fc.assert(
    fc.property(capabilities, (declared) => {
      const abilities = capabilitiesOf(declared);
      expect(abilities).toMatch(/^f?u?(st?c?)?(rl?)?$/);
      expect(capabilitiesOf(JSON.parse(capabilitiesText(abilities)))).toBe(abilities);
    }),
  );
});

test('a client that declares what is missing can be asked', () => {
  fc.assert(
    fc.property(capabilities, fc.constantFrom(...asks), (declared, ask) => {
      const abilities = capabilitiesOf(declared);
      const missing = missingFor(ask, abilities);
      if (missing === undefined) return;
      expect(missingFor(ask, capabilitiesOf({ ...declared, ...missing }))).toBeUndefined();
    }),
  );
});

test.each([
  [{ elicitation: {} }, 'f'],
  [{ elicitation: { url: {} } }, 'u'],
  [{ elicitation: { form: {}, url: {} } }, 'fu'],
  [{ sampling: { tools: {} }, roots: { listChanged: true } }, 'strl'],
  [{ elicitation: true, sampling: 'yes', roots: [] }, ''],
  [undefined, ''],
])('%j can be asked %j', (declared, abilities) => {
  expect(capabilitiesOf(declared)).toBe(abilities);
});

test('all that can be asked can be asked of clients that share a connection', () => {
  for (const ask of asks) expect(missingFor(ask, sharedCapabilities)).toBeUndefined();
});

test('what no client can be asked at all is no method; what it did not declare is a wrong parameter', () => {
  expect(asks.map((ask) => unsupportedRefusal(ask, '').code)).toEqual(asks.map(() => -32601));
  expect(unsupportedRefusal(asks[2], 'f')).toEqual({
    code: -32602,
    message: 'The client of this call supports elicitation/create, but not mode "url".',
  });
  expect(unsupportedRefusal(asks[0], 'u').code).toBe(-32602);
  expect(unsupportedRefusal(asks[4], 's').code).toBe(-32602);
});
