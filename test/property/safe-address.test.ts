import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { request } from 'undici';
import { beforeAll, describe, expect, test } from 'vitest';

import { guardedAgent } from '../../src/upstream/channels/safe-address.ts';
import type { AddressPolicy, Resolve } from '../../src/upstream/channels/safe-address.ts';
import { atEnd } from '../kit/at-end.ts';

const nobody: AddressPolicy = { allowPrivateAddresses: false, allowedCidrs: [] };
let port = 0;
let reached = 0;

beforeAll(async () => {
  const server = createServer((_req, res) => {
    reached++;
    res.end('inside');
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  port = (server.address() as AddressInfo).port;
  atEnd(() => new Promise((done) => server.close(done)));
});

function get(url: string, policy: AddressPolicy, resolve?: Resolve): Promise<string> {
  const dispatcher = guardedAgent(policy, {}, resolve);
  atEnd(() => dispatcher.destroy());
  return request(url, { dispatcher }).then((answer) => answer.body.text());
}

describe('connections to addresses inside the network', () => {
  test.each([
    'http://127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://017700000001:PORT/',
    'http://0x7f000001:PORT/',
    'http://0x7f.1:PORT/',
    'http://127.1:PORT/',
    'http://0:PORT/',
    'http://[::1]:PORT/',
    'http://[::ffff:127.0.0.1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://[64:ff9b::7f00:1]:PORT/',
    'http://169.254.169.254/latest/meta-data/',
    'http://localhost:PORT/',
  ])('%s is refused before anything is sent', async (url) => {
    const before = reached;
    await expect(get(url.replace('PORT', String(port)), nobody)).rejects.toMatchObject({
      name: 'HubError',
      code: 'forbidden',
      message: expect.stringContaining('not on the public internet'),
    });
    expect(reached).toBe(before);
  });

  test('the refusal does not tell which address the name has', async () => {
    const error = await get(`http://localhost:${port}/`, nobody).catch((thrown: unknown) => thrown);
    expect((error as Error).message).not.toContain('127.0.0.1');
    expect(String((error as Error).cause)).toMatch(/127\.0\.0\.1|::1/);
  });

  test('are allowed to an administrator, and within the ranges named', async () => {
    const url = `http://127.0.0.1:${port}/`;
    expect(await get(url, { allowPrivateAddresses: true, allowedCidrs: [] })).toBe('inside');
    expect(await get(url, { allowPrivateAddresses: false, allowedCidrs: ['127.0.0.0/8'] })).toBe('inside');
    expect(await get(`http://[::ffff:7f00:1]:${port}/`, { ...nobody, allowedCidrs: ['127.0.0.1'] })).toBe('inside');
    await expect(get(url, { allowPrivateAddresses: false, allowedCidrs: ['10.0.0.0/8'] })).rejects.toThrow(/public/);
  });

  test('a range that cannot be read is an error of the settings', () => {
    expect(() => guardedAgent({ allowPrivateAddresses: true, allowedCidrs: ['10.0.0.0/40'] })).toThrow(
      expect.objectContaining({ code: 'misconfigured', message: expect.stringContaining('10.0.0.0/40') }),
    );
  });
});

describe('names that change their address', () => {
  test('are judged by the address in use, at every connection', async () => {
    // A name that was public when it was looked at, and is loopback when it is connected to.
    const asked: string[] = [];
    const resolve: Resolve = (hostname, _options, done) => {
      asked.push(hostname);
      done(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const before = reached;
    for (let round = 0; round < 2; round++) {
      await expect(get(`http://rebind.example:${port}/`, nobody, resolve)).rejects.toMatchObject({ code: 'forbidden' });
    }
    expect(asked).toEqual(['rebind.example', 'rebind.example']);
    expect(reached).toBe(before);
  });

  test('of several addresses only the allowed ones are tried', async () => {
    const both: Resolve = (_hostname, _options, done) =>
      done(null, [
        { address: '10.255.255.1', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ]);
    expect(await get(`http://both.example:${port}/`, { ...nobody, allowedCidrs: ['127.0.0.1'] }, both)).toBe('inside');
  });

  test('a name that does not resolve fails as such', async () => {
    const none: Resolve = (_hostname, _options, done) =>
      done(Object.assign(new Error('getaddrinfo ENOTFOUND none.example'), { code: 'ENOTFOUND' }), []);
    await expect(get('http://none.example/', nobody, none)).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });
});
