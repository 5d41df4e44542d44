import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errorText } from '../../core/errors.ts';
import { coreLimits } from '../../core/limits.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { settingsLimits } from '../limits.ts';

/** A file `*.cedar` of `systemConfig.policyFolder`; `problem` in place of its text when it cannot be read. */
export interface PolicyFile {
  readonly name: string;
  readonly text: string;
  readonly problem?: string;
}

/**
 * Puts the files of `systemConfig.policyFolder` beside `policies` in a document that is to be read; nothing of it is
 * written down. What is no document is reported where it is read.
 */
export function withPolicyFiles(document: unknown): unknown {
  const system = isObject(document) ? document['systemConfig'] : undefined;
  const folder = isObject(system) ? system['policyFolder'] : undefined;
  if (!isObject(document) || !isObject(system) || typeof folder !== 'string' || folder.trim() === '') return document;
  return { ...document, systemConfig: { ...system, policyFiles: policyFiles(folder.trim()) } };
}

/** What `withPolicyFiles` put there. */
export function policyFilesIn(system: unknown): readonly PolicyFile[] {
  const files = isObject(system) ? system['policyFiles'] : undefined;
  return Array.isArray(files)
    ? (files as PolicyFile[]).filter((file) => isObject(file) && typeof file.text === 'string')
    : [];
}

/**
 * Calls back when a file in the folder of policies has changed, or another folder is named. The folder is looked at now
 * and then, as the settings file is: disks of containers announce nothing.
 */
export function watchPolicyFolder(folder: () => string | undefined, changed: () => void): { close(): void } {
  const look = (): string => {
    const named = folder();
    return named === undefined ? '' : JSON.stringify(policyFiles(named));
  };
  let seen = look();
  const timer = setInterval(() => {
    const now = look();
    if (now === seen) return;
    seen = now;
    changed();
  }, settingsLimits.settingsPollMs).unref();
  return { close: () => clearInterval(timer) };
}

/** In the order of their names. A folder that cannot be read is one problem. */
function policyFiles(folder: string): PolicyFile[] {
  const path = resolve(folder);
  let names: string[];
  try {
    names = readdirSync(path).filter((name) => name.endsWith('.cedar') && !name.startsWith('.'));
  } catch (error) {
    return [{ name: folder, text: '', problem: `cannot be read: ${errorText(error)}` }];
  }
  if (names.length > settingsLimits.policyFiles)
    return [{ name: folder, text: '', problem: `has more than ${settingsLimits.policyFiles} files` }];
  return names.sort().map((name) => readOne(path, name));
}

function readOne(folder: string, name: string): PolicyFile {
  try {
    const path = join(folder, name);
    const about = statSync(path);
    if (!about.isFile()) return { name, text: '', problem: `${name} is no file` };
    if (about.size > 4 * coreLimits.policyChars) return { name, text: '', problem: `${name} is too long` };
    return { name, text: readFileSync(path, 'utf8') };
  } catch (error) {
    return { name, text: '', problem: `${name} cannot be read: ${errorText(error)}` };
  }
}
