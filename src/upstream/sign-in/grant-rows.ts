import type { Logger } from '../../core/logger.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Sealer } from '../../core/seal.ts';
import type { Database } from '../../database/database.ts';
import { upstreamLimits } from '../limits.ts';
import { type Grant, grantId, type GrantKey } from './grants.ts';
import type { SharedSealer } from '../../database/shared-sealer.ts';

/** A row as it was read. */
export interface GrantRow {
  readonly id: string;
  readonly key: GrantKey;
  /** Undefined when it cannot be opened with the secret of this hub. */
  readonly grant: Grant | undefined;
  /** It is not what was read or written before. */
  readonly isNew: boolean;
}

/** The table `toolhub.oauth_tokens`: a sealed grant per server and user. All throw what the database throws. */
export interface GrantRows {
  /** One row, or all. */
  read(open: Database, key?: GrantKey): Promise<GrantRow[]>;
  current(open: Database, key: GrantKey): Promise<Grant | undefined>;
  put(open: Database, grant: Grant): Promise<void>;
  /** Unless there is one. */
  insert(open: Database, grant: Grant): Promise<void>;
  remove(open: Database, key: GrantKey): Promise<void>;
  /**
   * Asks all hubs to leave a grant alone for `upstreamLimits.tokenClaimMs`: what it is then, unless another hub was
   * first or there is none.
   */
  claim(open: Database, key: GrantKey, by: string): Promise<Grant | undefined | 'taken' | 'gone'>;
  release(open: Database, key: GrantKey, by: string): Promise<void>;
  /** Writes what came of a claim; false when the claim is over. */
  finish(open: Database, grant: Grant, by: string): Promise<boolean>;
  /** Whether anything was written since the last time this was asked. */
  isChanged(open: Database): Promise<boolean>;
}

interface Row {
  readonly server: string;
  readonly principal: string;
  readonly ciphertext: Uint8Array;
}

const table = 'toolhub.oauth_tokens';
const where = 'where server = $1 and principal = $2';

export function grantRows(sealer: SharedSealer, log: Logger): GrantRows {
  /** What each row was when it was last seen, so that an unchanged one is neither opened nor complained about again. */
  const seen = new Map<string, string>();
  let summary: string | undefined;

  /** Writes a grant by a statement whose last parameter it is; true when a row was written. */
  async function write(open: Database, grant: Grant, sql: string, ...more: string[]): Promise<boolean> {
    const text = (await sealer(open)).seal(JSON.stringify(grant));
    const ciphertext = Buffer.from(text, 'base64url');
    const written = await open.query(`${sql} returning 1`, [...idOf(grant), ...more, ciphertext]);
    if (written.length === 0) return false;
    seen.set(grantId(grant), text);
    return true;
  }

  function opened(sealer: Sealer, row: Row): GrantRow {
    const key = keyOf(row);
    const id = grantId(key);
    const token = Buffer.from(row.ciphertext).toString('base64url');
    const grant = parsed(sealer.open(token), key);
    const isNew = seen.get(id) !== token;
    seen.set(id, token);
    if (isNew && !grant)
      log.warn('a sign-in in the database cannot be opened with the secret of this hub (JWT_SECRET)', {
        server: row.server,
      });
    return { id, key, grant, isNew };
  }

  return {
    async read(open, key) {
      const sql = `select server, principal, ciphertext from ${table}`;
      const rows = await (key ? open.query<Row>(`${sql} ${where}`, idOf(key)) : open.query<Row>(sql));
      const own = await sealer(open);
      return rows.map((row) => opened(own, row));
    },
    async current(open, key) {
      const [row] = await open.query<Row>(`select server, principal, ciphertext from ${table} ${where}`, idOf(key));
      return row && parsed((await sealer(open)).open(Buffer.from(row.ciphertext).toString('base64url')), key);
    },
    async put(open, grant) {
      await write(
        open,
        grant,
        `insert into ${table} (server, principal, ciphertext) values ($1, $2, $3)
         on conflict (server, principal) do update
         set ciphertext = excluded.ciphertext, updated_at = now(), claimed_by = null, claimed_until = null`,
      );
    },
    async insert(open, grant) {
      await write(
        open,
        grant,
        `insert into ${table} (server, principal, ciphertext) values ($1, $2, $3) on conflict (server, principal) do nothing`,
      );
    },
    async remove(open, key) {
      await open.query(`delete from ${table} ${where}`, idOf(key));
    },
    async claim(open, key, by) {
      const [row] = await open.query<Row>(
        `update ${table} set claimed_by = $3, claimed_until = now() + $4 * interval '1 millisecond'
         ${where} and (claimed_until is null or claimed_until <= now()) returning server, principal, ciphertext`,
        [...idOf(key), by, upstreamLimits.tokenClaimMs],
      );
      if (row) return parsed((await sealer(open)).open(Buffer.from(row.ciphertext).toString('base64url')), key);
      const found = await open.query(`select 1 from ${table} ${where}`, idOf(key));
      return found.length > 0 ? 'taken' : 'gone';
    },
    async release(open, key, by) {
      await open.query(`update ${table} set claimed_by = null, claimed_until = null ${where} and claimed_by = $3`, [
        ...idOf(key),
        by,
      ]);
    },
    finish: (open, grant, by) =>
      write(
        open,
        grant,
        `update ${table} set ciphertext = $4, updated_at = now(), claimed_by = null, claimed_until = null
         ${where} and claimed_by = $3`,
        by,
      ),
    async isChanged(open) {
      const [row] = await open.query<{ content: string }>(
        `select count(*) || ' ' || coalesce(max(updated_at)::text, '') as content from ${table}`,
      );
      const before = summary;
      summary = row?.content;
      return before !== summary;
    },
  };
}

/** The sign-in that all users share, or one user's; no user name can be read as the former. */
function idOf({ server, holder }: GrantKey): [string, string] {
  return [server, holder === undefined ? '*' : `u:${holder}`];
}

function keyOf({ server, principal }: Row): GrantKey {
  return principal.startsWith('u:') ? { server, holder: principal.slice(2) } : { server };
}

/**
 * An attacker who can write to the table must not be able to give one user the tokens of another: a grant itself says
 * whose it is.
 */
function parsed(text: string | undefined, key: GrantKey): Grant | undefined {
  if (text === undefined) return undefined;
  const grant: unknown = JSON.parse(text);
  return isObject(grant) && grantId(grant as unknown as Grant) === grantId(key)
    ? (grant as unknown as Grant)
    : undefined;
}
