import type { CredentialSlot, TransportSettings } from '../../core/settings/types.ts';
import type { Path, Report } from '../document/report.ts';
import { settingsLimits } from '../limits.ts';
import { headerValueProblem, passedNameProblem } from './headers.ts';

interface Written {
  readonly target?: CredentialSlot['target'] | undefined;
  readonly name?: string | undefined;
  readonly label?: string | undefined;
}

/** `credentialTemplate` of a server that is reached in this way: each slot has a place where its value goes. */
export function readTemplate(
  written: readonly Written[] | undefined,
  transport: TransportSettings,
  path: Path,
  report: Report,
): { credentialTemplate?: readonly CredentialSlot[] } {
  const slots: CredentialSlot[] = [];
  if ((written ?? []).length > settingsLimits.credentialSlots)
    report.problem(path, `has ${written?.length} slots; ${settingsLimits.credentialSlots} at most`);
  for (const [index, { target, name = '', label }] of (written ?? []).entries()) {
    const fault =
      target === undefined ? 'needs a "target": "env", "headers" or "args"' : faultOf(target, name, transport);
    const isTwice = slots.some((slot) => slot.target === target && isSameName(target, slot.name, name));
    if (fault !== undefined) report.problem([...path, index], fault);
    else if (isTwice) report.problem([...path, index], 'is there twice; keep one');
    else if (target !== undefined) slots.push({ target, name, ...(label !== undefined && { label }) });
  }
  return slots.length === 0 ? {} : { credentialTemplate: slots };
}

function isSameName(target: CredentialSlot['target'], a: string, b: string): boolean {
  return target === 'headers' ? a.toLowerCase() === b.toLowerCase() : a === b;
}

function faultOf(target: CredentialSlot['target'], name: string, transport: TransportSettings): string | undefined {
  const isProgram = transport.type === 'stdio';
  switch (target) {
    case 'headers':
      return isProgram ? 'a program gets no headers; use "env" or "args"' : passedNameProblem(name.toLowerCase());
    case 'env':
      if (!isProgram) return 'only a program has variables; use "headers"';
      return /^[^=\0\s]+$/.test(name) ? undefined : 'a variable\'s name is not empty and has no "=" and no spaces';
    case 'args': {
      if (!isProgram) return 'only a program has arguments; use "headers"';
      if (!/^[\w.-]+$/.test(name)) return 'the name of an argument has letters, digits, ".", "_" and "-" only';
      const place = `\${credential:${name}}`;
      return transport.args.some((arg) => arg.includes(place)) ? undefined : `"args" has no ${place}, where it goes`;
    }
  }
}

/** What is wrong with a value that a user sets, or undefined. Never repeats the value. */
export function slotValueProblem({ target }: CredentialSlot, value: string): string | undefined {
  if (value.trim() === '') return 'must not be empty';
  if (value.length > settingsLimits.credentialChars)
    return `has more than ${settingsLimits.credentialChars} characters`;
  if (target === 'headers') return headerValueProblem(value);
  return value.includes('\0') ? 'contains a NUL character' : undefined;
}
