import type { DatabaseHandle } from '../database/supervise.ts';
import { authLimits } from './limits.ts';
import type { LoginSession, SeenSession, SessionStore } from './session-store.ts';

const channel = 'sessions';

/** Sessions in the database that hubs share; its clock counts. */
export function sessionsInTable(database: DatabaseHandle): SessionStore {
  const open = () => database.whenReady(authLimits.sessionWaitMs);

  return {
    async add(tokenHash, session) {
      const { jti, username } = session.claims;
      return (await open()).tx(async (tx) => {
        await tx.query(
          `insert into toolhub.sessions (id, token_hash, username, content) values ($1, $2, $3, $4::jsonb)`,
          [jti, tokenHash, username, JSON.stringify(session)],
        );
        await tx.query(`delete from toolhub.sessions where not (${live})`);
        const pushedOut = await tx.query<Row>(
          `delete from toolhub.sessions where id in (
             select id from toolhub.sessions where username = $1 order by seen_at desc, created_at desc offset $2)
           returning content`,
          [username, authLimits.sessionsPerUser],
        );
        return pushedOut.map(({ content }) => content);
      });
    },
    async find(tokenHash, isUse) {
      const one = `token_hash = $1 and ${live}`;
      const [row] = await (
        await open()
      ).query<SeenRow>(
        isUse
          ? `update toolhub.sessions set seen_at = now() where ${one} returning ${columns}`
          : `select ${columns} from toolhub.sessions where ${one}`,
        [tokenHash],
      );
      return row && seen(row);
    },
    async renew(id, tokenHash, session) {
      const db = await open();
      const rows = await db.query(
        `update toolhub.sessions set token_hash = $2, content = $3::jsonb, seen_at = now()
         where id = $1 and ${live} returning id`,
        [id, tokenHash, JSON.stringify(session)],
      );
      if (rows.length > 0) await db.notify(channel, id).catch(() => undefined);
      return rows.length > 0;
    },
    onRenewed: (listener) => database.listen(channel, listener),
    async replace(id, refreshedAt, session) {
      const rows = await (
        await open()
      ).query(
        `update toolhub.sessions set content = $2::jsonb
         where id = $1 and content->'provider'->'refresh'->>'at' = $3 and ${live} returning id`,
        [id, JSON.stringify(session), String(refreshedAt)],
      );
      return rows.length > 0;
    },
    async ofUser(username) {
      const rows = await (
        await open()
      ).query<SeenRow>(
        `select ${columns} from toolhub.sessions where username = $1 and ${live} order by seen_at desc`,
        [username],
      );
      return rows.map(seen);
    },
    async via(method) {
      const rows = await (
        await open()
      ).query<Row>(`select content from toolhub.sessions where content->>'via' = $1 and ${live}`, [method]);
      return rows.map(({ content }) => content);
    },
    async end(ids) {
      const rows = await (
        await open()
      ).query<Row>('delete from toolhub.sessions where id = any($1::text[]) returning content', [[...ids]]);
      return rows.map(({ content }) => content);
    },
  };
}

interface Row {
  readonly content: LoginSession;
}

interface SeenRow extends Row {
  readonly at: string;
}

const columns = 'content, (extract(epoch from seen_at) * 1000)::bigint::text as at';

function seen({ content, at }: SeenRow): SeenSession {
  return { session: content, seenAt: Number(at) };
}

const live = `created_at > now() - ${authLimits.accessTokenMs} * interval '1 millisecond'
  and seen_at > now() - ${authLimits.sessionIdleMs} * interval '1 millisecond'`;
