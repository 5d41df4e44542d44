import { ApiError } from '../api/client.ts';

/** What the hub says of the value at this path: `name`, `config.url`. */
export function problemAt(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.problems.find((problem) => problem.path === path)?.message;
}

/** Those of no path that a form has a field for: they belong above its buttons. */
export function otherProblems(error: unknown, paths: readonly string[]): readonly string[] {
  if (!(error instanceof ApiError)) return [];
  return error.problems
    .filter(({ path }) => !paths.includes(path))
    .map(({ path, message }) => `${path} ${message}`.trim());
}
