import type { NewActivity } from '../../src/core/activity.ts';
import { createDatabase } from '../../src/database/supervise.ts';
import { parseActivityListing } from '../../src/logs/activity-filter.ts';
import { createActivityLog } from '../../src/logs/activity.ts';
import { atEnd } from './at-end.ts';
import { emptyDatabase, silent } from './databases.ts';

/** A call that succeeded. */
export const call = (change: Partial<NewActivity> = {}): NewActivity => ({
  server: 'fetch',
  tool: 'get',
  durationMs: 10,
  status: 'success',
  principal: 'user',
  username: 'ann',
  resultBytes: 5,
  ...change,
});

export type DatabaseKind = 'off' | 'postgres' | 'embedded';
export const databaseKinds: DatabaseKind[] = ['off', 'postgres', 'embedded'];

/** An activity log whose clock the test sets. */
export async function startActivity(kind: DatabaseKind) {
  let time = Date.parse('2026-11-01T00:00:00Z');
  const off = { url: 'off', dataDir: '/nonexistent', log: silent };
  const database = kind === 'off' ? createDatabase(off) : await emptyDatabase(kind);
  const activity = createActivityLog({ database, log: silent, now: () => time });
  atEnd(() => activity.close());
  const list = async (raw: Record<string, string> = {}, mine?: string) =>
    activity.list({ ...parseActivityListing(raw), ...(mine !== undefined && { mine: { username: mine } }) });
  return { activity, list, at: (iso: string) => (time = Date.parse(iso)) };
}
