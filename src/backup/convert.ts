import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../core/protocol/rpc.ts';
import { createSealer, type Sealer } from '../core/seal.ts';

/** A row as JSON. */
type Row = Readonly<Record<string, unknown>>;

/** How a hub without PostgreSQL keeps in files what hubs that share one keep in these tables. */
export interface Converter {
  /** The rows by table that the files of a data folder stand for. */
  toRows(folder: string): Map<string, Row[]>;
  /** Takes one row of one of these tables. */
  take(table: string, row: Row): void;
  /** Writes what was taken as files of a data folder. */
  toFiles(folder: string): void;
  /** What could not be opened with the secrets there are, by what it is. */
  readonly unopened: ReadonlyMap<string, number>;
}

export interface Secrets {
  /** `hub.secret` of the data folder. */
  readonly files: Buffer | undefined;
  /** What the tables are sealed with. */
  readonly tables: Buffer | undefined;
}

/** Tables whose content a hub without PostgreSQL has in files. */
export const inFiles = ['pins', 'consents', 'sessions', 'last_uses', 'second_factors', 'user_credentials'] as const;
/** Tables that such a hub has no use for: it has a file that the hub with PostgreSQL keeps as well. */
export const copiedInFiles: readonly string[] = ['settings', 'revocations', 'oauth_tokens', 'secrets'];

export function createConverter(secrets: Secrets): Converter {
  const taken = new Map<string, Row[]>(inFiles.map((table) => [table, []]));
  const unopened = new Map<string, number>();
  const sealers = (purpose: string) => ({
    files: secrets.files && createSealer(secrets.files, purpose),
    tables: secrets.tables && createSealer(secrets.tables, purpose),
  });
  const factors = sealers('second factors');
  const credentials = sealers('user credentials');

  function reseal(text: string, from: Sealer | undefined, to: Sealer | undefined, what: string): string[] {
    const open = from?.open(text);
    if (open !== undefined && to !== undefined) return [to.seal(open)];
    unopened.set(what, (unopened.get(what) ?? 0) + 1);
    return [];
  }

  return {
    unopened,
    toRows: (folder) =>
      new Map<string, Row[]>([
        ['pins', pinsIn(folder)],
        ['consents', listIn(folder, 'consents.json', 'consents').map(consentRow)],
        ['sessions', listIn(folder, 'sessions.json', 'sessions').map(sessionRow)],
        [
          'last_uses',
          Object.entries(objectIn(folder, 'last-uses.json')).map(([id, at]) => ({ id, used_at: time(at) })),
        ],
        [
          'second_factors',
          Object.entries(memberOf(objectIn(folder, 'second-factors.json'), 'factors')).flatMap(([username, text]) =>
            reseal(String(text), factors.files, factors.tables, 'second factors').map((sealed) => ({
              username,
              ...sealedColumn(sealed),
            })),
          ),
        ],
        [
          'user_credentials',
          linesIn(folder, 'credentials.sealed').flatMap((line) =>
            reseal(line, credentials.files, credentials.tables, 'credentials that users set for themselves').map(
              (sealed) => ({ ...ownerIn(credentials.files, line), ...sealedColumn(sealed) }),
            ),
          ),
        ],
      ]),
    take: (table, row) => void taken.get(table)?.push(row),
    toFiles(folder) {
      const rows = (table: (typeof inFiles)[number]) => taken.get(table) ?? [];
      const write = (name: string, value: unknown): void =>
        writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value), { mode: 0o600 });
      mkdirSync(join(folder, 'pins'), { recursive: true, mode: 0o700 });
      for (const { server, content } of rows('pins')) write(`pins/${pinFile(String(server))}`, content);
      write('consents.json', { version: 1, consents: rows('consents').map(consentOf) });
      write('sessions.json', { version: 1, sessions: rows('sessions').map(sessionOf) });
      write(
        'last-uses.json',
        Object.fromEntries(rows('last_uses').map(({ id, used_at: at }) => [id, Date.parse(String(at))])),
      );
      const opened = rows('second_factors').flatMap(({ username, ciphertext }) =>
        reseal(sealedIn(ciphertext), factors.tables, factors.files, 'second factors').map((text) => [username, text]),
      );
      write('second-factors.json', { version: 1, factors: Object.fromEntries(opened) as unknown });
      const lines = rows('user_credentials').flatMap(({ ciphertext }) => {
        const what = 'credentials that users set for themselves';
        return reseal(sealedIn(ciphertext), credentials.tables, credentials.files, what);
      });
      write('credentials.sealed', lines.join('\n'));
    },
  };
}

const pinFile = (server: string): string => `${createHash('sha256').update(server).digest('hex').slice(0, 32)}.json`;

function pinsIn(folder: string): Row[] {
  return namesIn(join(folder, 'pins'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => objectIn(join(folder, 'pins'), name))
    .flatMap((content) => (typeof content['server'] === 'string' ? [{ server: content['server'], content }] : []));
}

function consentRow(consent: Row): Row {
  const { id, username, client, usedAt, endedAt } = consent;
  const ended = endedAt === undefined ? {} : { ended_at: time(endedAt) };
  return { id, username, client, content: consent, used_at: time(usedAt), ...ended };
}

function consentOf({ content, ended_at: ended }: Row): Row {
  const consent = isObject(content) ? content : {};
  return typeof ended === 'string' ? { ...consent, endedAt: Date.parse(ended) } : consent;
}

function sessionRow({ tokenHash, session, seenAt }: Row): Row {
  const { jti, username, issuedAt } = memberOf(session, 'claims');
  return {
    id: jti,
    token_hash: tokenHash,
    username,
    content: session,
    created_at: time(issuedAt),
    seen_at: time(seenAt),
  };
}

function sessionOf({ token_hash: tokenHash, content: session, seen_at: seen }: Row): Row {
  return { tokenHash, session, seenAt: Date.parse(String(seen)) };
}

/** Whose a sealed text is, which the table has as columns. */
function ownerIn(sealer: Sealer | undefined, line: string): Row {
  const binding: unknown = JSON.parse(sealer?.open(line) ?? '{}');
  return { server: memberOf(binding)['server'], username: memberOf(binding)['username'] };
}

const sealedColumn = (sealed: string): Row => ({
  ciphertext: `\\x${Buffer.from(sealed, 'base64url').toString('hex')}`,
  updated_at: new Date().toISOString(),
});

const sealedIn = (ciphertext: unknown): string =>
  Buffer.from(String(ciphertext).replace(/^\\x/, ''), 'hex').toString('base64url');

const time = (ms: unknown): string => new Date(typeof ms === 'number' ? ms : 0).toISOString();

function memberOf(value: unknown, name?: string): Row {
  const member = name === undefined ? value : isObject(value) ? value[name] : undefined;
  return isObject(member) ? member : {};
}

function textIn(folder: string, name: string): string {
  try {
    return readFileSync(join(folder, name), 'utf8');
  } catch {
    // Most hubs lack most of these files.
    return '';
  }
}

function objectIn(folder: string, name: string): Row {
  try {
    return memberOf(JSON.parse(textIn(folder, name)) as unknown);
  } catch {
    // The hub counts it as nothing, too.
    return {};
  }
}

function listIn(folder: string, name: string, member: string): Row[] {
  const list = objectIn(folder, name)[member];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

const linesIn = (folder: string, name: string): string[] =>
  textIn(folder, name)
    .split('\n')
    .filter((line) => line !== '');

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
