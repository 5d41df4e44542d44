import { type Draft, type Editor, listOf } from '../document.ts';
import { HubError, type Problem } from '../../errors.ts';
import type { RequiredConfig } from '../required-config.ts';
import { maskServer } from '../secrets.ts';
import { addServer } from '../servers.ts';
import type { ImportedServer } from './parse.ts';

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
 * Adds imported servers to the settings document, each by itself: one that is there already or cannot work costs the others nothing. `check` tells what is
 * wrong with a configuration, and in sentences what is odd.
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
      addServer(draft, by, { name, config: withoutOrigin(draft, config) });
      return { ...result, status: 'created', message: ['Server added successfully.', ...advice].join(' ') };
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      const { code, message, problems } = error;
      if (code === 'conflict') return { ...result, status: 'exists', message };
      return { ...result, status: 'invalid', message, errors: problems };
    }
  });
}

/** An owner, and a folder of a bundle, are those of the hub it was exported from. */
function withoutOrigin(draft: Draft, config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isKnown = listOf(draft, 'users').some((user) => user['username'] === config['owner']);
  return Object.fromEntries(Object.entries(config).filter(([key]) => key !== 'bundle' && (key !== 'owner' || isKnown)));
}

function wordsOf(problems: readonly Problem[]): string {
  return problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
}
