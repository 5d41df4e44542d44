import { ApiError, type Problem } from '../api/client.ts';
import { problemIn } from '../i18n/hub-texts.ts';

/** Everything that the hub says of single values. */
export function problemsOf(error: unknown): readonly Problem[] {
  return error instanceof ApiError ? error.problems : [];
}

/** What the hub says of the value at this path: `name`, `config.url`. */
export function problemAt(error: unknown, path: string): string | undefined {
  const problem = problemsOf(error).find((each) => each.path === path);
  return problem && (problemIn(problem) ?? problem.message);
}

/** Those of no path that a form has a field for: they belong above its buttons. */
export function otherProblems(error: unknown, paths: readonly string[]): readonly string[] {
  return problemsOf(error)
    .filter(({ path }) => !paths.includes(path))
    .map((problem) => `${problem.path} ${problemIn(problem) ?? problem.message}`.trim());
}
