import { z } from 'zod';
import { isForbiddenName } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { problemTable } from '../../core/problems.ts';
import { type PolicyProblem, readPolicy } from '../../core/policies/read-policy.ts';
import type { PolicySettings } from '../../core/settings/governance.ts';
import type { SystemSettings } from '../../core/settings/system.ts';
import { type Path, type Report, unique } from '../document/report.ts';
import { flag, text } from '../document/shape.ts';
import type { PolicyFile } from './policy-folder.ts';

/** `systemConfig.policies` (CONTRACT §9). Strict: what is mistyped here would allow what was to be forbidden. */
export const policiesShape = z
  .array(z.strictObject({ id: text, text, enabled: flag.optional() }))
  .max(coreLimits.policies);

/** Reads the policies of the settings and of the files in their folder; all are parsed, those switched off too. */
export function readPolicies(
  given: z.output<typeof policiesShape> = [],
  files: readonly PolicyFile[] = [],
  report: Report,
): Pick<SystemSettings, 'policies'> {
  const path: Path = ['systemConfig', 'policies'];
  const ids = new Map<string, Path>();
  const written = given.map(({ id, text, enabled = true }, i): PolicySettings => {
    checkId(id, [...path, i, 'id'], report);
    unique(ids, id, [...path, i, 'id'], 'the ids of policies must differ', report);
    note(readPolicy(text), '', [...path, i, 'text'], report);
    return { id, text, enabled, isFile: false };
  });
  const folder: Path = ['systemConfig', 'policyFolder'];
  const kept = files.map(({ name, text, problem }): PolicySettings => {
    if (problem !== undefined) report.problem(folder, problem);
    else note(readPolicy(text), `${name}, `, folder, report);
    unique(ids, name, folder, `a policy has the name of the file ${name} as its id`, report);
    return { id: name, text, enabled: true, isFile: true };
  });
  const policies = [...written, ...kept];
  if (policies.reduce((sum, { text }) => sum + text.length, 0) > coreLimits.policiesChars)
    report.problem(path, `have more than ${coreLimits.policiesChars} characters together`);
  return policies.length === 0 ? {} : { policies };
}

function checkId(id: string, path: Path, report: Report): void {
  if (!/^[\p{L}\p{N}._ -]{1,100}$/u.test(id) || isForbiddenName(id)) report.problem(path, problemTable.id_letters);
}

interface Read {
  readonly problems: readonly PolicyProblem[];
  readonly warnings: readonly PolicyProblem[];
}

function note({ problems, warnings }: Read, file: string, path: Path, report: Report): void {
  const words = ({ line, column, message }: PolicyProblem): string =>
    `${file}line ${line}, column ${column}: ${message}`;
  for (const problem of problems) report.problem(path, words(problem));
  for (const warning of warnings) report.warn(path, words(warning));
}
