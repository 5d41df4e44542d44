import type { JsonObject, ToolOverride } from '../../api/types.ts';
import { isObject } from '../../lib/json.ts';

/** What a form has of an override of a tool (docs/overrides.md). Empty stands for "as the server says". */
export interface Draft {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly hints: Readonly<Record<Hint, Said>>;
  readonly arguments: readonly ArgumentDraft[];
  /** Members of the annotations that the form has no field for. */
  readonly otherAnnotations: JsonObject;
}

export const hints = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;
export type Hint = (typeof hints)[number];
export type Said = '' | 'yes' | 'no';

/** `open`: clients give it as the server says; `default`: they may; `value`: they cannot choose. */
export const ways = ['open', 'default', 'value'] as const;
export type Way = (typeof ways)[number];

export interface ArgumentDraft {
  readonly name: string;
  readonly way: Way;
  /** The value: a text as it is where the argument is one, otherwise JSON. */
  readonly text: string;
  readonly isText: boolean;
  readonly hidden: boolean;
  readonly description: string;
  /** What the server says of it; undefined where it has no such argument now. */
  readonly own: { readonly type: string; readonly required: boolean; readonly description: string } | undefined;
}

/** The answer of the hub as a form has it. */
export function draftOf({ before, override }: ToolOverride): Draft {
  const given = override ?? {};
  const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint, ...otherAnnotations } = members(
    given['annotations'],
  );
  const rules = members(given['arguments']);
  const schema = members(before?.['inputSchema']);
  const properties = members(schema['properties']);
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = [...Object.keys(properties), ...Object.keys(rules).filter((name) => !Object.hasOwn(properties, name))];
  return {
    name: textIn(given['name']),
    title: textIn(given['title']),
    description: textIn(given['description']),
    hints: {
      readOnlyHint: saidIn(readOnlyHint),
      destructiveHint: saidIn(destructiveHint),
      idempotentHint: saidIn(idempotentHint),
      openWorldHint: saidIn(openWorldHint),
    },
    otherAnnotations,
    arguments: names.map((name) =>
      argumentOf(name, members(rules[name]), {
        own: Object.hasOwn(properties, name) ? members(properties[name]) : undefined,
        required: required.includes(name),
      }),
    ),
  };
}

interface Own {
  readonly own: JsonObject | undefined;
  readonly required: boolean;
}

function argumentOf(name: string, rule: JsonObject, { own, required }: Own): ArgumentDraft {
  const way: Way = 'value' in rule ? 'value' : 'default' in rule ? 'default' : 'open';
  const value = way === 'open' ? undefined : rule[way];
  // A value that is no text would become one.
  const isText = own?.['type'] === 'string' && (value === undefined || typeof value === 'string');
  return {
    name,
    way,
    text: value === undefined ? '' : isText ? value : JSON.stringify(value),
    isText,
    hidden: rule['hidden'] === true,
    description: textIn(rule['description']),
    own: own && { type: typeOf(own), required, description: textIn(own['description']) },
  };
}

/** What to send, and which values cannot be. */
export function overrideOf(draft: Draft): { readonly override: JsonObject; readonly wrong: readonly string[] } {
  const wrong: string[] = [];
  const rules = draft.arguments.flatMap(({ name, way, text, isText, hidden, description }) => {
    const value = way === 'open' ? undefined : isText ? text : jsonIn(text);
    if (way !== 'open' && value === undefined) wrong.push(`arguments.${name}.${way}`);
    const rule = {
      ...(way !== 'open' && { [way]: value }),
      ...(hidden && { hidden }),
      ...(description !== '' && { description }),
    };
    return Object.keys(rule).length === 0 ? [] : [[name, rule] as const];
  });
  const said = hints.flatMap((hint) =>
    draft.hints[hint] === '' ? [] : [[hint, draft.hints[hint] === 'yes'] as const],
  );
  const annotations = { ...draft.otherAnnotations, ...Object.fromEntries(said) };
  const override = {
    ...(draft.name !== '' && { name: draft.name }),
    ...(draft.title !== '' && { title: draft.title }),
    ...(draft.description !== '' && { description: draft.description }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
    ...(rules.length > 0 && { arguments: Object.fromEntries(rules) as JsonObject }),
  };
  return { override, wrong };
}

/** Where the form shows what is wrong by itself. */
export function pathsOf(draft: Draft): readonly string[] {
  const ofArguments = draft.arguments.flatMap(({ name }) =>
    ['value', 'default', 'hidden', 'description'].map((member) => `arguments.${name}.${member}`),
  );
  return ['name', 'title', 'description', ...ofArguments, ...draft.arguments.map(({ name }) => `arguments.${name}`)];
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function members(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function saidIn(value: unknown): Said {
  return value === true ? 'yes' : value === false ? 'no' : '';
}

function typeOf({ type, enum: choices }: JsonObject): string {
  if (Array.isArray(choices)) return choices.map((one) => JSON.stringify(one)).join(' | ');
  return Array.isArray(type) ? type.join(' | ') : textIn(type);
}
