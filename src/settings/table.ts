import { HubError, errorText } from '../core/errors.ts';
import { coreLimits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Database } from '../database/database.ts';
import { reasonOf } from '../database/failure.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import { writeFileAtomic } from '../disk/write-file-atomic.ts';
import type { Loaded, Saved, SettingsBackend, SettingsDocument } from './backend.ts';
import { parseSettings } from './document/parse-settings.ts';
import { withHashedKeys } from './key/hashed-keys.ts';
import { settingsLimits } from './limits.ts';
import { readSettingsCopy } from './settings-copy.ts';

export interface TableOptions {
  readonly database: DatabaseHandle;
  /** What an empty table is filled from, once. It is not looked at again. */
  readonly importFrom: SettingsBackend;
  /** Where a copy of the newest settings is kept (0600), so that a hub can start while its database is away. */
  readonly copyPath: string;
  /**
   * Called when nothing is known of the settings and the database is not there at the first attempt, before that is
   * waited for. What it throws is thrown by `load`.
   */
  readonly waiting: () => Promise<void>;
  readonly log: Logger;
}

const channel = 'settings';

/**
 * Settings in one row of the database, shared by all its hubs. The revision is the row's version. While the database is
 * away `load` gives what was known last, and `save` throws HubError `not_ready`; where nothing was known, `load` waits
 * for it until it is refused for good.
 */
export function settingsTable({ database, importFrom, copyPath, waiting, log }: TableOptions): SettingsBackend {
  let known: Loaded | undefined;

  async function load(): Promise<Loaded> {
    const loaded = await loadNow();
    if (loaded.kind === 'found') known = loaded;
    return loaded;
  }

  async function loadNow(): Promise<Loaded> {
    const last = known ?? (await readSettingsCopy(copyPath));
    if (last === undefined) return loadFirst();
    const open = await ready(known === undefined ? settingsLimits.settingsDatabaseMs : 0);
    if (open === undefined) return last;
    return loadStored(open).catch((error: unknown) => {
      log.warn('Cannot read the settings in the database', { error: reasonOf(error) });
      return last;
    });
  }

  /** Without settings there is nothing the hub can do but wait. */
  async function loadFirst(): Promise<Loaded> {
    await database.firstAttempt(settingsLimits.settingsDatabaseMs);
    const now = database.state();
    if (now.state === 'opening' || (now.state === 'down' && !now.refused)) await waiting();
    try {
      for (;;) {
        const loaded = await loadStored(await database.whenReadyOrRefused()).catch(unlessLost);
        if (loaded !== undefined) return loaded;
      }
    } catch (error) {
      if (error instanceof HubError) return { kind: 'broken', error };
      const message = `Cannot read the settings in the database of DB_URL: ${errorText(error)}.`;
      return { kind: 'broken', error: new HubError('misconfigured', message, { cause: error }) };
    }
  }

  async function loadStored(open: Database): Promise<Loaded> {
    const stored = (await readRow(open)) ?? (await fill(open));
    if (stored.kind === 'found') await keepCopy(stored);
    return stored;
  }

  /**
   * The table is empty: the file's settings become those of all hubs, if they can be used. Of several hubs that try,
   * one succeeds.
   */
  async function fill(open: Database): Promise<Loaded> {
    const file = await importFrom.load();
    if (file.kind !== 'found') return file;
    try {
      parseSettings(file.document);
    } catch (error) {
      if (error instanceof HubError) return { kind: 'broken', error };
      throw error;
    }
    const saved = await write(open, withHashedKeys(file.document as SettingsDocument), undefined);
    if (saved.kind === 'saved')
      log.info(`The settings of the ${importFrom.name} were copied to the database; from now on they live there`);
    return (await readRow(open)) ?? { kind: 'missing' };
  }

  async function keepCopy({ document, revision }: Loaded & { kind: 'found' }): Promise<void> {
    if (known?.kind === 'found' && known.revision === revision) return;
    await writeFileAtomic(copyPath, JSON.stringify({ revision, document })).catch((error: unknown) =>
      log.warn(
        `Cannot keep a copy of the settings in ${copyPath}; without one the hub cannot start while its database is away`,
        {
          error: errorText(error),
        },
      ),
    );
  }

  const ready = (timeoutMs: number): Promise<Database | undefined> =>
    database.whenReady(timeoutMs).catch(() => undefined);

  return {
    name: 'settings in the database',
    load,
    async save(document, basedOn) {
      const open = await database.whenReady(settingsLimits.settingsDatabaseMs);
      return write(open, document, basedOn);
    },
    watch: async (changed) => watch(database, changed),
  };
}

/** Undefined for a failure that the next connection may not have; throws all others. */
function unlessLost(error: unknown): undefined {
  if (!(error instanceof HubError) || error.code !== 'not_ready') throw error;
}

async function readRow(database: Database): Promise<Loaded | undefined> {
  const [row] = await database.query<{ version: string; document: string }>(
    'select version, document from toolhub.settings where id = 1',
  );
  return row && { kind: 'found', document: JSON.parse(row.document), revision: row.version, notes: [] };
}

async function write(database: Database, document: unknown, basedOn: string | undefined): Promise<Saved> {
  const text = JSON.stringify(document);
  if (Buffer.byteLength(text) > settingsLimits.settingsBytes) {
    throw new HubError(
      'too_large',
      `Cannot save the settings: they would be larger than ${settingsLimits.settingsBytes} bytes.`,
    );
  }
  return database.tx(async (tx) => {
    const [row] = await (basedOn === undefined
      ? tx.query<{ version: string }>(
          'insert into toolhub.settings (id, version, document) values (1, 1, $1) on conflict do nothing returning version',
          [text],
        )
      : tx.query<{ version: string }>(
          'update toolhub.settings set version = version + 1, document = $1, updated_at = now() where id = 1 and version = $2::bigint returning version',
          [text, basedOn],
        ));
    if (row === undefined) return { kind: 'stale' };
    await tx.query('select pg_notify($1, $2)', [channel, row.version]);
    return { kind: 'saved', revision: row.version };
  });
}

async function watch(database: DatabaseHandle, changed: () => void): Promise<{ close(): Promise<void> }> {
  let seen: string | undefined;
  const stopHearing = database.listen(channel, changed);
  const timer = setInterval(() => {
    void database.tryQuery<{ version: string }>('select version from toolhub.settings where id = 1').then((rows) => {
      const version = rows?.[0]?.version;
      if (version === undefined || version === seen) return;
      seen = version;
      changed();
    });
  }, coreLimits.settingsVersionMs);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      stopHearing();
    },
  };
}
