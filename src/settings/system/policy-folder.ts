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

/** Files of one folder that are not as they were, by name. */
export interface PolicyFilesChange {
  readonly before: Readonly<Record<string, PolicyFile>>;
  readonly after: Readonly<Record<string, PolicyFile>>;
}

/**
 * Calls back when a file in the folder of policies has changed, with what has, or when another folder is named. The
 * folder is looked at now and then, as the settings file is: disks of containers announce nothing.
 */
export function watchPolicyFolder(
  folder: () => string | undefined,
  changed: (files: PolicyFilesChange | undefined) => void,
): { close(): void } {
  const look = (): Looked => {
    const named = folder();
    const files = named === undefined ? [] : policyFiles(named);
    return { named, files, text: JSON.stringify(files) };
  };
  let seen = look();
  const timer = setInterval(() => {
    const [before, now] = [seen, look()];
    if (now.text === before.text) return;
    seen = now;
    const differing = (files: Looked, others: Looked) =>
      Object.fromEntries(files.files.filter((one) => !others.files.some(isAs(one))).map((one) => [one.name, one]));
    const isSame = now.named === before.named;
    changed(isSame ? { before: differing(before, now), after: differing(now, before) } : undefined);
  }, settingsLimits.settingsPollMs).unref();
  return { close: () => clearInterval(timer) };
}

interface Looked {
  readonly named: string | undefined;
  readonly files: readonly PolicyFile[];
  readonly text: string;
}

const isAs = (one: PolicyFile) => (other: PolicyFile) =>
  one.name === other.name && one.text === other.text && one.problem === other.problem;

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
