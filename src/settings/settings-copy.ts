import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isObject } from '../core/protocol/rpc.ts';
import type { Loaded } from './backend.ts';

/** Where a hub with its settings in a database keeps a copy of the newest ones (0600). */
export function settingsCopyPath(dataDir: string): string {
  return join(dataDir, 'settings-copy.json');
}

/** The copy, which is an object of `revision` and `document`; undefined when there is none, or half a one. */
export async function readSettingsCopy(path: string): Promise<(Loaded & { kind: 'found' }) | undefined> {
  try {
    const copy: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (!isObject(copy) || typeof copy['revision'] !== 'string') return undefined;
    return { kind: 'found', document: copy['document'], revision: copy['revision'], notes: [] };
  } catch {
    return undefined;
  }
}
