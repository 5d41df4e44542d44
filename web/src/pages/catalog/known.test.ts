import { expect, test } from 'vitest';
import { z } from 'zod';
import { serverNameProblem } from '../../../../src/settings/server/server-entry.ts';
import { languages, tags } from '../../i18n/i18n.ts';
import { withGiven } from '../servers/asks.ts';
import { configOf } from '../servers/config.ts';
import { categories, kinds, knownDraft, knownServers, requirementsOf } from './known.ts';

const page = z.url({ protocol: /^https$/ });
const text = z.string().min(1);
const values = z.record(z.string().regex(/^[\w-]+$/), z.string());
const shape = z.strictObject({
  name: text.refine((name) => serverNameProblem(name) === undefined),
  title: text.max(30),
  category: z.enum(categories),
  // One sentence.
  about: text.max(100).endsWith('.'),
  home: page,
  npm: z
    .string()
    .regex(/^(?:@[\w.-]+\/)?[\w.-]+$/)
    .optional(),
  pypi: z
    .string()
    .regex(/^[\w.-]+$/)
    .optional(),
  url: page.optional(),
  args: z.array(text).optional(),
  env: values.optional(),
  headers: values.optional(),
  signIn: z.literal(true).optional(),
  needs: z
    .array(
      z.strictObject({ key: text, kind: z.enum(kinds), optional: z.literal(true).optional(), from: page.optional() }),
    )
    .optional(),
});

test('each server of the list says what it does, how it is started, and where its home is', () => {
  expect(z.array(shape).min(40).max(80).safeParse(knownServers).error).toBeUndefined();
  for (const { name, npm, pypi, url, args, env, headers } of knownServers) {
    const ways = [npm, pypi, url].filter((way) => way !== undefined);
    expect([name, ways.length]).toEqual([name, 1]);
    expect([name, url === undefined ? headers : (args ?? env)]).toEqual([name, undefined]);
  }
  expect(new Set(knownServers.map(({ name }) => name)).size).toBe(knownServers.length);
  expect(categories.filter((category) => knownServers.every((server) => server.category !== category))).toEqual([]);
});

test.each(tags)('each server of the list says in one sentence of %s what it does', async (tag) => {
  const { later } = await languages[tag].load();
  const { about } = (await later.catalog()).catalog;
  expect(Object.keys(about)).toEqual(knownServers.map(({ name }) => name));
  const sentence = text.max(120).regex(tag === 'zh' || tag === 'ja' ? /。$/ : /\.$/);
  expect(z.record(text, sentence).safeParse(about).error).toBeUndefined();
  if (tag === 'en') return;
  expect(knownServers.filter((server) => about[server.name] === server.about)).toEqual([]);
});

test('every value that a server needs has its one place, and none is left open', () => {
  for (const server of knownServers) {
    const { name, draft, asks = [] } = knownDraft(server, (kind) => kind);
    const given = Object.fromEntries(asks.map(({ key }, index) => [key, `value-${index}`]));
    const config = JSON.stringify(configOf(withGiven(draft, asks, given)));
    for (const value of Object.values(given)) expect([name, config.split(value).length]).toEqual([name, 2]);
    expect([name, /<|""|\$\{/.exec(config)?.[0]]).toEqual([name, undefined]);
  }
});

test('what a server needs is known before it is added', () => {
  const of = (wanted: string) => requirementsOf(knownServers.find(({ name }) => name === wanted) ?? never(wanted));
  expect(of('filesystem')).toEqual(['node', 'value']);
  expect(of('fetch')).toEqual(['uv']);
  expect(of('notion')).toEqual(['account']);
  expect(of('github')).toEqual(['key']);
  expect(of('deepwiki')).toEqual(['nothing']);
  expect(of('memory')).toEqual(['node']);
});

function never(name: string): never {
  throw new Error(`No server "${name}"`);
}
