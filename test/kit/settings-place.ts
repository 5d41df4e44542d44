import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HubError } from '../../src/core/errors.ts';
import type { SettingsDocument } from '../../src/settings/backend.ts';
import { settingsFile } from '../../src/settings/file.ts';
import { openSettings } from '../../src/settings/store.ts';
import type { SettingsStore } from '../../src/settings/store.ts';
import { atEnd } from './at-end.ts';

/**
 * A folder of its own for the running test, with a settings file in it (not yet there) and stores of it that close by
 * themselves.
 */
export interface SettingsPlace {
  readonly folder: string;
  readonly path: string;
  /** What the stores logged, `<level> <message>`. */
  readonly lines: string[];
  open(initial?: SettingsDocument): Promise<SettingsStore>;
  /** Edits the file as a person does. */
  write(document: unknown): void;
  read(): SettingsDocument;
  logged(level: 'info' | 'warn' | 'error'): string[];
}

export function settingsPlace(): SettingsPlace {
  const folder = mkdtempSync(join(tmpdir(), 'settings-'));
  const path = join(folder, 'mcp_settings.json');
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const lines: string[] = [];
  const level = (name: string) => (message: string) => void lines.push(`${name} ${message}`);
  const log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') };
  return {
    folder,
    path,
    lines,
    async open(initial) {
      const store = await openSettings({ backend: settingsFile(path), log, ...(initial && { initial }) });
      atEnd(() => store.close());
      return store;
    },
    write: (document) => writeFileSync(path, JSON.stringify(document, null, 2)),
    read: () => JSON.parse(readFileSync(path, 'utf8')) as SettingsDocument,
    logged: (name) => lines.filter((line) => line.startsWith(name)),
  };
}

export const program = (command: string) => ({ command });

/** An edit that adds a server of that name. */
export const addServer = (name: string) => (draft: SettingsDocument) => {
  draft.mcpServers = { ...draft.mcpServers, [name]: program(name) };
};

/** The HubError that a promise is refused with; anything else fails the test. */
export async function refusalOf(promise: Promise<unknown>): Promise<HubError> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof HubError) return error;
  throw new Error('not refused with a HubError', { cause: error });
}
