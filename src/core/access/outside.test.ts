import { describe, expect, test } from 'vitest';
import { createOutside, isFromOutside, type Place } from './outside.ts';

const local: Place = { host: '127.0.0.1', installBaseUrl: undefined, allowedHosts: [] };

describe('a hub is exposed', () => {
  test.each<[string, Partial<Place>, string | undefined, boolean]>([
    ['on loopback', {}, undefined, false],
    ['on the other loopback', { host: '::1' }, undefined, false],
    ['on localhost', { host: 'localhost' }, undefined, false],
    ['on every address', { host: '0.0.0.0' }, undefined, true],
    ['on every IPv6 address', { host: '::' }, undefined, true],
    ['on one address of a network', { host: '192.168.1.7' }, undefined, true],
    ['by a name in ALLOWED_HOSTS', { allowedHosts: ['localhost:3000', 'hub.example.com'] }, undefined, true],
    ['by an address in ALLOWED_HOSTS', { allowedHosts: ['10.0.0.7:3000'] }, undefined, true],
    ['not by loopback names in ALLOWED_HOSTS', { allowedHosts: ['localhost:3000', '[::1]:3000'] }, undefined, false],
    ['by INSTALL_BASE_URL', { installBaseUrl: 'https://hub.example.com/x' }, undefined, true],
    ['not by a local INSTALL_BASE_URL', { installBaseUrl: 'http://127.0.0.1:8080' }, undefined, false],
    ['by the settings', {}, 'https://hub.example.com', true],
    ['not by what every file of MCPHub says', {}, 'http://localhost:3000', false],
    ['not by that beside a local address', { installBaseUrl: 'http://[::1]:8080' }, 'http://localhost:3000', false],
    ['by the settings beside a local address', { installBaseUrl: 'http://[::1]:8080' }, 'http://hub:3000', true],
  ])('%s', (_, place, settingsBaseUrl, expected) => {
    expect(createOutside({ ...local, ...place }, () => settingsBaseUrl).exposed()).toBe(expected);
  });

  test('from the moment the settings say so', () => {
    let url: string | undefined;
    const outside = createOutside(local, () => url);
    const request = { headers: {}, socket: { remoteAddress: '127.0.0.1' } };
    const heard = [undefined, 'https://hub.example.com', 'http://localhost:3000'].map((next) => {
      url = next;
      return [outside.exposed(), outside.reaches(request)];
    });
    expect(heard).toEqual([
      [false, false],
      [true, true],
      [false, false],
    ]);
  });
});

test.each<[string | undefined, Record<string, string>, boolean]>([
  ['127.0.0.1', {}, false],
  ['127.9.9.9', {}, false],
  ['::1', {}, false],
  ['::ffff:127.0.0.1', {}, false],
  ['::ffff:7f00:1', {}, false],
  ['10.0.0.7', {}, true],
  ['::ffff:10.0.0.7', {}, true],
  ['fe80::1%eth0', {}, true],
  ['not an address', {}, true],
  // A socket in the file system, or a connection that is gone.
  [undefined, {}, true],
  ['127.0.0.1', { 'x-forwarded-for': '127.0.0.1' }, true],
  ['127.0.0.1', { 'x-forwarded-for': '' }, true],
  ['127.0.0.1', { forwarded: 'for=127.0.0.1' }, true],
  ['127.0.0.1', { 'x-real-ip': '127.0.0.1' }, true],
  ['127.0.0.1', { via: '1.1 proxy' }, true],
  ['127.0.0.1', { 'x-forwarded-host': 'hub.example', 'user-agent': 'x' }, false],
])('a request of %s with %j is from outside: %s', (remoteAddress, headers, expected) => {
  expect(isFromOutside({ headers, socket: { remoteAddress } })).toBe(expected);
});
