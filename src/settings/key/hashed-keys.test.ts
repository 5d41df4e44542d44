import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { addServer, settingsPlace } from '../../../test/kit/settings-place.ts';
import { sha256 } from './hashed-keys.ts';

const routing = (enableBearerAuth?: boolean) => ({
  systemConfig: { routing: { bearerAuthKey: ' old secret ', enableBearerAuth, skipAuth: false } },
});

test('keys that stand in a file as they are stay there until the first change, which hashes them; they mean the same before and after', async () => {
  const place = settingsPlace();
  const document = {
    bearerKeys: [
      { name: 'no id', token: 'first secret', note: 'kept' },
      { id: 'both', token: 'second secret', tokenHash: sha256('second secret'), owner: 'ann', kind: 'user' },
      { id: 'hash', tokenHash: sha256('third secret') },
    ],
    ...routing(true),
  };
  place.write(document);
  const store = await place.open();
  expect(place.read()).toEqual(document);
  const before = store.current.keys;
  await store.change(addServer('s'));
  expect(store.current.keys).toEqual(before);
  expect(readFileSync(place.path, 'utf8')).not.toContain('secret');
  expect(place.read()).toMatchObject({
    bearerKeys: [
      { name: 'no id', note: 'kept', tokenHash: sha256('first secret'), maskedToken: '********' },
      { id: 'both', owner: 'ann' },
      { id: 'hash' },
      { name: 'systemConfig.routing.bearerAuthKey', tokenHash: sha256('old secret'), enabled: true },
    ],
    systemConfig: { routing: { enableBearerAuth: true, skipAuth: false } },
  });
});

test.each([false, undefined])(
  'the one key of old files, which counts only with bearer authentication on, is kept switched off (%s)',
  async (enableBearerAuth) => {
    const place = settingsPlace();
    place.write(routing(enableBearerAuth));
    const store = await place.open();
    expect(store.current.keys).toEqual([]);
    await store.change(addServer('s'));
    expect(store.current.keys).toMatchObject([{ tokenHash: sha256('old secret'), enabled: false }]);
    expect(readFileSync(place.path, 'utf8')).not.toContain('old secret');
  },
);

test('the one key of old files is not kept twice', async () => {
  const place = settingsPlace();
  place.write({ bearerKeys: [{ id: 'k', token: 'old secret' }], ...routing(true) });
  const store = await place.open();
  await store.change(addServer('s'));
  expect(place.read().bearerKeys).toHaveLength(1);
});

test('a key that a change brings in plain is hashed too', async () => {
  const place = settingsPlace();
  const store = await place.open({});
  await store.change((draft) => {
    draft.systemConfig = { routing: { bearerAuthKey: 'new secret', enableBearerAuth: true } };
  });
  expect(readFileSync(place.path, 'utf8')).not.toContain('new secret');
  expect(store.current.keys).toMatchObject([{ tokenHash: sha256('new secret'), enabled: true }]);
});
