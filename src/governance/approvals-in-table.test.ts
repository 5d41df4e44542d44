import { expect, test } from 'vitest';
import { question } from '../../test/kit/approval-question.ts';
import { atEnd } from '../../test/kit/at-end.ts';
import { databaseWaitMs, emptyDatabase } from '../../test/kit/databases.ts';
import { until } from '../../test/kit/until.ts';
import { deferred } from '../core/deferred.ts';
import type { Database, Parameter } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { approvalsInTable } from './approvals-in-table.ts';
import { createApprovals } from './approvals.ts';

test('a hub that stalls while it asks keeps no other caller from asking', async () => {
  const database = await emptyDatabase('postgres');
  await (await database.whenReady(databaseWaitMs)).query('delete from toolhub.approvals');
  const [begun, goesOn] = [deferred<void>(), deferred<void>()];
  const stalling: DatabaseHandle = {
    ...database,
    async whenReady(ms) {
      const db = await database.whenReady(ms);
      const tx: Database['tx'] = (work) =>
        db.tx((inner) =>
          work({
            ...inner,
            async query<T>(sql: string, parameters?: readonly Parameter[]) {
              if (sql.startsWith('insert')) {
                begun.resolve();
                await goesOn.promise;
              }
              return inner.query<T>(sql, parameters);
            },
          }),
        );
      return { ...db, tx };
    },
  };
  const hubs = [stalling, database].map((one) =>
    createApprovals({ store: approvalsInTable(one), lifeMs: () => 600_000 }),
  );
  for (const hub of hubs) atEnd(() => hub.close());
  const left = new AbortController();
  const asked: string[] = [];
  const calls = hubs.map(async (hub, i) => {
    if (i > 0) await begun.promise;
    const of = { ...question('x'), caller: `c${i}`, principal: `u:\nc${i}` };
    await hub.approved(of, left.signal, () => void asked.push(of.caller)).catch(() => 'left');
  });
  try {
    await until('the other hub has asked', () => asked.length > 0);
    expect(asked).toEqual(['c1']);
  } finally {
    goesOn.resolve();
  }
  await until('both have asked', () => asked.length > 1);
  left.abort();
  await Promise.all(calls);
});
