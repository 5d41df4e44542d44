import { isTrusted } from '../core/access/grants.ts';
import type { Offer } from '../core/catalogue.ts';
import type { HubError } from '../core/errors.ts';
import { type Pin, withoutHeld } from '../core/pins/pin-states.ts';
import { saying } from '../core/sentences.ts';
import type { PinMode } from '../core/settings/governance.ts';
import type { ServerSettings } from '../core/settings/server.ts';
import type { Settings } from '../core/settings/settings.ts';

/** The mode of a server: its own, or the hub's. A user who is no admin can make it stricter for a server of theirs. */
export function pinModeOf(settings: Settings, server: ServerSettings): PinMode {
  const { pinMode: ofHub = 'warn' } = settings.system;
  const { pinMode: own = ofHub } = server;
  return isTrusted(settings, server) || strictness.indexOf(own) >= strictness.indexOf(ofHub) ? own : ofHub;
}

const strictness: readonly PinMode[] = ['off', 'warn', 'hold'];

/** Made once for each offer and what of it is held: views and indexes compare offers by identity. */
const reduced = new WeakMap<Offer, { key: string; offer: Offer }>();

export function sameAs(offer: Offer, held: readonly Pin[]): Offer {
  const key = JSON.stringify(held.map(({ id }) => id));
  const known = reduced.get(offer);
  if (known?.key === key) return known.offer;
  const made = withoutHeld(offer, held);
  reduced.set(offer, { key, offer: made });
  return made;
}

export function noPins(name: string): HubError {
  return saying('not_found', 'no_pins', { name: name.slice(0, 200) });
}

/** Another version of the hub has kept the pins of this server. */
export function unreadable(server: string): HubError {
  return saying('conflict', 'pins_of_other_version', { name: server.slice(0, 200) });
}

export function found(pins: readonly Pin[], item: Pick<Pin, 'kind' | 'name'>, server: string): Pin {
  const pin = pins.find(({ kind, name }) => kind === item.kind && name === item.name);
  if (!pin) throw saying('not_found', 'no_item', { server, kind: item.kind, name: item.name.slice(0, 200) });
  return pin;
}
