import { ApiError } from '../api/client.ts';
import { problemIn } from '../i18n/hub-texts.ts';

/** What the hub says of the value at this path: `name`, `config.url`. */
export function problemAt(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const problem = error.problems.find((each) => each.path === path);
  return problem && (problemIn(problem) ?? problem.message);
}

/** Those of no path that a form has a field for: they belong above its buttons. */
export function otherProblems(error: unknown, paths: readonly string[]): readonly string[] {
  if (!(error instanceof ApiError)) return [];
  return error.problems
    .filter(({ path }) => !paths.includes(path))
    .map((problem) => `${problem.path} ${problemIn(problem) ?? problem.message}`.trim());
}
