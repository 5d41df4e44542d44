import { HubError, type Problem } from '../../core/errors.ts';
import { invalid } from '../../core/input.ts';
import { childPath } from '../../core/json/path.ts';
import { pathText } from '../../settings/document/report.ts';

/**
 * Where something of a request ends up in the settings, and where it was in the body: `['mcpServers', 'x']` is
 * `config`.
 */
export interface RequestPlace {
  readonly settings: readonly string[];
  /** Empty when it is the body itself. */
  readonly body: string;
}

/** The place of a server whose configuration is the member `config` of the body. */
export function placeOf(server: string): RequestPlace {
  return { settings: ['mcpServers', server], body: 'config' };
}

/** Problems that the settings have with what was sent, at their paths in the body: who sent it knows no other. */
export function atRequestPaths(problems: readonly Problem[], { settings, body }: RequestPlace): Problem[] {
  const prefix = pathText(settings);
  return problems.map(({ path, message }) => {
    if (path === prefix) return { path: body, message };
    const rest = remainder(path, prefix);
    if (!/^[.[]/.test(rest)) return { path, message };
    return { path: body === '' ? rest.replace(/^\./, '') : body + rest, message };
  });
}

/**
 * Waits for a change of the settings. Throws what it throws, with the problems of its outcome as `problemsAsSent` has
 * them.
 */
export async function withRequestPaths<T>(change: Promise<T>, place: RequestPlace, attempt: string): Promise<T> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof HubError) || error.code !== 'invalid_input') throw error;
    const problems = atRequestPaths(error.problems, place);
    const isSame = problems.every(({ path }, i) => path === error.problems[i]?.path);
    throw isSame ? error : invalid(attempt, problems);
  }
}

/** Warnings as sentences; of members that were not sent (`given` has those that were) there is nothing to say. */
export function adviceAtRequestPaths(
  warnings: readonly Problem[],
  place: RequestPlace,
  given: readonly string[],
): string[] {
  const sent = new Set(given.map((member) => childPath(place.body, member)));
  return atRequestPaths(warnings, place).flatMap(({ path, message }) => {
    const isSent = path === place.body || [...sent].some((at) => path === at || /^[.[]/.test(remainder(path, at)));
    return isSent ? [`${path} ${message.replace(/\.$/, '')}.`] : [];
  });
}

function remainder(path: string, prefix: string): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : '';
}
