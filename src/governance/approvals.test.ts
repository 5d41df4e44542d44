import { beforeEach, describe, expect, test } from 'vitest';
import { atEnd } from '../../test/kit/at-end.ts';
import { databaseWaitMs, emptyDatabase } from '../../test/kit/databases.ts';
import { setLimits } from '../../test/kit/limits.ts';
import { until } from '../../test/kit/until.ts';
import { type Approval, approvalsInMemory, type ApprovalStore } from './approval-store.ts';
import { approvalsInTable } from './approvals-in-table.ts';
import { type ApprovalQuestion, createApprovals } from './approvals.ts';
import { governanceLimits } from './limits.ts';

// Each for the questions of one hub, and for two hubs on one database.

const question = (text: string): ApprovalQuestion => ({
  who: 'admin',
  policy: 'ask',
  message: undefined,
  server: 'db',
  tool: 'query',
  caller: 'ann',
  callerKind: 'user',
  client: undefined,
  address: undefined,
  principal: 'u:\nann',
  arguments: JSON.stringify({ text }),
});

const stores: Record<string, () => Promise<ApprovalStore[]>> = {
  memory: async () => [approvalsInMemory()],
  table: async () => {
    const database = await emptyDatabase('postgres');
    await (await database.whenReady(databaseWaitMs)).query('delete from toolhub.approvals');
    return [approvalsInTable(database), approvalsInTable(database)];
  },
};

describe.each(Object.keys(stores))('questions kept in the %s', (kind) => {
  let at: number;
  let told: string[];
  let hubs: ReturnType<typeof createApprovals>[];
  beforeEach(async () => {
    at = Date.parse('2026-11-25T12:00:00Z');
    told = [];
    setLimits(governanceLimits, { approvalLookMs: 5 });
    const tell = (one: Approval) => void told.push(`${one.state} ${one.arguments}`);
    hubs = ((await stores[kind]?.()) ?? []).map((store) =>
      createApprovals({ store, lifeMs: () => 600_000, asked: tell, decided: tell, expired: tell }, () => at),
    );
    for (const hub of hubs) atEnd(() => hub.close());
  });

  const first = () => hubs[0] as (typeof hubs)[0];
  const last = () => hubs.at(-1) as (typeof hubs)[0];
  const staying = () => new AbortController().signal;
  const list = async () => (await last().list()).map(({ state, arguments: args }) => `${state} ${args}`);

  test('that no one answers are told of once when they expire, whether their call still waits or not', async () => {
    const left = new AbortController();
    const waits = first().approved(question('waits'), staying());
    const gone = first().approved(question('gone'), left.signal);
    await until('both are asked', async () => (await list()).length === 2);
    left.abort();
    await expect(gone).rejects.toMatchObject({ code: 'cancelled' });
    at += 600_000;
    await expect(waits).rejects.toMatchObject({ code: 'approval' });
    await until('both are told of', () => told.filter((one) => one.startsWith('expired')).length >= 2);
    expect((await list()).toSorted()).toEqual(['expired {"text":"gone"}', 'expired {"text":"waits"}']);
    // Whichever hub comes next has nothing left to tell.
    const asked = first().approved(question('next'), staying());
    await until('the next is asked', () => told.includes('waiting {"text":"next"}'));
    await last().decide((await last().list())[0]?.id ?? '', 'approve', 'bob', () => true);
    await asked;
    expect(told.toSorted()).toEqual([
      'approved {"text":"next"}',
      'expired {"text":"gone"}',
      'expired {"text":"waits"}',
      'waiting {"text":"gone"}',
      'waiting {"text":"next"}',
      'waiting {"text":"waits"}',
    ]);
  });
});
