import { join } from 'node:path';
import { type AuditSink, byHub } from '../core/audit.ts';
import type { Catalogue } from '../core/catalogue.ts';
import type { Closers } from '../core/closers.ts';
import type { LoggerFor } from '../core/logger.ts';
import { riskOfPin } from '../core/pins/pin-states.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { DatabaseHandle } from '../database/supervise.ts';
import type { Env } from '../env/env.ts';
import { pinsInFolder, pinsInTable } from '../governance/pin-store.ts';
import { openPins, type Pins } from '../governance/pins.ts';

export interface OpenPins {
  readonly env: Pick<Env, 'database'>;
  readonly dataDir: { readonly path: string };
  readonly database: DatabaseHandle;
  readonly audit: Pick<AuditSink, 'record'>;
  /** As the views have them. */
  readonly settings: () => Settings;
  /** As servers offer it. */
  readonly catalogue: () => Catalogue;
  readonly changed: () => void;
  readonly log: LoggerFor;
}

/** Pins of what servers offer: in a folder of the data folder, or in the database that hubs share. */
export async function openServerPins(options: OpenPins, closers: Closers): Promise<Pins> {
  const { env, dataDir, database, audit, settings, catalogue, changed, log } = options;
  const security = log('pins');
  const folder = join(dataDir.path, 'pins');
  const isShared = env.database.kind === 'postgres';
  const pins = await openPins({
    store: isShared ? pinsInTable(database, folder, security) : pinsInFolder(folder, security),
    settings,
    catalogue,
    told(server, pin, isHeld) {
      const { kind, name, state } = pin;
      const { risk, reasons } = riskOfPin(pin);
      const after = { kind, name, state, risk, reasons, isHeld };
      audit.record({ ...byHub, action: 'pin.noticed', target: server, after });
      security.warn(`${kind} ${state}${isHeld ? ', held back until an admin approves it' : ''}`, {
        server,
        name,
        risk,
        reasons: reasons.join(' '),
      });
    },
    toldMore(server, more) {
      audit.record({ ...byHub, action: 'pin.noticed', target: server, after: { more } });
      security.warn(`${more} more changes`, { server });
    },
    changed,
    log: security,
  });
  closers.add(() => pins.close());
  return pins;
}
