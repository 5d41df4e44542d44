import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseManifest } from './manifest.ts';
import { knownValues, type Origin, textsOf } from './origin.ts';
import { type BundleHost, type BundleWords, bundleWords } from './server-config.ts';

/** What an operator changed by hand in the entry of a bundle: it outlives the next version. */
export interface HandSet {
  /** Variables with the value they were given, or undefined where one was taken away. */
  readonly env: ReadonlyMap<string, string | undefined>;
  readonly description: string | undefined;
  /** Arguments cannot be carried over: they name files of the version before. */
  readonly args: boolean;
}

/** What the version that is there was made into; undefined when its manifest is gone or was edited beyond use. */
export async function wordsBefore(origin: Origin, parent: string, host?: BundleHost): Promise<BundleWords | undefined> {
  const folder = join(parent, origin.folder);
  try {
    const manifest = parseManifest(await readFile(join(folder, 'manifest.json'), 'utf8'));
    return bundleWords(manifest, folder, knownValues(origin, manifest), host);
  } catch {
    return undefined;
  }
}

/**
 * Compares an entry with what it was made as. A variable that takes a value given with this upload is that value's, and
 * of a secret it cannot be told who set it: such a variable is not among them.
 */
export function handSet(
  entry: Readonly<Record<string, unknown>>,
  before: BundleWords,
  next: { readonly words: BundleWords; readonly given: Readonly<Record<string, unknown>> },
): HandSet {
  const now = textsOf(entry['env']);
  const isGivenAnew = (name: string): boolean =>
    next.words.optionsOf(name).some((key) => Object.hasOwn(next.given, key));
  const changed = [...new Set([...before.env.keys(), ...Object.keys(now)])].filter((name) => {
    const isSecret = before.env.has(name) && before.env.get(name) === undefined;
    return !isSecret && now[name] !== before.env.get(name) && !isGivenAnew(name);
  });
  const { description, args } = entry;
  return {
    env: new Map(changed.map((name) => [name, now[name]])),
    description: typeof description === 'string' && description !== before.description ? description : undefined,
    args: before.args !== undefined && JSON.stringify(args ?? []) !== JSON.stringify(before.args),
  };
}
