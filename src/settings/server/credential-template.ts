import type { CredentialSlot, TransportSettings } from '../../core/settings/server.ts';
import type { Path, Report } from '../document/report.ts';
import { settingsLimits } from '../limits.ts';
import { headerValueProblem, passedNameProblem } from './headers.ts';
import { problemTable, problemText } from '../../core/problems.ts';

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
    const fault = target === undefined ? problemTable.slot_target : faultOf(target, name, transport);
    const isTwice = slots.some((slot) => slot.target === target && isSameName(target, slot.name, name));
    if (fault !== undefined) report.problem([...path, index], fault);
    else if (isTwice) report.problem([...path, index], problemTable.slot_twice);
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
      return isProgram ? problemTable.slot_no_headers : passedNameProblem(name.toLowerCase());
    case 'env':
      if (!isProgram) return problemTable.slot_no_variables;
      return /^[^=\0\s]+$/.test(name) ? undefined : 'a variable\'s name is not empty and has no "=" and no spaces';
    case 'args': {
      if (!isProgram) return problemTable.slot_no_arguments;
      if (!/^[\w.-]+$/.test(name)) return 'the name of an argument has letters, digits, ".", "_" and "-" only';
      const place = `\${credential:${name}}`;
      return transport.args.some((arg) => arg.includes(place)) ? undefined : problemText('slot_no_place', { place });
    }
  }
}

/** What is wrong with a value that a user sets, or undefined. Never repeats the value. */
export function slotValueProblem({ target }: CredentialSlot, value: string): string | undefined {
  if (value.trim() === '') return problemTable.empty;
  if (value.length > settingsLimits.credentialChars)
    return problemText('more_than', { most: `${settingsLimits.credentialChars}` });
  if (target === 'headers') return headerValueProblem(value);
  return value.includes('\0') ? problemTable.nul : undefined;
}
