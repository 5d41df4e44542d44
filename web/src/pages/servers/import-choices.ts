import type { ImportedServer } from '../../api/types.ts';

/** What is decided about the servers of a pasted text, by their names in it. */
export interface Choices {
  readonly left: ReadonlySet<string>;
  /** Other names, of those whose name is taken. */
  readonly rename: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export const noChoices: Choices = { left: new Set(), rename: {}, values: {} };

/** Whether it will be added: one whose name is taken once it has another. */
export function isTaken({ name, status }: Pick<ImportedServer, 'name' | 'status'>, { left, rename }: Choices): boolean {
  if (left.has(name)) return false;
  return status === 'ready' || (status === 'exists' && (rename[name] ?? '').trim() !== '');
}

export function turned(choices: Choices, name: string, take: boolean): Choices {
  const left = new Set(choices.left);
  if (take) left.delete(name);
  else left.add(name);
  return { ...choices, left };
}

export function withValue(choices: Choices, name: string, key: string, value: string): Choices {
  return { ...choices, values: { ...choices.values, [name]: { ...choices.values[name], [key]: value } } };
}
