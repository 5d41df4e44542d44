import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ServerAbout } from '../../../core/catalogue.ts';
import { HubError } from '../../../core/errors.ts';
import type { ServerSettings } from '../../../core/settings/server.ts';
import { Eras, shortMemory } from './era.ts';
import { HttpAnswer, statusError } from '../../channels/http-errors.ts';
import { negotiate, type NegotiationLink } from './negotiate.ts';
import type { Answer } from '../exchange.ts';

const server = { name: 's', transport: { type: 'streamable-http', url: 'http://x', headers: {}, env: {} } } as const;
const about: ServerAbout = { info: '{}', instructions: undefined, capabilities: [], protocolVersion: '2025-11-25' };

/**
 * Negotiates with a server that answers `server/discover` with `discover`, and accepts a handshake unless `handshake`
 * throws.
 */
async function negotiated(
  discover: () => Promise<Record<string, unknown>>,
  handshake: () => Promise<ServerAbout> = async () => about,
) {
  const asked: string[] = [];
  const memory = shortMemory();
  const eras = new Eras(server as unknown as ServerSettings, memory);
  const ask = async (method: string): Promise<Answer> => {
    asked.push(method);
    const message = await discover();
    return { message, text: JSON.stringify(message) };
  };
  const link: NegotiationLink = {
    ask,
    start: (method) => ({ answer: ask(method), drop: () => undefined }),
    forgetSession: () => undefined,
  };
  const shaken = (): Promise<ServerAbout> => {
    asked.push('initialize');
    return handshake();
  };
  const options = { server: 's', handshake: shaken, deadline: performance.now() + 5_000, separate: true };
  const result = await negotiate(link, eras, options);
  return {
    era: result.era,
    about: result.about,
    asked,
    remembered: memory.recall(server as unknown as ServerSettings)?.era,
  };
}

test('whatever a server answers to the question, it is met as what it says, or with a handshake', async () => {
  const versions = fc.oneof(
    fc.array(fc.constantFrom('2026-07-28', '2025-11-25', '2024-11-05', '2031-01-01', 'draft')),
    fc.jsonValue(),
  );
  const result = fc.oneof(
    fc.jsonValue(),
    fc.record(
      { supportedVersions: versions, capabilities: fc.jsonValue(), _meta: fc.jsonValue() },
      { requiredKeys: [] },
    ),
  );
  const error = fc.oneof(
    fc.jsonValue(),
    fc.record({ code: fc.constantFrom(-32601, -32602, -32000, 0), message: fc.string() }),
  );
  const answer = fc.oneof(fc.record({ result }), fc.record({ error }), fc.constant({}));
  await fc.assert(
    fc.asyncProperty(answer, async (message) => {
      const said = (message as { result?: { supportedVersions?: unknown } | null }).result?.supportedVersions;
      const isNew = Array.isArray(said) && said.includes('2026-07-28');
      const toCome =
        Array.isArray(said) && said.includes('2031-01-01') && !said.some((one) => /^202[456]-/.test(String(one)));
      const negotiating = negotiated(async () => message);
      if (toCome) {
        await expect(negotiating).rejects.toMatchObject({ code: 'upstream_failed' });
        return;
      }
      const { era, asked, about } = await negotiating;
      expect(era).toBe(isNew ? 'stateless' : 'session');
      expect(asked).toEqual(isNew ? ['server/discover'] : ['server/discover', 'initialize']);
      // Clients of the session era cannot do without.
      if (isNew) expect(JSON.parse(about.info)).toEqual(expect.any(Object));
    }),
  );
});

const status = (code: number) => statusError('http://x', code, {}, '');

test.each([401, 429, 503])('a refusal with %i says nothing of the era, and nothing else is tried', async (code) => {
  const failing = negotiated(async () => Promise.reject(status(code)));
  await expect(failing).rejects.toMatchObject({ cause: expect.any(HttpAnswer) as unknown });
});

test.each([
  [400, 'session'],
  [404, 'session'],
  [405, 'session'],
  [403, undefined],
  [500, undefined],
] as const)('a refusal with %i leads to the handshake, and is remembered as %s', async (code, remembered) => {
  const { era, remembered: kept } = await negotiated(async () => Promise.reject(status(code)));
  expect([era, kept]).toEqual(['session', remembered]);
});

test('a server that cannot be reached is not asked twice', async () => {
  const gone = new HubError('upstream_unavailable', 'Cannot reach http://x');
  await expect(negotiated(async () => Promise.reject(gone))).rejects.toBe(gone);
});

test('a server that refuses the version and lists it is asked once more, and no more', async () => {
  const refusal = { error: { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } } };
  const answers = [refusal, { result: { supportedVersions: ['2026-07-28'] } }];
  expect((await negotiated(async () => answers.shift() ?? {})).era).toBe('stateless');
  await expect(negotiated(async () => refusal)).rejects.toMatchObject({ code: 'upstream_failed' });
});
