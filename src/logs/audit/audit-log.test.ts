import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atEnd } from '../../../test/kit/at-end.ts';
import { databaseWaitMs, emptyDatabase, places, silent, tempFolder } from '../../../test/kit/databases.ts';
import type { AuditRecord } from '../../core/audit.ts';
import type { DatabasePlace } from '../../database/open.ts';
import { createDatabase, type DatabaseHandle } from '../../database/supervise.ts';
import { createCleaner } from '../clean.ts';
import { openAudit } from './audit-log.ts';
import { createChainCheck, expired, expiring } from './chain.ts';
import { keptEvent } from './event.ts';
import { auditLimits } from './limits.ts';
import { appendEvents, selectRecords } from './table.ts';

const byAnn = { actor: { kind: 'user', name: 'ann' }, address: '127.0.0.1', via: 'api' } as const;
const room = { wait: () => undefined };

function opened(place: DatabasePlace, more: { now?: () => number; folder?: string } = {}) {
  const database = createDatabase(place);
  atEnd(() => database.close());
  return openedOn(database, more);
}

function openedOn(database: DatabaseHandle, more: { now?: () => number; folder?: string } = {}) {
  const journal = { folder: more.folder ?? join(tempFolder(), 'journal'), room };
  const { clean } = createCleaner();
  const audit = openAudit({ database, journal, clean, log: silent, ...(more.now && { now: more.now }) });
  atEnd(() => audit.close());
  const change = (target: string) => audit.record({ ...byAnn, action: 'server.update', target });
  return { database, audit, journal, change };
}

async function ready(database: DatabaseHandle) {
  database.start();
  return database.whenReady(databaseWaitMs);
}

async function verified(audit: ReturnType<typeof openAudit>) {
  const check = createChainCheck();
  for await (const page of await audit.read()) for (const text of page) check.take(JSON.parse(text));
  return check.done();
}

describe.each(['postgres', 'embedded'] as const)('%s', (kind) => {
  test('what was recorded before the database was there is in the chain once it is, and only once', async () => {
    const place = await places[kind]();
    const folder = join(tempFolder(), 'journal');
    const early = opened(place, { folder });
    for (const target of ['a', 'b']) early.change(target);
    await new Promise<void>((done) => early.audit.afterKeeping(done));
    // As after a kill: this process never writes them, and the next one finds them on disk.
    expect(readdirSync(folder).some((name) => name.startsWith('audit-'))).toBe(true);
    const { database, audit, change } = opened(place, { folder });
    await ready(database);
    change('c');
    const records = await audit.list({ limit: 10 });
    expect(records.map(({ target }) => target).sort()).toEqual(['a', 'b', 'c']);
    expect(await verified(audit)).toMatchObject({ records: 3, first: 1, last: { id: 3 } });
    expect(await audit.head()).toEqual(((await verified(audit)) as { last: object }).last);
  });

  test('a listing is filtered, and goes on where the last one ended', async () => {
    const { audit, change } = openedOn(await emptyDatabase(kind));
    expect(await audit.head()).toEqual({ id: 0, hash: '0'.repeat(64), time: null });
    for (let i = 0; i < 5; i++) change(`server${i}`);
    audit.counted({ ...byAnn, actor: { kind: 'anonymous', name: '' }, action: 'login', result: 'failed' });
    const ids = async (listing: object) => (await audit.list({ limit: 100, ...listing })).map(({ id }) => id);
    expect(await ids({})).toEqual([6, 5, 4, 3, 2, 1]);
    expect(await ids({ limit: 2, before: 4 })).toEqual([3, 2]);
    expect(await ids({ actor: 'ann', target: 'SERVER3' })).toEqual([4]);
    expect(await ids({ action: 'log' })).toEqual([6]);
    expect(await ids({ until: new Date(0) })).toEqual([]);
    expect(await ids({ since: new Date(0), action: 'server' })).toEqual([5, 4, 3, 2, 1]);
    expect(await ids({ target: "' or 1=1 --%_" })).toEqual([]);
  });

  test('what is too old goes, and the chain that is left still holds', async () => {
    const place = await places[kind]();
    let at = Date.parse('2026-01-01T00:00:00Z');
    const first = opened(place, { now: () => at });
    await ready(first.database);
    for (let i = 0; i < 4; i++) first.change(`old${i}`);
    await first.audit.head();
    at += auditLimits.auditAgeMs / 2;
    first.change('young');
    await first.audit.close();
    await first.database.close();
    at += auditLimits.auditAgeMs / 2 + 60_000;
    const day = 24 * 60 * 60_000;
    /** A hub is started at that time, and looks. */
    const actions = async (expected: string[]) => {
      const { database, audit } = opened(place, { now: () => at });
      await ready(database);
      await expect.poll(async () => (await audit.list({ limit: 9 })).map(({ action }) => action)).toEqual(expected);
      await audit.close();
      await database.close();
    };
    const old = Array.from({ length: 5 }, () => 'server.update');
    // A day before it is announced, and once alone; a clock that has jumped ahead meanwhile removes nothing.
    await actions([expiring, ...old]);
    await actions([expiring, ...old]);
    at += 500 * day;
    await actions([expiring, expiring, ...old]);
    at -= 499 * day;
    await actions([expired, expiring, expiring, 'server.update']);
    const { database, audit, change } = opened(place, { now: () => at });
    await ready(database);
    expect((await audit.list({ limit: 9 }))[0]).toMatchObject({ action: expired, target: 'records up to 4' });
    change('new');
    expect(await verified(audit)).toMatchObject({ records: 5, first: 5, last: { id: 9 } });
  });

  test('a row that was changed, deleted or moved behind the hub is found', async () => {
    const database = await emptyDatabase(kind);
    const { audit, change } = openedOn(database);
    const open = await database.whenReady(databaseWaitMs);
    for (let i = 0; i < 5; i++) change(`server${i}`);
    expect(await verified(audit)).toMatchObject({ records: 5 });
    const undo = async (sql: string, back: string) => {
      await open.query(sql);
      const found = await verified(audit);
      await open.query(back);
      return found;
    };
    const swap = (from: string, to: string) =>
      `update toolhub.audit set record = replace(record, '${from}', '${to}') where id = 2`;
    expect(await undo(swap('server1', 'serverX'), swap('serverX', 'server1'))).toMatchObject({ id: 2 });
    const moved = 'update toolhub.audit set id = case id when 2 then 3 else 2 end + 100 where id in (2, 3)';
    await open.query(moved);
    await open.query('update toolhub.audit set id = id - 100 where id > 100');
    expect(await verified(audit)).toMatchObject({ line: 2, id: 3 });
    await open.query('delete from toolhub.audit where id = 4');
    expect(await verified(audit)).toHaveProperty('why');
  });
});

test('any number of connections append at once, and wait for each other', async () => {
  const place = await places.postgres();
  const [one, two] = await Promise.all([ready(createHub(place)), ready(createHub(place))]);
  const event = (i: number) => keptEvent({ ...byAnn, action: 'x', target: String(i) }, 1, new Date(), (text) => text);
  await Promise.all(
    Array.from({ length: 60 }, (_, i) => appendEvents(i % 2 === 0 ? one : two, [event(2 * i), event(2 * i + 1)])),
  );
  const records = await selectRecords(one, { limit: 500 });
  expect(records.map(({ id }) => id)).toEqual(Array.from({ length: 120 }, (_, i) => 120 - i));
});

function createHub(place: DatabasePlace): DatabaseHandle {
  const database = createDatabase(place);
  atEnd(() => database.close());
  return database;
}

test('two hubs on one PostgreSQL write one chain, without a gap and each record once', async () => {
  const place = await places.postgres();
  const hubs = [opened(place), opened(place)];
  await Promise.all(hubs.map(({ database }) => ready(database)));
  const written: AuditRecord[] = [];
  for (const { audit } of hubs)
    audit.handOn({ send: (records) => void written.push(...records), close: async () => undefined });
  for (let round = 0; round < 20; round++) {
    for (const [i, { change }] of hubs.entries()) for (let n = 0; n < 5; n++) change(`hub${i} ${round} ${n}`);
    await Promise.all(hubs.map(({ audit }) => audit.head()));
  }
  const [one] = hubs;
  const records = (await one?.audit.list({ limit: 1_000 })) ?? [];
  expect(new Set(records.map(({ target }) => target)).size).toBe(200);
  expect(one && (await verified(one.audit))).toMatchObject({ records: 200, first: 1, last: { id: 200 } });
  // Each hub tells of what it has put into the chain itself.
  expect(written.map(({ id }) => id).sort((a, b) => a - b)).toEqual(Array.from({ length: 200 }, (_, i) => i + 1));
});
