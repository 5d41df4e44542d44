import { HubError, type Problem } from '../../core/errors.ts';
import { type Draft, type Editor, type Entry, listOf, serversOf } from '../document/document.ts';
import type { RequiredConfig } from '../server/required-config.ts';
import { addServer, switchOffUnvouched } from '../server/server-edits.ts';
import { isOfAdmin } from '../server/server-rights.ts';
import { maskServer } from '../server/server-secrets.ts';
import type { ImportedServer } from './client-config.ts';

/** What became, or would become, of one server of an import. Paths of `errors` begin with `config`. */
export interface ImportResult {
  readonly name: string;
  /** `ready`: would be created, were it not a preview. */
  readonly status: 'created' | 'ready' | 'exists' | 'invalid';
  readonly message: string;
  /** Secrets hidden. */
  readonly config: Record<string, unknown>;
  readonly requiredConfig: readonly RequiredConfig[];
  readonly errors?: readonly Problem[];
}

export interface Checked {
  readonly errors: readonly Problem[];
  readonly advice: readonly string[];
}

/**
 * Adds imported servers to the settings document, each by itself: one that is there already or cannot work costs the
 * others nothing. `check` tells what is wrong with a configuration, and in sentences what is odd.
 */
export function addImported(
  draft: Draft,
  by: Editor,
  servers: readonly ImportedServer[],
  check: (name: string, config: Readonly<Record<string, unknown>>) => Checked,
): ImportResult[] {
  return servers.map(({ name, config, requiredConfig }) => {
    const result = { name, config: maskServer(config), requiredConfig };
    const { errors, advice } = check(name, config);
    if (errors.length > 0) return { ...result, status: 'invalid', message: wordsOf(errors), errors };
    try {
      const { own, notes } = withoutOrigin(draft, config);
      addServer(draft, by, { name, config: own }, false);
      return {
        ...result,
        status: 'created',
        message: ['Server added successfully.', ...notes, ...unpublished(draft, name), ...advice].join(' '),
      };
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      const { code, message, problems } = error;
      if (code === 'conflict') return { ...result, status: 'exists', message };
      return { ...result, status: 'invalid', message, errors: problems };
    }
  });
}

/**
 * An owner, and a folder of a bundle, are those of the hub it was exported from. No admin of this hub has vouched yet
 * for a server that another user owned there.
 */
function withoutOrigin(draft: Draft, config: Readonly<Entry>): { own: Entry; notes: string[] } {
  const { bundle: _bundle, ...own }: Entry = config;
  const { owner } = own;
  if (typeof owner !== 'string' || listOf(draft, 'users').some((user) => user['username'] === owner))
    return { own, notes: [] };
  delete own['owner'];
  // In files, `admin` is the name of the hub's operator.
  if (owner === 'admin' || !switchOffUnvouched(own)) return { own, notes: [] };
  const why = `It was ${owner}'s, who is no user here, and is yours and switched off now: look where it leads and what it sends before you switch it on.`;
  return { own, notes: [why] };
}

/** What a text from elsewhere calls public is so for a user's server once an admin has said it here. */
function unpublished(draft: Draft, name: string): string[] {
  const entry = serversOf(draft)[name] ?? {};
  if (entry['visibility'] !== 'public' || isOfAdmin(draft, entry)) return [];
  return [`It is ${String(entry['owner'])}'s, and public once an admin makes it public here.`];
}

function wordsOf(problems: readonly Problem[]): string {
  return problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
}
