import { filledTemplate } from '../../../../src/core/template.ts';
import type { BuiltinPrompt, JsonObject } from '../../api/types.ts';

/** A prompt of the hub as a form has it. */
export interface PromptDraft {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly template: string;
  readonly arguments: readonly ArgumentDraft[];
}

export interface ArgumentDraft {
  /** Tells rows apart while their names are typed. */
  readonly row: number;
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
  /** Members that the form has no field for. */
  readonly others: JsonObject;
}

export function draftOf(prompt: BuiltinPrompt | undefined): PromptDraft {
  const { name = '', title = '', description = '', template = '', arguments: given = [] } = prompt ?? {};
  const rows = given.map((one, row): ArgumentDraft => {
    const { name, required = false, description = '', ...others } = one as JsonObject & (typeof given)[number];
    return { row, name, required, description: typeof description === 'string' ? description : '', others };
  });
  return { name, title, description, template, arguments: rows };
}

/** What to send. Rows without a name are left out; `null` takes a text away. */
export function promptOf({ name, title, description, template, arguments: rows }: PromptDraft) {
  return {
    name: name.trim(),
    title: title === '' ? null : title,
    description: description === '' ? null : description,
    template,
    arguments: rows.flatMap((row) =>
      row.name.trim() === ''
        ? []
        : [
            {
              ...row.others,
              name: row.name.trim(),
              required: row.required,
              ...(row.description !== '' && { description: row.description }),
            },
          ],
    ),
  };
}

/** Names in the template that no argument has. */
export function unnamed({ template, arguments: rows }: PromptDraft): readonly string[] {
  const known = new Set(rows.map(({ name }) => name.trim()));
  const found = new Set<string>();
  filledTemplate(template, (name) => {
    if (!known.has(name)) found.add(name);
    return '';
  });
  return [...found];
}

/** The text that a client gets for these arguments. */
export function shownText({ template }: PromptDraft, values: Readonly<Record<string, string>>): string {
  return filledTemplate(template, (name) => (Object.hasOwn(values, name) ? (values[name] ?? '') : ''));
}
