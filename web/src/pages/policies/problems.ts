import type { Problem } from '../../api/client.ts';
import { problemIn } from '../../i18n/hub-texts.ts';

/** What is wrong with a text, and where: lines and columns begin at 1. */
export interface TextProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

interface PolicyProblems {
  readonly inText: readonly TextProblem[];
  readonly ofId: string | undefined;
  /** The paths that these are of. */
  readonly paths: readonly string[];
}

/** What the hub says of a policy that was tried or saved: only the one that was edited can be wrong. */
export function problemsOf(problems: readonly Problem[]): PolicyProblems {
  const inText: TextProblem[] = [];
  const paths: string[] = [];
  let ofId: string | undefined;
  for (const problem of problems) {
    const { path, message } = problem;
    const [, member] = /\bpolicies\[\d+\]\.(text|id)$/.exec(path) ?? [];
    const [, line, column, words = ''] = /^line (\d+), column (\d+): (.*)$/s.exec(message) ?? [];
    if (member === 'text' && line !== undefined)
      inText.push({ line: Number(line), column: Number(column), message: problemIn(problem) ?? words });
    else if (member === 'id') ofId ??= problemIn(problem) ?? message;
    else continue;
    paths.push(path);
  }
  return { inText, ofId, paths };
}

/** How many characters stand before a place in a text. */
export function offsetOf(text: string, { line, column }: Pick<TextProblem, 'line' | 'column'>): number {
  const before = text
    .split('\n')
    .slice(0, line - 1)
    .reduce((sum, each) => sum + each.length + 1, 0);
  return Math.min(text.length, before + column - 1);
}
