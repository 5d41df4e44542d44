import type { Catalogue, Item, Offer } from '../catalogue.ts';
import { isAlike, isRenamed, type PinKind, pinKinds, type Pinnable, pinnables, textsWithoutNames } from './pin-item.ts';
import { riskOf, type RiskReport } from './pin-risk.ts';

/** What was approved, or first seen, of one server, and what was rejected. */
export interface Baseline {
  /** By `pinId`. */
  readonly approved: ReadonlyMap<string, PinnedText>;
  readonly rejected: ReadonlySet<string>;
  /** When what is not approved was first seen, by `pinId` and text; milliseconds since the epoch. */
  readonly seen: ReadonlyMap<string, SeenText>;
}

export interface PinnedText {
  /** JSON text as the server sent it. */
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export interface SeenText {
  /** Undefined for what is gone. */
  readonly text: string | undefined;
  readonly since: number;
}

export type PinState = 'approved' | 'changed' | 'new' | 'gone' | 'renamed' | 'rejected';

/** What a change means for a model is another question, and takes longer: `riskOfPin`. */
export interface Pin {
  /** `pinId`. */
  readonly id: string;
  readonly kind: PinKind;
  readonly name: string;
  readonly state: PinState;
  /** JSON texts, of what is not approved. `before.name` is there for a renamed one. */
  readonly before?: { readonly name: string; readonly text: string } | undefined;
  readonly now?: string | undefined;
  readonly since: number;
}

/** The state of each thing of a server; `at` for what is seen for the first time. */
export function pinsOf(baseline: Baseline, offer: Offer, at: number): Pin[] {
  const offered = pinnables(offer);
  const { texts, gone } = approvedOf(offered, baseline);
  const renames = renamesOf(offered, gone, baseline);
  const pins = offered.map((one, i): Pin => {
    const { id, kind, name } = one;
    const approved = texts[i];
    const before = approved ? { name: one.name, text: approved.text } : renames.get(id);
    const isSame = approved !== undefined && isAlike(one.kind, one.text, approved.text);
    const since = isSame ? approved.since : sinceOf(baseline, id, one.text, at);
    if (baseline.rejected.has(id)) return { id, kind, name, state: 'rejected', before, now: one.text, since };
    if (isSame) return { id, kind, name, state: 'approved', since };
    const state = approved ? 'changed' : before ? 'renamed' : 'new';
    return { id, kind, name, state, before, now: one.text, since };
  });
  const renamedFrom = new Set([...renames.values()].map(({ id }) => id));
  const left = gone
    .filter(([id]) => !renamedFrom.has(id))
    .map(([id, { text }]): Pin => {
      const [kind, name] = splitId(id);
      return {
        id,
        kind: kind as PinKind,
        name,
        state: 'gone',
        before: { name, text },
        since: sinceOf(baseline, id, undefined, at),
      };
    });
  return [...pins, ...left];
}

/**
 * What was approved of each offered thing, and of what is not offered any more. Usually both lists have the same order,
 * and nothing is looked up.
 */
function approvedOf(offered: readonly Pinnable[], { approved }: Baseline) {
  const texts: PinnedText[] = [];
  for (const [id, text] of approved) if (offered[texts.length]?.id === id) texts.push(text);
  if (texts.length === Math.max(approved.size, offered.length)) return { texts, gone: [] };
  const present = new Set(offered.map(({ id }) => id));
  const gone = [...approved].filter(([id]) => !present.has(id));
  return { texts: offered.map(({ id }) => approved.get(id)), gone };
}

/**
 * The risk of what differs from what was approved. Both texts are parsed and searched, 30 µs for a tool: so it is made
 * when it is told or read, and not when lists are compared.
 */
export function riskOfPin({ kind, before, now }: Pin): RiskReport {
  return now === undefined ? { risk: 'none', reasons: [], said: [] } : riskOf(kind, before?.text, now);
}

function sinceOf({ seen }: Baseline, id: string, text: string | undefined, at: number): number {
  const known = seen.size > 0 ? seen.get(id) : undefined;
  return known && known.text === text ? known.since : at;
}

function splitId(id: string): [string, string] {
  const at = id.indexOf('\n');
  return [id.slice(0, at), id.slice(at + 1)];
}

/** What is new, and does what something did that is gone: by `pinId` of the new one. */
function renamesOf(
  offered: readonly Pinnable[],
  gone: readonly (readonly [string, PinnedText])[],
  { approved }: Baseline,
): Map<string, { id: string; name: string; text: string }> {
  const found = new Map<string, { id: string; name: string; text: string }>();
  if (gone.length === 0) return found;
  const before = gone.map(([id, { text }]) => {
    const [kind, name] = splitId(id);
    return { id, kind: kind as PinKind, name, text };
  });
  const added = offered.filter(({ id }) => !approved.has(id));
  // Usually all of them, in the same order: then no text is made without a name.
  for (const [i, from] of before.entries()) {
    const to = added[i];
    if (to && isRenamed(from, to)) found.set(to.id, from);
  }
  if (found.size === before.length) return found;
  const paired = new Set(found.values());
  const left = before.filter((one) => !paired.has(one));
  const others = added.filter(({ id }) => !found.has(id));
  const texts = textsWithoutNames([...left, ...others]);
  const byText = new Map(left.map((one, i) => [texts[i], one]));
  for (const [i, { id }] of others.entries()) {
    const same = texts[left.length + i];
    const from = byText.get(same);
    if (!from) continue;
    byText.delete(same);
    found.set(id, from);
  }
  return found;
}

/** Those that answer as what does not exist: what was rejected, and under `hold` what is not approved. */
export function heldPins(pins: readonly Pin[], mode: 'off' | 'warn' | 'hold'): readonly Pin[] {
  return pins.filter(({ state }) => state === 'rejected' || (mode === 'hold' && waits.has(state)));
}

const waits: ReadonlySet<PinState> = new Set(['changed', 'new', 'renamed']);

/** Whether a state waits for the word of an admin. */
export function isWaiting({ state }: Pick<Pin, 'state'>): boolean {
  return waits.has(state) || state === 'gone';
}

/** The offer without what is held. */
export function withoutHeld(offer: Offer, held: readonly Pin[]): Offer {
  if (held.length === 0) return offer;
  const namesOf = (kind: PinKind) => new Set(held.filter((pin) => pin.kind === kind).map(({ name }) => name));
  const hidden = new Map(pinKinds.map((kind) => [kind, namesOf(kind)]));
  const names = (kind: PinKind): ReadonlySet<string> => hidden.get(kind) ?? new Set();
  const without = (items: readonly Item[], kind: PinKind): readonly Item[] =>
    names(kind).size === 0 ? items : items.filter(({ key }) => !names(kind).has(key));
  const hasInstructions = names('instructions').size === 0;
  return {
    ...offer,
    about: hasInstructions ? offer.about : { ...offer.about, instructions: undefined },
    tools: without(offer.tools, 'tool'),
    prompts: without(offer.prompts, 'prompt'),
    resources: without(offer.resources, 'resource'),
    templates: without(offer.templates, 'resourceTemplate'),
    held: [...names('resource'), ...names('resourceTemplate')],
  };
}

/** The catalogue in which these offers take the place of those of the same server. */
export function catalogueWith(catalogue: Catalogue, offers: ReadonlyMap<string, Offer>): Catalogue {
  if (offers.size === 0) return catalogue;
  const all = new Map([...catalogue.offers].map(([name, offer]) => [name, offers.get(name) ?? offer]));
  return { ...catalogue, offers: all };
}
