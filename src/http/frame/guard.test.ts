import { describe, expect, test } from 'vitest';
import { createGuard, type GuardOptions } from './guard.ts';

const plain: GuardOptions = {
  allowedHosts: ['hub.example.com', 'other.example.com:8443'],
  allowedOrigins: ['https://app.example'],
  installBaseUrl: undefined,
  settingsBaseUrl: () => undefined,
  machineName: 'Desk.corp.example',
  exposed: () => false,
  trustProxy: { kind: 'auto' },
};

const socket = { remoteAddress: '127.0.0.1' };

function refused(
  headers: Record<string, string>,
  { mcp = false, ...more }: Partial<GuardOptions> & { mcp?: boolean } = {},
) {
  const request = { headers, socket };
  return createGuard({ ...plain, ...more }).refused(request, mcp) !== undefined;
}

describe('a Host', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1:3000',
    '10.1.2.3:3000',
    '169.254.169.254',
    '[::1]:3000',
    '[2001:db8::1]',
    '[::ffff:127.0.0.1]:3000',
    '[0:0:0:0:0:0:0:1]',
    '[2001:DB8:0::1]:3000',
    '[fe80::1%eth0]:3000',
    'localhost',
    'LocalHost:3000',
    'toolhub:3000',
    'tool_hub-2',
    'toolhub.default.svc',
    'toolhub.default.svc:3000',
    'toolhub.default.svc.cluster.local:3000',
    'toolhub.default.svc.k8s.internal',
    'desk.corp.example:3000',
    'DESK.corp.example',
    'desk.local:3000',
    'hub.example.com',
    'HUB.example.com:443',
    'hub.example.com:65535',
    'other.example.com:8443',
  ])('%s is let in, exposed or not', (host) => {
    for (const exposed of [true, false]) expect(refused({ host }, { exposed: () => exposed })).toBe(false);
  });

  test.each([
    '',
    'evil.example',
    'evil.example:3000',
    'localhost.',
    'toolhub.',
    'hub.example.com.',
    'other.example.com',
    'other.example.com:8444',
    'hub.example.com.evil.example',
    'localhost.evil.example',
    'foo.localhost',
    '127.1',
    '1',
    '0X7F',
    '4294967296:3000',
    'xn--a',
    '0x7f.0.0.1',
    '127.0.0.1.nip.io',
    '127.0.0.1@evil.example',
    'user@localhost',
    'user:pass@localhost:3000',
    'localhost#evil.example',
    'localhost/evil',
    'localhost:',
    'localhost:3000:3000',
    'localhost:port',
    'localhost, evil.example',
    'localhost evil.example',
    '::1',
    '::1:3000',
    '[::1',
    '[evil.example]',
    '[127.0.0.1]',
    '[::1%25evil.example/]',
    'default.svc.evil.example',
    'toolhub.default.svc.evil.example',
    'toolhub.default.svc.cluster.local.evil.example',
    'a.b.c.svc',
    'evil.local',
    'evil.internal',
    'xn--localhost-.example',
    'lоcalhost.example',
  ])('%j is refused, exposed or not', (host) => {
    for (const exposed of [true, false]) expect(refused({ host }, { exposed: () => exposed })).toBe(true);
  });

  test('that is missing is refused', () => {
    expect(refused({})).toBe(true);
  });

  test('of a base URL is let in for as long as it is one', () => {
    let url: string | undefined;
    const guard = createGuard({ ...plain, installBaseUrl: 'https://A.example:8443/x', settingsBaseUrl: () => url });
    const isRefused = (host: string) => guard.refused({ socket, headers: { host } }, false) !== undefined;
    expect(['a.example', 'a.example:9', 'b.example'].map(isRefused)).toEqual([false, false, true]);
    url = 'https://b.example';
    expect(['a.example', 'b.example', 'b.example:80', 'c.example'].map(isRefused)).toEqual([false, false, false, true]);
    url = 'https://c.example';
    expect(['b.example', 'c.example', 'c.example:99999'].map(isRefused)).toEqual([true, false, true]);
  });
});

test('a Host with a port that there is not is refused as malformed, also that of a known name', () => {
  const guard = createGuard({ ...plain, installBaseUrl: 'https://base.example' });
  for (const name of ['localhost', '127.0.0.1', '[::1]', 'toolhub', 'desk.local', 'hub.example.com', 'base.example'])
    for (const port of ['65536', '99999', '4294967297']) {
      const request = { socket, headers: { host: `${name}:${port}` } };
      expect(guard.refused(request, true)).toContain('malformed');
    }
});

describe('an Origin', () => {
  test.each([
    ['localhost:3000', 'http://localhost:3000'],
    ['LOCALHOST:3000', 'http://localhost:3000'],
    ['localhost:80', 'http://localhost'],
    ['hub.example.com', 'https://hub.example.com'],
    ['hub.example.com:443', 'https://hub.example.com'],
    ['[::1]:3000', 'http://[::1]:3000'],
    ['localhost:3000', 'https://app.example'],
  ])('at %s of %s is let in', (host, origin) => {
    for (const mcp of [true, false]) expect(refused({ host, origin }, { mcp })).toBe(false);
  });

  test.each([
    ['localhost:3000', 'null'],
    ['localhost:3000', ''],
    ['localhost:3000', 'file://'],
    ['localhost:3000', 'chrome-extension://localhost:3000'],
    ['localhost:3000', 'ws://localhost:3000'],
    ['localhost:3000', 'http://localhost:3000, http://evil.example'],
    ['localhost:3000', 'http://localhost:3000/'],
    ['localhost:3000', 'http://evil.example'],
    ['localhost:3000', 'http://localhost:3000@evil.example'],
    ['localhost:3000', 'http://localhost:3000.evil.example'],
    ['hub.example.com', 'https://hub.example.com:8443'],
    ['localhost:3000', 'https://app.example.evil.example'],
    ['localhost:3000', 'http://app.example'],
  ])('at %s of %s is refused', (host, origin) => {
    for (const mcp of [true, false]) expect(refused({ host, origin }, { mcp })).toBe(true);
  });

  test('of another port of this machine is let in on MCP endpoints of a hub that is not exposed, and nowhere else', () => {
    for (const origin of ['http://localhost:6274', 'http://127.0.0.1:9999', 'https://[::1]:1', 'http://localhost']) {
      const asked = { host: 'localhost:3000', origin };
      expect(refused(asked, { mcp: true })).toBe(false);
      expect(refused(asked, { mcp: false })).toBe(true);
      expect(refused(asked, { mcp: true, exposed: () => true })).toBe(true);
    }
  });

  test('of a base URL is let in under any Host, the default one is not', () => {
    const host = '127.0.0.1:3000';
    const installBaseUrl = 'https://hub.example/tools';
    expect(refused({ host, origin: 'https://hub.example' }, { installBaseUrl })).toBe(false);
    expect(refused({ host, origin: 'http://hub.example' }, { installBaseUrl })).toBe(true);
    expect(refused({ host, origin: 'https://hub.example:8443' }, { installBaseUrl })).toBe(true);
    expect(refused({ host, origin: 'https://b.example' }, { settingsBaseUrl: () => 'https://b.example' })).toBe(false);
    const unchosen = { settingsBaseUrl: () => 'http://localhost:3000' };
    expect(refused({ host: 'localhost:4000', origin: 'http://localhost:3000' }, unchosen)).toBe(true);
  });
});

test('what a trusted proxy says of the host is held to what Host is, unless the base URL says it', () => {
  const by = (host: string, more = {}) => refused({ host: '10.1.2.3', 'x-forwarded-host': host }, more);
  for (const mcp of [true, false]) {
    expect(by('hub.example.com', { mcp })).toBe(false);
    expect(by('evil.example', { mcp })).toBe(true);
    expect(by('hub.example.com:99999', { mcp })).toBe(true);
  }
  expect(by('evil.example', { installBaseUrl: 'https://base.example' })).toBe(false);
});
