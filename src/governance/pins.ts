import type { Catalogue, Offer } from '../core/catalogue.ts';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { decided, firstSeen, isSeen, nothingApproved, withSeen } from '../core/pins/baseline.ts';
import { pinId, pinnables } from '../core/pins/pin-item.ts';
import { type Baseline, catalogueWith, heldPins, isWaiting, type Pin, pinsOf } from '../core/pins/pin-states.ts';
import type { PinMode } from '../core/settings/governance.ts';
import type { ServerSettings } from '../core/settings/server.ts';
import type { Settings } from '../core/settings/settings.ts';
import { governanceLimits } from './limits.ts';
import { found, noPins, pinModeOf, sameAs } from './pin-rules.ts';
import { renameServer, type RenameParts, turnsOfServers, withoutHalves } from './pin-renames.ts';
import { type PinStore, waitsUntil } from './pin-store.ts';

/** Pins of what servers offer (CONTRACT §9): what was first seen counts, what differs is told or held back. */
export interface Pins {
  /** The catalogue without what is held back: what every caller sees. The same catalogue gives the same object. */
  applied(catalogue: Catalogue): Catalogue;
  /** Keeps what is first seen, and tells what is new, changed or gone. To be called after each change. */
  learn(): void;
  /** By server and thing, in the order of the settings. */
  list(filter: {
    readonly server?: string | undefined;
    readonly state?: string | undefined;
  }): readonly (Pin & { readonly server: string })[];
  /** What the pin of one tool says; undefined where pins are off. */
  of(server: string, tool: string): { readonly state: string; readonly isHeld: boolean } | undefined;
  /** A thing as its server offers it now, as JSON text. */
  readonly textOf: (server: string, pin: PinName) => string | undefined;
  /**
   * Makes what a server offers now, or some of it, the baseline; or rejects it. Without items: all that waits. Throws
   * HubError `not_found` for a server without pins and an item that it does not have, and `conflict` where another
   * version of the hub has kept them and this one cannot read them.
   */
  decide(
    server: string,
    decision: 'approve' | 'reject',
    items: readonly PinName[] | undefined,
  ): Promise<readonly Pin[]>;
  /**
   * Renames a server by `change`, which changes the settings, and answers what that does. What is kept of the server is
   * there under both names while the settings change, so that nothing counts as first seen under the new one. What
   * `change` throws is thrown, and all of the old name stays; HubError `not_ready` or `conflict` before it is called.
   */
  rename<T>(from: string, to: string, change: () => Promise<T>): Promise<T>;
  deleted(server: string): Promise<void>;
  close(): void;
}

export type PinName = Pick<Pin, 'kind' | 'name'>;

export interface PinOptions {
  readonly store: PinStore;
  readonly settings: () => Settings;
  /** As servers offer it. */
  readonly catalogue: () => Catalogue;
  /** Called with what is told: a thing that is new, changed, renamed or gone. */
  readonly told: (server: string, pin: Pin, isHeld: boolean) => void;
  /** So many more things of the same list. */
  readonly toldMore: (server: string, more: number) => void;
  /** What callers see may have changed. */
  readonly changed: () => void;
  readonly log: Logger;
}

/** Reads what is kept. Rejects with HubError `not_ready` when it cannot be read. */
export async function openPins(options: PinOptions, now: () => number = Date.now): Promise<Pins> {
  return new ServerPins(options, await withoutHalves(await options.store.load(), options), now);
}

interface Decision {
  readonly decision: 'approve' | 'reject';
  readonly items: readonly PinName[] | undefined;
  readonly until: number;
}

/** Of what baseline and offer, by `pinId`. */
interface Noticed {
  readonly baseline: Baseline;
  readonly offer: Offer;
  readonly seen: Baseline['seen'];
}

/** What is noticed now, and of it what was not before. */
interface Seen {
  readonly seen: Baseline['seen'];
  /** Something that was seen is no longer there. */
  readonly isStale: boolean;
  readonly news: readonly Pin[];
  readonly mode: PinMode;
}

class ServerPins implements Pins {
  readonly #options: PinOptions;
  readonly #now: () => number;
  #baselines: Map<string, Baseline>;
  /** What is approved in baselines that share their texts with what is offered. */
  readonly #shared = new WeakSet<Baseline['approved']>();
  /** The pins of the last offer that was compared with a baseline. */
  readonly #known = new WeakMap<Baseline, { readonly offer: Offer; readonly pins: readonly Pin[] }>();
  /** Changes with each baseline. */
  #version = 0;
  #last: { catalogue: Catalogue; settings: Settings; version: number; applied: Catalogue } | undefined;
  #texts: { offer: Offer; texts: ReadonlyMap<string, string> } | undefined;
  /** What of each server's offer was last noticed to wait. */
  readonly #noticed = new Map<string, Noticed>();
  /** Changes of baselines that are under way. */
  readonly #turns = turnsOfServers();
  /** First baselines that are not written yet, or could not be: without what was noticed since, which is told apart. */
  readonly #unwritten = new Map<string, Baseline>();
  /** Servers whose baseline was removed at another hub: what is known counts while the settings here have them. */
  readonly #gone = new Set<string>();
  /** Old and new names of servers whose rename is under way. */
  readonly #renaming = new Set<string>();
  /** Readings of all baselines: asked for, begun, ended. */
  readonly #readings = { asked: 0, begun: 0, ended: 0 };
  readonly #stopHearing: () => void;

  constructor(options: PinOptions, baselines: ReadonlyMap<string, Baseline>, now: () => number) {
    this.#options = options;
    this.#now = now;
    this.#baselines = new Map(baselines);
    this.#stopHearing = options.store.onChange(() => void this.#readAgain());
  }

  /** One reading at a time: of two the older could end last. */
  async #readAgain(): Promise<void> {
    const { store, changed, log } = this.#options;
    const readings = this.#readings;
    readings.asked += 1;
    if (readings.begun > readings.ended) return;
    let followed = 0;
    while (readings.asked > followed) {
      followed = readings.asked;
      readings.begun += 1;
      try {
        this.#take(await store.load());
        this.#version += 1;
        changed();
      } catch (error) {
        log.warn('pins not read again', { error: errorText(error) });
      }
      readings.ended += 1;
    }
  }

  /** What was read of the store, and what is not there yet, or not any more. */
  #take(loaded: ReadonlyMap<string, Baseline>): void {
    const { servers } = this.#options.settings();
    const baselines = new Map(loaded);
    this.#gone.clear();
    for (const [server, baseline] of this.#baselines) {
      if (baselines.has(server) || !servers.has(server)) continue;
      baselines.set(server, baseline);
      if (!this.#unwritten.has(server)) this.#gone.add(server);
    }
    this.#baselines = baselines;
  }

  /** Where one was kept and is lost: one in which nothing is approved, so that an admin looks at all of it again. */
  #baselineOf(server: string): Baseline | undefined {
    const known = this.#baselines.get(server);
    if (known || !this.#options.store.isLost(server)) return known;
    const text =
      'What was approved of a server is lost. Look at what it offers, and approve it again (page "Pins", or POST /api/pins/<server>/approve).';
    this.#options.log.error(text, { server });
    const baseline = nothingApproved();
    this.#baselines.set(server, baseline);
    return baseline;
  }

  /** The baseline with the texts of the offer where they are the same: one that was read has all of them once more. */
  #sharing(baseline: Baseline, offer: Offer): Baseline {
    if (this.#shared.has(baseline.approved)) return baseline;
    const approved = new Map(baseline.approved);
    for (const { id, text } of pinnables(offer)) {
      const known = approved.get(id);
      if (known?.text === text) approved.set(id, { text, since: known.since });
    }
    this.#shared.add(approved);
    const shared = { ...baseline, approved };
    this.#baselines.set(offer.server, shared);
    this.#options.store.share(offer.server, baseline, shared);
    return shared;
  }

  #pinsOf(offer: Offer): readonly Pin[] {
    const own = this.#baselineOf(offer.server);
    if (!own) return [];
    const baseline = this.#sharing(own, offer);
    const last = this.#known.get(baseline);
    if (last?.offer === offer) return last.pins;
    const pins = pinsOf(baseline, offer, this.#now());
    this.#known.set(baseline, { offer, pins });
    return pins;
  }

  #use(server: string, baseline: Baseline | undefined): void {
    if (baseline) this.#baselines.set(server, baseline);
    else {
      this.#baselines.delete(server);
      this.#noticed.delete(server);
      this.#unwritten.delete(server);
    }
    this.#gone.delete(server);
    this.#version += 1;
  }

  /**
   * What is kept counts. `ended`: how many readings of all had ended when it was asked for. Where another one was under
   * way since, all are read once more: it may have been before or after.
   */
  #written(server: string, baseline: Baseline | undefined, ended: number): void {
    this.#use(server, baseline);
    if (this.#readings.begun > ended) void this.#readAgain();
    this.#options.changed();
  }

  applied(catalogue: Catalogue): Catalogue {
    const settings = this.#options.settings();
    const last = this.#last;
    const isSame = last?.catalogue === catalogue && last.settings === settings && last.version === this.#version;
    if (isSame) return last.applied;
    const offers = new Map<string, Offer>();
    for (const [name, offer] of catalogue.offers) {
      const server = settings.servers.get(name);
      const held = server ? heldPins(this.#pinsOf(offer), pinModeOf(settings, server)) : [];
      if (held.length > 0) offers.set(name, sameAs(offer, held));
    }
    const applied = catalogueWith(catalogue, offers);
    this.#last = { catalogue, settings, version: this.#version, applied };
    return applied;
  }

  learn(): void {
    const { servers } = this.#options.settings();
    const isUsed = (name: string): boolean => servers.has(name) || this.#renaming.has(name) || this.#turns.has(name);
    for (const name of this.#noticed.keys()) if (!servers.has(name)) this.#noticed.delete(name);
    for (const name of [...this.#gone, ...this.#unwritten.keys()]) if (!isUsed(name)) this.#use(name, undefined);
    for (const name of this.#unwritten.keys()) if (!this.#turns.has(name)) this.#writeFirst(name, true);
    for (const [name, offer] of this.#options.catalogue().offers) {
      const server = servers.get(name);
      if (server && !this.#renaming.has(name)) this.#learnServer(server, offer);
    }
  }

  #learnServer(server: ServerSettings, offer: Offer): void {
    const mode = pinModeOf(this.#options.settings(), server);
    const kept = this.#baselineOf(server.name);
    const last = this.#noticed.get(server.name);
    if (!kept) {
      this.#noticed.delete(server.name);
      if (mode !== 'off') this.#keepFirst(server.name, firstSeen(offer, this.#now()));
      return;
    }
    // As `pinsOf` has it: made of another one, what is noticed would have all texts once more.
    const baseline = this.#sharing(kept, offer);
    if (last?.baseline === baseline && last.offer === offer) return;
    const pins = this.#pinsOf(offer);
    const waiting = pins.filter((pin) => isWaiting(pin) || pin.state === 'rejected');
    const seen = new Map(waiting.map(({ id, now: text, since }) => [id, { text, since }]));
    const news = waiting.filter((pin) => !isSeen(baseline.seen, pin) && !(last && isSeen(last.seen, pin)));
    // Where only the baseline is another one, what is not offered here may be offered to the hub that has seen it.
    const isStale = last?.offer !== offer && [...baseline.seen.keys()].some((id) => !seen.has(id));
    // A decision may have removed the time of a thing that was noticed before: the time is kept again.
    const isUnkept = waiting.some(({ id }) => !baseline.seen.has(id));
    const next = news.length > 0 || isStale || isUnkept ? withSeen(baseline, seen, isStale) : baseline;
    this.#noticed.set(server.name, { baseline: next, offer, seen });
    if (next === baseline) return;
    // What was seen says no more than the pins do: they are the same.
    this.#known.set(next, { offer, pins });
    this.#use(server.name, next);
    this.#keepSeen(server.name, { seen, isStale, mode, news: mode === 'off' ? [] : news.filter(isWaiting) });
  }

  /** In memory at once, so that the next list is compared with it. */
  #keepFirst(server: string, first: Baseline): void {
    this.#use(server, first);
    this.#unwritten.set(server, first);
    this.#writeFirst(server);
  }

  /** Where it cannot be written it is written again at the next look: what is offered then is not what was first. */
  #writeFirst(server: string, isAgain = false): void {
    const { store, settings, log } = this.#options;
    const until = waitsUntil();
    this.#turns
      .run([server], async () => {
        const { ended } = this.#readings;
        const first = this.#unwritten.get(server);
        if (!first || !settings().servers.has(server)) return;
        const kept = await store.change(server, (other) => other ?? first, until);
        this.#unwritten.delete(server);
        // Another hub has seen it first, and what that one saw counts.
        if (kept !== first) this.#written(server, kept, ended);
      })
      .catch((error: unknown) => {
        if (!isAgain) log.error('pins not kept', { server, error: errorText(error) });
      });
  }

  /** Of hubs that notice the same, the first to write it down tells; without the database each does. */
  #keepSeen(server: string, { seen, isStale, news, mode }: Seen): void {
    const { store, log } = this.#options;
    const until = waitsUntil();
    let isTold = false;
    const tell = (known: Baseline | undefined): void => {
      if (!isTold) this.#tell(server, known ? news.filter((pin) => !isSeen(known.seen, pin)) : news, mode);
      isTold = true;
    };
    const edit = (kept: Baseline | undefined, active: Baseline, isReadable: boolean): Baseline | undefined => {
      tell(kept);
      if (!isReadable) return kept;
      return kept || !store.isShared ? withSeen(kept ?? active, seen, isStale) : undefined;
    };
    void this.#turns
      .run([server], async () => {
        const active = this.#baselines.get(server);
        // Nothing where the server was deleted meanwhile, here or at another hub.
        if (active) await store.change(server, (kept, isReadable) => edit(kept, active, isReadable), until);
      })
      .catch((error: unknown) => log.error('pins not kept', { server, error: errorText(error) }))
      .then(() => tell(undefined));
  }

  #tell(server: string, news: readonly Pin[], mode: PinMode): void {
    const { told, toldMore } = this.#options;
    const { pinsTold } = governanceLimits;
    for (const pin of news.slice(0, pinsTold)) told(server, pin, heldPins([pin], mode).length > 0);
    if (news.length > pinsTold) toldMore(server, news.length - pinsTold);
  }

  list({ server: only, state }: { server?: string | undefined; state?: string | undefined }) {
    const { offers } = this.#options.catalogue();
    return [...this.#options.settings().servers.values()].flatMap((server) => {
      const offer = offers.get(server.name);
      if (!offer || (only !== undefined && server.name !== only)) return [];
      const pins = this.#pinsOf(offer).filter((pin) => state === undefined || pin.state === state);
      return pins.map((pin) => ({ server: server.name, ...pin }));
    });
  }

  readonly textOf = (server: string, pin: PinName): string | undefined => {
    const offer = this.#options.catalogue().offers.get(server);
    return offer && this.#textsOf(offer).get(pinId(pin));
  };

  #textsOf(offer: Offer): ReadonlyMap<string, string> {
    if (this.#texts?.offer !== offer)
      this.#texts = { offer, texts: new Map(pinnables(offer).map(({ id, text }) => [id, text])) };
    return this.#texts.texts;
  }

  of(name: string, tool: string) {
    const settings = this.#options.settings();
    const offer = this.#options.catalogue().offers.get(name);
    const server = settings.servers.get(name);
    const pin = offer && this.#pinsOf(offer).find((one) => one.kind === 'tool' && one.name === tool);
    if (!server || !pin) return undefined;
    const mode = pinModeOf(settings, server);
    const isHeld = heldPins([pin], mode).length > 0;
    return mode === 'off' && !isHeld ? undefined : { state: pin.state, isHeld };
  }

  decide(name: string, decision: 'approve' | 'reject', items: readonly PinName[] | undefined) {
    const until = waitsUntil();
    // As the one who decides has seen it: it may change while other decisions are written down.
    const offer = this.#options.catalogue().offers.get(name);
    return this.#turns.run([name], () => this.#decide(name, offer, { decision, items, until }));
  }

  async #decide(name: string, offer: Offer | undefined, { decision, items, until }: Decision): Promise<readonly Pin[]> {
    const { settings, store } = this.#options;
    const { ended } = this.#readings;
    const known = this.#baselineOf(name);
    if (!offer || !known || !settings().servers.has(name)) throw noPins(name);
    const after = await store.change(
      name,
      (kept) => {
        // Renamed or deleted at another hub.
        if (!kept && store.isShared) throw noPins(name);
        const baseline = kept ?? known;
        const pins = pinsOf(baseline, offer, this.#now());
        const meant = items ? items.map((item) => found(pins, item, name)) : pins.filter((pin) => isWaiting(pin));
        return meant.length === 0 ? baseline : decided(baseline, offer, meant, decision, this.#now());
      },
      until,
    );
    this.#written(name, after, ended);
    return this.#pinsOf(offer);
  }

  get #renameParts(): RenameParts {
    const { store, settings, log } = this.#options;
    return {
      store,
      settings,
      log,
      baselineOf: (server) => this.#baselineOf(server),
      use: (server, baseline) => this.#use(server, baseline),
      written: (server, baseline, ended) => this.#written(server, baseline, ended),
      readingsEnded: () => this.#readings.ended,
    };
  }

  rename<T>(from: string, to: string, change: () => Promise<T>): Promise<T> {
    const until = waitsUntil();
    return this.#turns.run([from, to], async () => {
      for (const name of [from, to]) this.#renaming.add(name);
      try {
        return await renameServer({ from, to, change, until }, this.#renameParts);
      } finally {
        for (const name of [from, to]) this.#renaming.delete(name);
        this.#options.changed();
      }
    });
  }

  async #forget(server: string, until?: number): Promise<void> {
    const { ended } = this.#readings;
    await this.#options.store.change(server, () => undefined, until);
    this.#written(server, undefined, ended);
  }

  deleted(server: string): Promise<void> {
    const until = waitsUntil();
    return this.#turns.run([server], async () => {
      if (this.#baselineOf(server)) await this.#forget(server, until);
    });
  }

  close(): void {
    this.#stopHearing();
  }
}
