import type { Catalogue } from '../../src/core/catalogue.ts';
import type { PinStore } from '../../src/governance/pin-store.ts';
import { openPins, type PinOptions, type Pins } from '../../src/governance/pins.ts';
import { logLines } from './channel-log.ts';
import { server, settings } from './snapshots.ts';

const about = { info: '{}', instructions: undefined, capabilities: [], protocolVersion: '2025-11-25' };

/** The catalogue of one server with these tools. */
export function offering(name: string, ...tools: string[]): Catalogue {
  const items = tools.map((key) => ({ key, text: JSON.stringify({ name: key, description: 'Reads.' }) }));
  const offer = { server: name, about, tools: items, prompts: [], resources: [], templates: [] };
  return { version: 1, offers: new Map([[name, offer]]) };
}

/** Pins under `hold` of server "s", which offers what `catalogue` says at that moment. */
export function openedPins(store: PinStore, catalogue: () => Catalogue, more: Partial<PinOptions> = {}): Promise<Pins> {
  const plain = settings({ servers: [server('s')] });
  return openPins({
    store,
    settings: () => ({ ...plain, system: { ...plain.system, pinMode: 'hold' } }),
    catalogue,
    told: () => undefined,
    toldMore: () => undefined,
    changed: () => undefined,
    log: logLines(),
    ...more,
  });
}

/** A decision's items: one tool. */
export const toolPin = (name: string) => [{ kind: 'tool', name }] as const;

/** By name. */
export const pinStates = (pins: Pins) => Object.fromEntries(pins.list({}).map(({ name, state }) => [name, state]));
