import { beforeEach, describe, expect, test } from 'vitest';

import { answerJson, documentOf, openApi, type Received, type RestApi, restApi } from '../../../../test/kit/openapi.ts';
import { until } from '../../../../test/kit/until.ts';

let rest: RestApi;
let document: Record<string, unknown>;

beforeEach(async () => {
  rest = await restApi();
  document = documentOf(rest.origin, {
    '/who': { get: { operationId: 'who', parameters: [{ in: 'query', name: 'q' }] } },
    '/write': { post: { operationId: 'write', requestBody: { content: { 'application/json': {} } } } },
  });
});

const last = (): Received => {
  const received = rest.received.at(-1);
  if (received === undefined) throw new Error('nothing was received');
  return received;
};

describe('credentials', () => {
  const key = (place: string) => ({ type: 'apiKey', apiKey: { in: place, name: 'X-Key', value: 'k3y&=value' } });
  const http = (scheme: string, credentials: string) => ({ type: 'http', http: { scheme, credentials } });

  test.each<[string, unknown, (got: Received) => unknown, unknown]>([
    ['an API key in a header', key('header'), (got) => got.headers['x-key'], 'k3y&=value'],
    [
      'an API key in the query',
      key('query'),
      (got) => got.query,
      [
        ['q', '1'],
        ['X-Key', 'k3y&=value'],
      ],
    ],
    ['an API key in a cookie', key('cookie'), (got) => got.cookies, [['X-Key', 'k3y&=value']]],
    ['basic, as base64', http('basic', 'dXNlcjpwYXNz'), (got) => got.headers['authorization'], 'Basic dXNlcjpwYXNz'],
    [
      'basic, as user and password',
      http('Basic', 'user:pass'),
      (got) => got.headers['authorization'],
      'Basic dXNlcjpwYXNz',
    ],
    ['a bearer token', http('bearer', 'b3arer-token'), (got) => got.headers['authorization'], 'Bearer b3arer-token'],
    [
      'a token of OpenID Connect',
      { type: 'openIdConnect', openIdConnect: { token: 'oidc-token' } },
      (got) => got.headers['authorization'],
      'Bearer oidc-token',
    ],
    ['none', { type: 'none' }, (got) => [got.headers['authorization'], got.cookies], [undefined, []]],
  ])('%s: sent with every call, and blotted out where the API echoes it', async (_, security, look, expected) => {
    const result = await openApi({ schema: document, security }).call('who', { q: 1 });
    expect(look(last())).toEqual(expected);
    expect(JSON.stringify(result)).not.toMatch(/k3y|dXNlcjpwYXNz|b3arer|oidc-token/);
  });

  test('in headers of the server are sent, too, and blotted out', async () => {
    const api = openApi(
      { schema: document },
      { headers: { Authorization: 'Bearer from-headers', 'X-Tenant': 'tenant-seven' } },
    );
    const got = await api.sent('who', {});
    expect(last().headers).toMatchObject({ authorization: 'Bearer from-headers', 'x-tenant': 'tenant-seven' });
    expect(got.headers).toMatchObject({
      authorization: 'Bearer ••••',
      'x-tenant': 'tenant-seven',
    });
  });

  test('fetch the document as well, unless it has its own or is to have none', async () => {
    const url = `${rest.origin}/doc`;
    rest.on('/doc', (got, res) =>
      answerJson(
        res,
        got.headers['authorization'] === undefined
          ? document
          : { ...document, info: { title: got.headers['authorization'] } },
      ),
    );
    const title = async (more: unknown) => {
      const { result } = await openApi({ url, security: http('bearer', 'for-the-api'), ...(more as object) }).request(
        'initialize',
        {},
      );
      return (result as { serverInfo: { title: string } }).serverInfo.title;
    };
    expect(await title({})).toBe('Bearer for-the-api');
    expect(await title({ specSecurity: http('bearer', 'for-the-document') })).toBe('Bearer for-the-document');
    expect(await title({ specSecurity: { type: 'none' } })).toBe('Echo');
  });
});

let asked: Received[];
let valid: string;
/** Set by a test to hold the token endpoint's answers back. */
let gate: Promise<void>;

const security = (more = {}) => ({
  type: 'oauth2',
  oauth2: {
    tokenUrl: `${rest.origin}/token`,
    clientId: 'the client',
    clientSecret: 's3cret+value',
    scopes: ['read', 'write'],
    ...more,
  },
});

function setUpTokens(): void {
  asked = [];
  gate = Promise.resolve();
  valid = 'token-1';
  rest.on('/token', async (got, res) => {
    asked.push(got);
    await gate;
    valid = `token-${asked.length}`;
    answerJson(res, { access_token: valid, token_type: 'bearer', expires_in: 3600 });
  });
  const guarded = (got: Received, res: Parameters<typeof answerJson>[0]) => {
    if (got.headers['authorization'] === `Bearer ${valid}`) answerJson(res, got);
    else answerJson(res, { error: 'invalid_token', sent: got.headers['authorization'] }, 401);
  };
  rest.on('/who', guarded);
  rest.on('/write', guarded);
}

describe('OAuth client credentials', () => {
  beforeEach(setUpTokens);

  test('are exchanged once for all callers, and the token is kept', async () => {
    let open = () => {};
    gate = new Promise((done) => {
      open = done;
    });
    const api = openApi({ schema: document, security: security() });
    const calls = Array.from({ length: 20 }, () => api.call('who', {}));
    await until('the token is asked for', () => asked.length > 0);
    open();
    const results = await Promise.all(calls);
    expect(results.every(({ isError }) => isError === undefined)).toBe(true);
    await api.call('who', {});
    expect(asked).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'the client',
      client_secret: 's3cret+value',
      scope: 'read write',
    });
    expect(JSON.stringify(results)).not.toMatch(/token-\d|s3cret/);
  });

  test('are exchanged again, once for all, when the token is refused', async () => {
    const api = openApi({ schema: document, security: security() });
    await api.call('who', {});
    valid = 'revoked';
    const results = await Promise.all(Array.from({ length: 10 }, () => api.sent('write', { body: { a: 1 } })));
    expect(results.every(({ body }) => body === '{"a":1}')).toBe(true);
    expect(asked).toHaveLength(2);
  });

  test('are not exchanged for ever: a second refusal is the answer, without the token', async () => {
    rest.on('/who', (got, res) => answerJson(res, { why: `${got.headers['authorization']} is not welcome` }, 401));
    const result = await openApi({ schema: document, security: security() }).call('who', {});
    expect(result).toEqual({
      isError: true,
      content: [{ type: 'text', text: 'HTTP 401 Unauthorized\n{"why":"Bearer •••• is not welcome"}' }],
    });
    expect(asked).toHaveLength(2);
    expect(rest.received.filter(({ path }) => path === '/who')).toHaveLength(2);
  });

  test('are exchanged before the token ends', async () => {
    rest.on('/token', (got, res) => {
      asked.push(got);
      answerJson(res, { access_token: valid, expires_in: 20 });
    });
    const api = openApi({ schema: document, security: security() });
    await api.call('who', {});
    await api.call('who', {});
    expect(asked).toHaveLength(2);
  });
});

describe('OAuth token endpoints', () => {
  beforeEach(setUpTokens);

  test('are not asked as long as a token of the settings is good', async () => {
    valid = 'given-token';
    const api = openApi({ schema: document, security: security({ token: 'given-token' }) });
    await api.sent('who', {});
    expect(asked).toHaveLength(0);
    valid = 'another';
    await api.sent('who', {});
    expect(asked).toHaveLength(1);
    await openApi({ schema: document, security: security({ token: 'old', expiresAt: Date.now() - 1 }) }).sent(
      'who',
      {},
    );
    expect(asked).toHaveLength(2);
  });

  test('that want HTTP Basic get it', async () => {
    rest.on('/token', (got, res) => {
      asked.push(got);
      if (got.headers['authorization'] === undefined) answerJson(res, { error: 'invalid_client' }, 401);
      else answerJson(res, { access_token: valid });
    });
    await openApi({ schema: document, security: security() }).sent('who', {});
    expect(asked).toHaveLength(2);
    expect(asked[1]?.body).not.toContain('s3cret');
    expect(Buffer.from(asked[1]?.headers['authorization']?.slice(6) ?? '', 'base64').toString()).toBe(
      'the+client:s3cret%2Bvalue',
    );
  });

  test.each<[string, number, unknown, string]>([
    ['an OAuth error', 400, { error: 'invalid_scope', error_description: 'echo s3cret+value' }, 'invalid_scope'],
    ['anything else', 500, '<h1>s3cret+value</h1>', 'HTTP 500'],
    ['no token', 200, { nothing: 's3cret+value' }, 'no access_token in the answer'],
    ['a token with a line break', 200, { access_token: 'a\r\nX: s3cret' }, 'no access_token in the answer'],
  ])('that answer %s fail the call, and the secret is not in the reason', async (_, status, body, why) => {
    rest.on('/token', (_got, res) => answerJson(res, body, status));
    const api = openApi({ schema: document, security: security() });
    const error = await api.call('who', {}).catch((thrown: unknown) => thrown as Error);
    expect(error).toMatchObject({ code: 'upstream_failed', message: expect.stringContaining(why) });
    expect((error as Error).message).not.toContain('s3cret');
    expect(rest.received.some(({ path }) => path === '/who')).toBe(false);
  });

  test('that never answer fail the call in time, with the reason', async () => {
    rest.on('/token', () => {});
    const api = openApi({ schema: document, security: security() }, { timeoutMs: 100 });
    await expect(api.call('who', {})).rejects.toMatchObject({ code: 'timeout' });
  });

  test('that redirect are not followed', async () => {
    const thief = await restApi();
    rest.on('/token', (_, res) => res.writeHead(307, { location: `${thief.origin}/steal` }).end());
    await expect(openApi({ schema: document, security: security() }).call('who', {})).rejects.toMatchObject({
      code: 'upstream_failed',
    });
    expect(thief.received).toEqual([]);
  });

  test('that a caller no longer waits for still answer the others', async () => {
    let open = () => {};
    gate = new Promise((done) => {
      open = done;
    });
    const api = openApi({ schema: document, security: security() });
    void api.call('who', {}).catch(() => {});
    const second = api.call('who', {});
    await until('the token is asked for', () => asked.length > 0);
    api.channel.abandon(1);
    open();
    expect((await second).isError).toBeUndefined();
  });
});
