import type { Catalogue } from '../../src/core/catalogue.ts';
import { HubError } from '../../src/core/errors.ts';
import type { Database } from '../../src/database/database.ts';
import { pinsInTable, type PinStore } from '../../src/governance/pin-store.ts';
import { openPins, type PinOptions, type Pins } from '../../src/governance/pins.ts';
import { logLines } from './channel-log.ts';
import { temporaryFolder } from './hostile.ts';
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

/** A table that hubs share, as one of them has it: it hears its own notices too. */
export function sharedTable() {
  const rows = new Map<string, string>();
  const listeners = new Set<(from: string) => void>();
  /** What a reading of the rows waits for once it has them. */
  const held: { until: Promise<void>; begun: () => void } = { until: Promise.resolve(), begun: () => undefined };
  const db = {
    tx: <T>(work: (tx: unknown) => Promise<T>): Promise<T> => work(db),
    async query(sql: string, [name = '', content = ''] = [] as string[]) {
      if (sql.startsWith('insert')) rows.set(name, content);
      if (sql.startsWith('delete')) rows.delete(name);
      if (sql.startsWith('select pg_notify')) for (const listener of listeners) setImmediate(() => listener(content));
      if (!sql.startsWith('select server, content')) return [];
      const found = [...rows.entries()].filter(([server]) => name === '' || server === name);
      const answer = found.map(([server, text]) => ({ server, content: JSON.parse(text) as unknown }));
      if (name !== '') return answer;
      held.begun();
      await held.until;
      return answer;
    },
  } as unknown as Database;
  const tell = (from: string) => {
    for (const listener of listeners) listener(from);
  };
  let isAway = false;
  const handle = {
    whenReady: (ms: number): Promise<Database> =>
      isAway
        ? new Promise((_, reject) => setTimeout(() => reject(new HubError('not_ready', 'The database is away.')), ms))
        : Promise.resolve(db),
    listen: (_: string, heard: (from: string | undefined) => void) => {
      listeners.add(heard);
      return () => void listeners.delete(heard);
    },
  };
  const store = pinsInTable(handle, temporaryFolder(), logLines());
  return { store, rows, held, tell, goAway: () => (isAway = true), comeBack: () => (isAway = false) };
}
