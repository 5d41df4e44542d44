import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd, atFileEnd } from './at-end.ts';
import { copyOfEmbedded, silent } from './embedded-template.ts';
import { sharedPostgres } from './shared-postgres.ts';
import type { DatabasePlace } from '../../src/database/open.ts';
import { createDatabase } from '../../src/database/supervise.ts';
import type { DatabaseHandle } from '../../src/database/supervise.ts';

export { sharedPostgres, silent };

/** A temporary folder, removed at the end. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'toolhub-data-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** Where a test can have an empty database of either kind. */
export const places: Record<'postgres' | 'embedded', () => Promise<DatabasePlace>> = {
  embedded: async () => ({ url: undefined, dataDir: await copyOfEmbedded(tempFolder()), log: silent }),
  postgres: async () => ({ url: await (await sharedPostgres()).createDatabase(), dataDir: tempFolder(), log: silent }),
};

const handles = new Map<keyof typeof places, Promise<DatabaseHandle>>();

/**
 * A ready database with empty tables: one per kind and test file, because opening an embedded one is what takes time.
 */
export async function emptyDatabase(kind: keyof typeof places): Promise<DatabaseHandle> {
  const opening = handles.get(kind) ?? openShared(kind);
  handles.set(kind, opening);
  const handle = await opening;
  const open = await handle.whenReady(databaseWaitMs);
  await open.tx((tx) =>
    tx.script(
      'truncate toolhub.logs, toolhub.activity, toolhub.revocations, toolhub.settings, toolhub.oauth_tokens, toolhub.sign_ins, toolhub.consents, toolhub.last_uses, toolhub.audit',
    ),
  );
  return handle;
}

/** How long a test waits for a database on a machine that is busy with other tests. */
export const databaseWaitMs = 60_000;

async function openShared(kind: keyof typeof places): Promise<DatabaseHandle> {
  const url = kind === 'postgres' ? await (await sharedPostgres()).createDatabase() : undefined;
  const dataDir = mkdtempSync(join(tmpdir(), 'toolhub-shared-'));
  if (kind === 'embedded') await copyOfEmbedded(dataDir);
  const handle = createDatabase({ url, dataDir, log: silent });
  atFileEnd(async () => {
    handles.delete(kind);
    await handle.close();
    rmSync(dataDir, { recursive: true, force: true });
  });
  handle.start();
  await handle.whenReady(databaseWaitMs);
  return handle;
}
