import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { rm, statfs } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { HubError } from '../core/errors.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { type Converter, copiedInFiles, createConverter, inFiles, type Secrets } from './convert.ts';
import { dataNames, isPassing, restoreNames } from './data-files.ts';
import { asideName, exchange, finishExchange, interruptedExchange, undoExchange } from './exchange.ts';
import { backupLimits } from './limits.ts';
import { isSameSecret, type Manifest, settingsName, tableFolder } from './manifest.ts';
import { type Backup, openBackup } from './read-backup.ts';
import {
  type LoadedTables,
  makeEmbeddedDatabase,
  openPostgresTarget,
  type PostgresTarget,
  schemaName,
  type TableRules,
} from './restored-tables.ts';

/** Where a backup goes. The caller has locked the data folder. */
export interface RestorePlace {
  readonly dataDir: string;
  readonly settingsPath: string;
  readonly database: { readonly kind: 'embedded' | 'off' } | { readonly kind: 'postgres'; readonly url: string };
  /** `JWT_SECRET`, where the environment has it. */
  readonly jwtSecret: string | undefined;
}

export interface Restored {
  readonly manifest: Manifest;
  /** Where what was there before is. */
  readonly aside: string | undefined;
  readonly schemaAside: string | undefined;
  /** What people have to know: what is not as it was. */
  readonly notes: readonly string[];
}

/**
 * Puts a backup in the place of what is there. Until all of it is on the disk nothing that was there is touched; when a
 * later step fails, it is brought back. Throws HubError `misconfigured` for a backup that cannot be used, and for a
 * place that has data, without `replace`; `conflict` while a hub is connected to the database.
 */
export async function restoreBackup(file: string, place: RestorePlace, replace: boolean): Promise<Restored> {
  const backup = await openBackup(file);
  const target = await openTarget(place, backup);
  try {
    const before = interruptedExchange(place.dataDir);
    if (before) await undo(place, target, before);
    if (!replace) mustBeEmpty(place, await target?.hasTables());
    return await run(backup, place, target);
  } finally {
    // What was unpacked, after a failure.
    await rm(join(place.dataDir, restoreNames.staging), { recursive: true, force: true });
    backup.close();
    await target?.close();
  }
}

async function openTarget({ database }: RestorePlace, backup: Backup): Promise<PostgresTarget | undefined> {
  try {
    return database.kind === 'postgres' ? await openPostgresTarget(database.url) : undefined;
  } catch (error) {
    backup.close();
    throw error;
  }
}

/** Brings back what was there before a restore that was interrupted; false when none was. */
export async function undoRestore(place: RestorePlace): Promise<boolean> {
  const before = interruptedExchange(place.dataDir);
  if (!before) return false;
  const isThere = before.database !== 'none' && place.database.kind === 'postgres';
  const target = isThere ? await openPostgresTarget(place.database.url) : undefined;
  try {
    await undo(place, target, before);
    return true;
  } finally {
    await target?.close();
  }
}

type Plan = NonNullable<ReturnType<typeof interruptedExchange>>;

async function undo({ dataDir }: RestorePlace, target: PostgresTarget | undefined, plan: Plan): Promise<void> {
  if (plan.database !== 'none' && !target)
    throw new HubError(
      'misconfigured',
      `Cannot undo the restore of ${dataDir} that was interrupted: it was one of the PostgreSQL in DB_URL too, and DB_URL names none now. Set DB_URL as it was then, and run the command again. Nothing was changed.`,
    );
  if (plan.database !== 'none') await target?.undo(plan.aside);
  await undoExchange(dataDir, plan);
}

function mustBeEmpty({ dataDir, settingsPath }: RestorePlace, hasTables: boolean | undefined): void {
  const names = dataNames(dataDir);
  const found = [
    ...(names.length > 0 ? [`the data folder ${dataDir} (${names.slice(0, 3).join(', ')}…)`] : []),
    ...(existsSync(settingsPath) ? [`the settings file ${settingsPath}`] : []),
    ...(hasTables === true ? ['tables in the database of DB_URL'] : []),
  ];
  if (found.length === 0) return;
  throw new HubError(
    'misconfigured',
    `Cannot restore: there is data already: ${found.join(', ')}. With --replace the backup takes its place, and what is there now is kept aside. Or name another folder: --data-dir, --settings.`,
  );
}

async function run(backup: Backup, place: RestorePlace, target: PostgresTarget | undefined): Promise<Restored> {
  const { dataDir, database } = place;
  const { manifest } = backup;
  const staging = join(dataDir, restoreNames.staging);
  await rm(staging, { recursive: true, force: true });
  await mustHaveRoom(dataDir, backup);
  await backup.unpackData(staging, (path) => isData(path) && fits(path, manifest, database.kind));
  const settings = await settingsIn(backup, database.kind);
  const secrets = await secretsOf(backup, place, staging);
  const converter = createConverter(secrets);
  const rules = rulesFor(manifest, database.kind, converter, staging);
  if (rules.more.size > 0 && place.jwtSecret === undefined) rules.more.set('secrets', [secretRow(secrets.tables)]);
  let loaded: LoadedTables = { left: [] };
  if (database.kind === 'embedded') loaded = await makeEmbeddedDatabase(staging, backup, rules);
  if (database.kind === 'off') await readAll(backup, rules);
  if (database.kind !== 'postgres' && manifest.database === 'postgres') converter.toFiles(staging);

  const aside = asideName();
  const change = !target ? 'none' : (await target.hasSchema()) ? 'replaced' : 'made';
  try {
    const done = await exchange(dataDir, { aside, settingsPath: place.settingsPath, settings, database: change });
    if (target) loaded = await target.replace(backup, rules, aside);
    await finishExchange(dataDir, done);
  } catch (error) {
    const plan = interruptedExchange(dataDir);
    if (plan) await undo(place, target, plan);
    throw error;
  }
  return {
    manifest,
    aside: existsSync(join(dataDir, aside)) ? join(dataDir, aside) : undefined,
    schemaAside: change === 'replaced' ? schemaName(aside) : undefined,
    notes: [...notesOn(manifest, place, loaded), ...unopenedNotes(converter)],
  };
}

/** Of the path of a file in a backup. */
function isData(path: string): boolean {
  const [first = ''] = path.split('/');
  return first !== 'database' && !isPassing(first);
}

/** Files that a hub with the other kind of database would misread are left out. */
function fits(path: string, from: Manifest, to: RestorePlace['database']['kind']): boolean {
  if (to === 'postgres' || from.database !== 'postgres') return true;
  return path !== 'settings-copy.json' && !path.startsWith('pins/');
}

async function mustHaveRoom(dataDir: string, { bytes }: Backup): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  // Rows take some more room in a database than as text.
  const needed = bytes * 2 + backupLimits.freeBytes;
  if (bavail * bsize >= needed) return;
  throw new HubError(
    'misconfigured',
    `Cannot restore: the backup needs ${Math.ceil(needed / 1024 / 1024)} MB on the disk of ${dataDir}, and ${Math.floor((bavail * bsize) / 1024 / 1024)} MB are free. Nothing was changed.`,
  );
}

/**
 * What the settings file has to be; undefined when the settings are a row of the tables that are restored. Its hash is
 * checked in any case.
 */
async function settingsIn(backup: Backup, to: RestorePlace['database']['kind']): Promise<string | undefined> {
  const text = await backup.text(settingsName);
  if (to === 'postgres' && backup.manifest.database === 'postgres') return undefined;
  if (text === undefined || backup.manifest.database !== 'postgres') return text;
  return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
}

function rulesFor(
  { database: from }: Manifest,
  to: RestorePlace['database']['kind'],
  converter: Converter,
  staging: string,
): TableRules & { readonly more: Map<string, readonly string[]> } {
  const converted = new Set<string>(inFiles);
  const toFiles = from === 'postgres' && to !== 'postgres';
  // Before the files are moved to where they belong.
  const more = from !== 'postgres' && to === 'postgres' ? [...converter.toRows(staging)] : [];
  return {
    more: new Map(more.map(([table, rows]) => [table, rows.map((row) => JSON.stringify(row))])),
    takeRow(table, row) {
      if (to === 'off' && !converted.has(table)) return true;
      if (!toFiles) return false;
      if (copiedInFiles.includes(table)) return true;
      if (!converted.has(table)) return false;
      const value: unknown = JSON.parse(row);
      if (isObject(value)) converter.take(table, value);
      return true;
    },
  };
}

/** Without a database there is no place for rows; those that are files there are taken. */
async function readAll(backup: Backup, { takeRow }: TableRules): Promise<void> {
  for (const table of Object.keys(backup.manifest.tables))
    for await (const rows of backup.lines(`${tableFolder}${table}.jsonl`)) for (const row of rows) takeRow(table, row);
}

const secretRow = (value: Buffer | undefined): string =>
  JSON.stringify({
    name: tableSecret,
    value: `\\x${value?.toString('hex') ?? ''}`,
    created_at: new Date().toISOString(),
  });

/** Its name in the table of secrets. */
const tableSecret = 'sign-ins';

/** What the files and the tables of second factors and credentials are sealed with. */
async function secretsOf(backup: Backup, { jwtSecret, database }: RestorePlace, staging: string): Promise<Secrets> {
  const hex = existsSync(join(staging, 'hub.secret')) ? readFileSync(join(staging, 'hub.secret'), 'utf8').trim() : '';
  const files = /^[0-9a-f]{64}$/.test(hex) ? Buffer.from(hex, 'hex') : undefined;
  if (jwtSecret !== undefined) return { files, tables: Buffer.from(jwtSecret) };
  // The hubs on this database will find it there.
  if (backup.manifest.database !== 'postgres' && database.kind === 'postgres')
    return { files, tables: randomBytes(32) };
  if (!('secrets' in backup.manifest.tables)) return { files, tables: undefined };
  for await (const rows of backup.lines(`${tableFolder}secrets.jsonl`))
    for (const row of rows) {
      const { name, value } = JSON.parse(row) as Record<string, unknown>;
      if (name === tableSecret) return { files, tables: Buffer.from(String(value).slice(2), 'hex') };
    }
  return { files, tables: undefined };
}

function notesOn(manifest: Manifest, { database, jwtSecret, dataDir }: RestorePlace, { left }: LoadedTables): string[] {
  const notes: string[] = [];
  const { tables } = manifest;
  const kept = ['activity', 'audit', 'logs'].filter((table) => (tables[table] ?? 0) > 0);
  if (database.kind === 'off' && kept.length > 0)
    notes.push(`This hub has no database (DB_URL=off): ${kept.join(', ')} stay in the backup alone.`);
  if (left.length > 0)
    notes.push(
      `This database has no place for ${left.join(', ')}: ${left.includes('embeddings') ? 'the vector extension is missing, and vectors are asked for again.' : 'they stay in the backup alone.'}`,
    );
  const note = secretNote(manifest, jwtSecret, resolve(dataDir));
  return note === undefined ? notes : [...notes, note];
}

/** What no longer works because the secret is another one. */
function secretNote({ jwtSecret: kept, database }: Manifest, jwtSecret: string | undefined, dataDir: string) {
  const consequence = `everybody logs in again, and lets clients in again${database === 'postgres' ? '; sign-ins to servers, credentials that users set, and second factors cannot be read' : ''}. Users, passwords, access keys, servers and records are as they were`;
  if (jwtSecret !== undefined)
    return isSameSecret(jwtSecret, kept)
      ? undefined
      : `JWT_SECRET is another one than that of the hub which made the backup: ${consequence}. To keep them, start the hub with the JWT_SECRET of before${kept.from === 'data folder' ? `, which is none: jwt.secret in ${dataDir} is then used` : ''}.`;
  return kept.from === 'data folder'
    ? undefined
    : `The hub that made the backup had a JWT_SECRET in its environment, and none is set here. A backup does not have it. Start the hub with the same JWT_SECRET; with another one, ${consequence}.`;
}

function unopenedNotes({ unopened }: Converter): string[] {
  return [...unopened].map(
    ([what, count]) =>
      `${count} ${what} could not be opened, because the secret that they are sealed with is not here: they are left out${what === 'second factors' ? ', and their users log in without one until they set it up again' : ''}.`,
  );
}
