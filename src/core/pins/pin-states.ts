import type { Catalogue, Item, Offer } from '../catalogue.ts';
import { pinId, type PinKind, type Pinnable, pinnables, plainText, textWithoutName } from './pin-item.ts';
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

export interface Pin extends RiskReport {
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
  const present = new Set(offered.map(pinId));
  const gone = [...baseline.approved].filter(([id]) => !present.has(id));
  const renames = renamesOf(offered, gone, baseline);
  const pins = offered.map((one): Pin => {
    const id = pinId(one);
    const approved = baseline.approved.get(id);
    const before = approved ? { name: one.name, text: approved.text } : renames.get(id);
    const isSame = approved !== undefined && isUnchanged(one, approved.text);
    const since = isSame ? approved.since : sinceOf(baseline, id, one.text, at);
    const { kind, name } = one;
    if (baseline.rejected.has(id))
      return { kind, name, state: 'rejected', ...riskOf(kind, before?.text, one.text), before, now: one.text, since };
    if (isSame) return { kind, name, state: 'approved', risk: 'none', reasons: [], since };
    const state = approved ? 'changed' : before ? 'renamed' : 'new';
    return { kind, name, state, ...riskOf(kind, before?.text, one.text), before, now: one.text, since };
  });
  const renamedFrom = new Set([...renames.values()].map(({ id }) => id));
  const left = gone
    .filter(([id]) => !renamedFrom.has(id))
    .map(([id, { text }]): Pin => {
      const [kind, name] = splitId(id);
      return {
        kind: kind as PinKind,
        name,
        state: 'gone',
        risk: 'none',
        reasons: [],
        before: { name, text },
        since: sinceOf(baseline, id, undefined, at),
      };
    });
  return [...pins, ...left];
}

function sinceOf({ seen }: Baseline, id: string, text: string | undefined, at: number): number {
  const known = seen.get(id);
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
  const byText = new Map<string, { id: string; name: string; text: string }>();
  for (const [id, { text }] of gone) {
    const [kind, name] = splitId(id);
    byText.set(textWithoutName({ kind: kind as PinKind, text }), { id, name, text });
  }
  for (const one of offered) {
    if (approved.has(pinId(one))) continue;
    const same = textWithoutName(one);
    const from = byText.get(same);
    if (!from) continue;
    byText.delete(same);
    found.set(pinId(one), from);
  }
  return found;
}

/** Whether a thing is what was approved, but for what does not count. Looked into only where the texts differ. */
function isUnchanged(one: Pinnable, approved: string): boolean {
  return one.text === approved || plainText(one) === plainText({ kind: one.kind, text: approved });
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
  const names = (kind: PinKind): ReadonlySet<string> =>
    new Set(held.filter((one) => one.kind === kind).map(({ name }) => name));
  const without = (items: readonly Item[], kind: PinKind): readonly Item[] => {
    const hidden = names(kind);
    return hidden.size === 0 ? items : items.filter(({ key }) => !hidden.has(key));
  };
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
