import type { Offer } from '../catalogue.ts';
import { isObject } from '../protocol/rpc.ts';

/** What of a server is pinned (CONTRACT §9, Pins). */
export const pinKinds = ['tool', 'prompt', 'resource', 'resourceTemplate', 'instructions'] as const;
export type PinKind = (typeof pinKinds)[number];

/** One thing as a server offers it now. */
export interface Pinnable {
  readonly kind: PinKind;
  /** Name, URI or template; of instructions `instructions`. */
  readonly name: string;
  /** JSON text as the server sent it; of instructions a JSON string. */
  readonly text: string;
}

const listOf = { tool: 'tools', prompt: 'prompts', resource: 'resources', resourceTemplate: 'templates' } as const;

/** Everything of an offer that is pinned. */
export function pinnables(offer: Offer): Pinnable[] {
  const items = (Object.keys(listOf) as (keyof typeof listOf)[]).flatMap((kind) =>
    offer[listOf[kind]].map(({ key, text }): Pinnable => ({ kind, name: key, text })),
  );
  const { instructions } = offer.about;
  if (instructions === undefined) return items;
  return [...items, { kind: 'instructions', name: 'instructions', text: JSON.stringify(instructions) }];
}

/** One text per thing of a server. */
export function pinId({ kind, name }: Pick<Pinnable, 'kind' | 'name'>): string {
  return `${kind}\n${name}`;
}

/**
 * What counts of a thing, in one spelling: members sorted, without titles, icons, and what says when or how large
 * something is. Two with the same text are the same to a model.
 */
export function plainText({ kind, text }: Pick<Pinnable, 'kind' | 'text'>): string {
  const value: unknown = JSON.parse(text);
  return JSON.stringify(sorted(kind === 'instructions' || !isObject(value) ? value : counting(value)));
}

/** Without its name too: two with the same text do the same under other names. */
export function textWithoutName({ kind, text }: Pick<Pinnable, 'kind' | 'text'>): string {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) return JSON.stringify([kind, value]);
  const { name: _, uri: _uri, uriTemplate: _template, ...rest } = counting(value);
  return JSON.stringify([kind, sorted(rest)]);
}

/** What a model reads, and what a client acts by. */
function counting(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { title: _title, icons: _icons, size: _size, _meta: meta, annotations, ...rest } = value;
  const ui = isObject(meta) ? meta['ui'] : undefined;
  const {
    title: _annotated,
    lastModified: _modified,
    priority: _priority,
    ...hints
  } = isObject(annotations) ? annotations : {};
  return {
    ...rest,
    ...(Object.keys(hints).length > 0 && { annotations: hints }),
    ...(ui !== undefined && { _meta: { ui } }),
  };
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  // No member can take the place of a prototype: `fromEntries` defines its members.
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}
