import type { Queryable, Transaction } from '../database/database.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import {
  type Approval,
  type ApprovalStore,
  checkRoom,
  countingStates,
  type Round,
  shown,
  type WaitingApproval,
} from './approval-store.ts';
import { governanceLimits } from './limits.ts';

const channel = 'approvals';

/** The questions of all hubs on one database, each of which may be answered at any of them, once. */
export function approvalsInTable(database: DatabaseHandle): ApprovalStore {
  const open = () => database.whenReady(governanceLimits.sharedCountMs);
  const tell = (id = ''): void =>
    void database
      .current()
      ?.notify(channel, id)
      .catch(() => undefined);

  return {
    async ask(question, now) {
      const result = await (await open()).tx((tx) => askIn(tx, question, new Date(now)));
      if (result.isNew) tell(result.approval.id);
      return result;
    },
    async find(id) {
      if (!isUuid(id)) return undefined;
      const [row] = await (await open()).query<Row>(`select ${columns} from toolhub.approvals where id = $1`, [id]);
      return row && approvalOf(row);
    },
    async use(id, now) {
      const rows = await (
        await open()
      ).query(
        `update toolhub.approvals set state = 'used' where id = $1 and state = 'approved' and expires_at > $2 returning id`,
        [id, new Date(now)],
      );
      if (rows.length > 0) tell(id);
      return rows.length > 0;
    },
    async giveBack(id, now) {
      const rows = await (await open()).tx((tx) => giveBackIn(tx, id, new Date(now)));
      if (rows.length > 0) tell(id);
    },
    passRound: async (round, now) => passRoundIn(await open(), round, new Date(now)),
    async giveBackRound(id, use) {
      const without = `jsonb_set(content, '{rounds}', (content->'rounds') - $2::text)`;
      const sql = `update toolhub.approvals set content = ${without} where id = $1 and content ? 'rounds'`;
      await (await open()).query(sql, [id, use]);
    },
    async decide(id, { state, by, at }) {
      if (!isUuid(id)) return undefined;
      const [row] = await (
        await open()
      ).query<Row>(
        `update toolhub.approvals set state = $2, decided_by = $3, decided_at = $4
         where id = $1 and state = 'waiting' and expires_at > $4 returning ${columns}`,
        [id, state, by ?? null, new Date(at)],
      );
      if (row) tell(id);
      return row && approvalOf(row);
    },
    async expire(now) {
      const result = await expireIn(await open(), new Date(now));
      if (result.ended.length > 0) tell();
      return result;
    },
    async waiting(now) {
      const rows = await (
        await open()
      ).query<WaitingRow>(
        `select id, caller, created_at, state, ${shortColumns.map((name) => `coalesce(${name}, content->>'${name}') as ${name}`).join(', ')}
         from toolhub.approvals
         where state = 'waiting' and expires_at > $1 order by created_at desc limit ${governanceLimits.approvals}`,
        [new Date(now)],
      );
      return rows.map(({ created_at: made, ...one }) => ({ ...one, createdAt: made.getTime() }));
    },
    async ended(ids, now) {
      const rows = await (
        await open()
      ).query<{ id: string }>(
        `select t.id from unnest($1::uuid[]) as t(id) left join toolhub.approvals a on a.id = t.id
         where a.state is distinct from 'waiting' or a.expires_at <= $2`,
        [[...ids], new Date(now)],
      );
      return rows.map(({ id }) => id);
    },
    list: async (now) => listIn(await open(), new Date(now)),
    onChange: (listener) => database.listen(channel, (id) => listener(id || undefined)),
  };
}

/** What another hub is ending at this moment is passed over. */
async function expireIn(database: Queryable, now: Date): ReturnType<ApprovalStore['expire']> {
  const { approvalsExpired, approvalsKept } = governanceLimits;
  const rows = await database.query<Row>(
    `update toolhub.approvals set state = 'expired' where state = 'waiting' and id in
       (select id from toolhub.approvals where state = 'waiting' and expires_at <= $1
        order by expires_at limit ${approvalsExpired} for update skip locked)
     returning ${columns}`,
    [now],
  );
  // Not with each question: it looks at all that are kept.
  await database.query(
    `delete from toolhub.approvals where expires_at <= $1 and state <> 'waiting' and id not in
       (select id from toolhub.approvals order by created_at desc limit ${approvalsKept})`,
    [now],
  );
  const [left] = await database.query(`select id from toolhub.approvals where state = 'waiting' limit 1`);
  return { ended: rows.map(approvalOf), areMore: left !== undefined };
}

/** What waits, and the last that does not; of very many not all that their callers have sent. */
async function listIn(database: Queryable, now: Date): Promise<readonly Approval[]> {
  const { approvals, approvalsKept, approvalsWhole, approvalListChars, approvalArgumentChars } = governanceLimits;
  const [waiting] = await database.query<{ all: number }>(
    `select count(*)::int as all from toolhub.approvals where state = 'waiting' and expires_at > $1`,
    [now],
  );
  const chars = (waiting?.all ?? 0) > approvalsWhole ? approvalListChars + 1 : approvalArgumentChars;
  const cut = `content || jsonb_build_object('arguments', left(content->>'arguments', $2::int)) as content`;
  const listed = `${cut}, state, decided_by, decided_at, created_at as made, id`;
  const rows = await database.query<Row>(
    `select * from (
       (select ${listed} from toolhub.approvals where state = 'waiting' and expires_at > $1
          order by created_at desc limit ${approvals})
       union all
       (select ${listed} from toolhub.approvals where state <> 'waiting' or expires_at <= $1
          order by created_at desc limit ${approvalsKept})) as t
     order by made desc`,
    [now, chars],
  );
  return shown(rows.map(approvalOf), now.getTime());
}

/** Two hubs with the same call ask one question. */
async function askIn(tx: Transaction, question: Approval, now: Date): Promise<{ approval: Approval; isNew: boolean }> {
  await tx.query('select pg_advisory_xact_lock(hashtext($1))', [question.hash]);
  const [same] = await tx.query<Row>(
    `select ${columns} from toolhub.approvals where hash = $1 and state = any($3) and expires_at > $2
     order by created_at desc limit 1`,
    [question.hash, now, countingStates],
  );
  if (same) return { approval: approvalOf(same), isNew: false };
  await lockRoom(tx, question.caller, now);
  const { id, hash, caller, state, createdAt, expiresAt } = question;
  await tx.query(
    `insert into toolhub.approvals (id, hash, caller, state, content, created_at, expires_at, ${shortColumns.join(', ')})
     values ($1, $2, $3, $4, $5::jsonb, $6, $7, $8, $9, $10, $11)`,
    [
      id,
      hash,
      caller,
      state,
      JSON.stringify(question),
      new Date(createdAt),
      new Date(expiresAt),
      ...shortColumns.map((name) => question[name]),
    ],
  );
  return { approval: question, isNew: true };
}

/**
 * Throws HubError `approval` when too many wait. Checked before each lock too, so that a caller is refused at once. One
 * lock for all callers, which stops all hubs while one of them holds it, only where few places are left: until then
 * those that do not see each other are fewer than the places.
 */
async function lockRoom(tx: Transaction, caller: string, now: Date): Promise<void> {
  await checkRoomIn(tx, caller, now);
  await tx.query(`select pg_advisory_xact_lock(hashtext('approvals of'), hashtext($1))`, [caller]);
  const left = await checkRoomIn(tx, caller, now);
  if (left > governanceLimits.approvalsApart) return;
  await tx.query(`select pg_advisory_xact_lock(hashtext('approvals'), 0)`);
  await checkRoomIn(tx, caller, now);
}

/** How many more may wait. Throws HubError `approval` when too many do. */
async function checkRoomIn(tx: Transaction, caller: string, now: Date): Promise<number> {
  const [waiting] = await tx.query<{ all: number; own: number }>(
    `select (select count(*)::int from toolhub.approvals where state = 'waiting' and expires_at > $2) as all,
       (select count(*)::int from toolhub.approvals where state = 'waiting' and expires_at > $2 and caller = $1) as own`,
    [caller, now],
  );
  checkRoom(waiting?.all ?? 0, waiting?.own ?? 0);
  return governanceLimits.approvals - (waiting?.all ?? 0);
}

/** Under the lock of `askIn`, so that no question about the same call is made at the same time. */
async function giveBackIn(tx: Transaction, id: string, now: Date): Promise<readonly unknown[]> {
  await tx.query('select pg_advisory_xact_lock(hashtext(hash)) from toolhub.approvals where id = $1', [id]);
  return tx.query(
    `update toolhub.approvals as a set state = 'approved' where id = $1 and state = 'used' and expires_at > $2
     and not exists (select 1 from toolhub.approvals b
       where b.hash = a.hash and b.state = any($3) and b.expires_at > $2)
     returning id`,
    [id, now, countingStates],
  );
}

/** One statement, so that of two rounds with the same use one passes. */
async function passRoundIn(
  database: Queryable,
  { approvals, hash, use }: Round,
  now: Date,
): Promise<string | undefined> {
  const rounds = `coalesce(content->'rounds', '[]'::jsonb)`;
  const [row] = await database.query<{ id: string }>(
    `update toolhub.approvals set content = jsonb_set(content, '{rounds}', ${rounds} || to_jsonb($3::text))
     where id = any($1::uuid[]) and hash = $2 and state = 'used' and expires_at > $4
     and not ${rounds} @> to_jsonb($3::text) and jsonb_array_length(${rounds}) < ${governanceLimits.approvalRounds}
     returning id`,
    [[...approvals], hash, use, now],
  );
  return row?.id;
}

/** What is known of a question without its content, which may be long. Hubs of older versions do not fill them in. */
const shortColumns = ['who', 'principal', 'server', 'tool'] as const;

type WaitingRow = Omit<WaitingApproval, 'createdAt'> & { readonly created_at: Date };

interface Row {
  readonly content: Approval;
  readonly state: Approval['state'];
  readonly decided_by: string | null;
  readonly decided_at: Date | null;
}

const columns = 'content, state, decided_by, decided_at';

function approvalOf({ content, state, decided_by: by, decided_at: at }: Row): Approval {
  return { ...content, state, decidedBy: by ?? undefined, decidedAt: at?.getTime() };
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
