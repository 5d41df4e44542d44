import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { atEnd } from '../../../test/kit/at-end.ts';
import { logLines } from '../../../test/kit/channel-log.ts';
import { catalogueDigest, catalogueSaver, loadCatalogue, type SavedOffer, startCatalogue } from './saved-catalogue.ts';

const offerOf = (server: string, tools: number): SavedOffer => ({
  fingerprint: `of "${server}"`,
  offer: {
    server,
    about: { info: '{}', instructions: undefined, capabilities: ['tools'], protocolVersion: '2025-11-25' },
    tools: Array.from({ length: tools }, (_, i) => ({
      key: `t${i}`,
      text: `{"name":"t${i}","description":"ü → \\n"}`,
    })),
    prompts: [{ key: 'ask', text: '{"name":"ask"}' }],
    resources: [],
    templates: [],
    hints: { tools: { ttlMs: 5, scope: 'public' } },
    held: ['x://held'],
  },
});

test('a catalogue of any size is read as it was saved, and is not written again as long as it is the same', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'catalogue.json');
  const offers = [offerOf('none', 0), offerOf('a', 100), offerOf('b', 250)];
  const saver = catalogueSaver(path, await catalogueDigest([]), { toSave: () => offers }, logLines());
  await saver.close();
  expect(await loadCatalogue(path, logLines())).toEqual(JSON.parse(JSON.stringify(offers)));
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    version: 1,
    offers: JSON.parse(JSON.stringify(offers)) as unknown,
  });
  const { ino } = statSync(path);
  const again = await loadCatalogue(path, logLines());
  await catalogueSaver(path, await catalogueDigest(again), { toSave: () => offers }, logLines()).close();
  expect(statSync(path).ino).toBe(ino);
  await catalogueSaver(path, await catalogueDigest(again), { toSave: () => offers.slice(1) }, logLines()).close();
  expect(await loadCatalogue(path, logLines())).toHaveLength(2);
});

test('a further worker begins with what the first has saved, and saves its own file all the same', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  const [first, own] = [join(folder, 'first.json'), join(folder, 'own.json')];
  const offers = [offerOf('a', 1)];
  await catalogueSaver(first, await catalogueDigest([]), { toSave: () => offers }, logLines()).close();
  const { saved, savedDigest } = await startCatalogue(own, first, logLines());
  expect(saved).toEqual(await loadCatalogue(first, logLines()));
  await catalogueSaver(own, savedDigest, { toSave: () => offers }, logLines()).close();
  expect(await loadCatalogue(own, logLines())).toEqual(saved);
});

test('what is offered is not gone through again as long as it is the same', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'catalogue-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  let read = 0;
  const counted = (key: string) => ({
    key,
    get text() {
      read += 1;
      return '{}';
    },
  });
  const offered = () => {
    const { fingerprint, offer } = offerOf('a', 0);
    return { fingerprint, offer: { ...offer, tools: [counted('t')] } };
  };
  let offers = [offered()];
  const pool = { toSave: () => offers.map((one) => ({ ...one })) };
  const saver = catalogueSaver(join(folder, 'catalogue.json'), await catalogueDigest([]), pool, logLines());
  await saver.close();
  const once = read;
  await saver.close();
  expect(read).toBe(once);
  offers = [offered()];
  await saver.close();
  expect(read).toBeGreaterThan(once);
});
