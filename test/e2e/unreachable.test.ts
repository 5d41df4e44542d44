import { beforeAll, expect, test } from 'vitest';
import { api } from '../kit/api.ts';
import { documentOf } from '../kit/openapi.ts';
import { freePort } from '../kit/processes.ts';
import { rpc } from '../kit/raw.ts';
import { scriptedHttp } from '../kit/scripted-http.ts';
import { type TestHub, testHub } from '../kit/test-hub.ts';
import { until } from '../kit/until.ts';

// What callers are told of a server, or of an API, that cannot be reached: why, and what to do; not where it is.

let hub: TestHub;
let port: number;

const refused = 'connection refused. Is the server running?';
const noTls = 'it does not speak TLS. Should the address begin with http://?';

beforeAll(async () => {
  port = await freePort();
  const plain = await scriptedHttp((_seen, response) => response.end('plain'));
  const apiAt = (origin: string) => ({
    openapi: { schema: documentOf(origin, { '/thing': { get: { operationId: 'get' } } }) },
  });
  const mcpAt = (origin: string) => ({ type: 'streamable-http', url: `${origin}/mcp` });
  hub = await testHub({
    mcpServers: {
      apiRefused: apiAt(`http://127.0.0.1:${port}`),
      apiUnknown: apiAt('http://no-such-host.invalid'),
      apiPlain: apiAt(plain.origin.replace('http:', 'https:')),
      mcpRefused: mcpAt(`http://127.0.0.1:${port}`),
      mcpUnknown: mcpAt('http://no-such-host.invalid'),
      mcpPlain: mcpAt(plain.origin.replace('http:', 'https:')),
    },
  });
  await hub.connected(3);
  await until('the others have failed', () => hub.hub.servers().every(({ status }) => status !== 'connecting'));
});

const unknown = (setting: string) => `its host name is not known. Check the address in ${setting}, and the DNS.`;

test.each([
  ['apiRefused', refused],
  ['apiUnknown', unknown('the "openapi" settings, or in "servers" of the document')],
  ['apiPlain', noTls],
])('the API of %s: callers are told that %s', async (server, why) => {
  const text = `Server "${server}" cannot be reached: ${why}`;
  const { error } = await rpc(hub.mcp(), 'tools/call', { name: `${server}-get`, arguments: {} });
  expect(error).toMatchObject({ code: -32000, message: text });
  const { status, body, headers } = await api(hub, 'GET', `/tools/${server}/get`);
  expect([status, body['message']]).toEqual([503, text]);
  expect(headers['retry-after']).toBe('1');
});

test.each([
  ['mcpRefused', refused],
  ['mcpUnknown', unknown('"url"')],
  ['mcpPlain', noTls],
])('the server %s: callers are told that %s', async (server, why) => {
  // During an attempt there is no next one to tell of.
  const { status, body, headers } = await until('an attempt has failed', async () => {
    const answer = await api(hub, 'GET', `/tools/${server}/get`);
    return / Next attempt in \d+ s\.$/.test(String(answer.body['message'])) && answer;
  });
  expect(status).toBe(503);
  expect(body['message']).toContain(`Server "${server}" is not connected: ${why} `);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  for (const where of [String(port), '127.0.0.1', 'invalid']) expect(JSON.stringify(body)).not.toContain(where);
});

test('a server that goes away is told of in the same words', async () => {
  const { toldToCaller } = await import('../../src/mcp/failure.ts');
  const { connectionError } = await import('../../src/upstream/channels/http-errors.ts');
  const gone = connectionError('http://10.0.0.7/mcp', Object.assign(new Error('no'), { code: 'ECONNREFUSED' }));
  expect(toldToCaller(gone, 'alpha', 'connected').message).toBe(`Server "alpha" cannot be reached: ${refused}`);
  expect(toldToCaller(gone, 'alpha', 'disconnected').message).toBe(`Server "alpha" is not connected: ${refused}`);
  const odd = connectionError('http://10.0.0.7/mcp', new Error('connect EWHAT 10.0.0.7:80'));
  expect(toldToCaller(odd, 'alpha', 'connected').message).not.toContain('10.0.0.7');
});
