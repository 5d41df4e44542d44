import { HubError, errorText } from '../core/errors.ts';
import type { Problem } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { Loaded, SettingsDocument } from './backend.ts';
import { parseSettings } from './document/parse-settings.ts';

/** Recursively read-only: the document in force is shared by all code that reads it and never changes. */
export type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

export type SettingsListener = (settings: Settings, version: number) => void;

/** A document that was parsed, with what there is to say about it. */
export interface Accepted {
  readonly settings: Settings;
  readonly document: SettingsDocument;
  /** Undefined: it could not be stored yet. */
  readonly revision: string | undefined;
  readonly warnings: readonly Problem[];
}

export interface Snapshot {
  readonly settings: Settings;
  readonly document: Frozen<SettingsDocument>;
  readonly version: number;
}

/**
 * The settings that count now, however the stored ones may look: what is taken over, what is refused, and what is said
 * about it.
 */
export interface ActiveSettings {
  readonly snapshot: Snapshot;
  /**
   * What a change is made from: the document in force, or, with `isBrokenBeside`, the stored one. `revision` is
   * undefined when it is not stored any more.
   */
  readonly base: { readonly document: Frozen<SettingsDocument>; readonly revision: string | undefined };
  /** Why what is stored is not in force. */
  readonly lastError: HubError | undefined;
  /** `lastError` is of what is read beside the stored document, which itself can be used. */
  readonly isBrokenBeside: boolean;
  /** Takes over what is stored if it is good; else says why not and keeps what there is. */
  take(loaded: Loaded): void;
  /** Puts a valid and stored document in force. It is frozen from then on. */
  accept(accepted: Accepted): void;
  subscribe(listener: SettingsListener): () => void;
}

/** `name` is what messages call the place where settings are kept; `readAs` as `openSettings` has it. */
export function createActiveSettings(
  name: string,
  log: Logger,
  first: Accepted,
  readAs: (document: unknown) => unknown,
): ActiveSettings {
  const listeners = new Set<SettingsListener>();
  let told: ReadonlySet<string> = new Set();
  let snapshot: Snapshot = { settings: first.settings, document: freeze(first.document), version: 1 };
  let json = JSON.stringify(readAs(first.document));
  let revision: string | undefined = first.revision;
  let lastError: HubError | undefined;
  /** The stored document while only what is read beside it is broken. */
  let beside: ActiveSettings['base'] | undefined;
  tell(first.warnings);

  return {
    get snapshot() {
      return snapshot;
    },
    get base() {
      return beside ?? { document: snapshot.document, revision };
    },
    get lastError() {
      return lastError;
    },
    get isBrokenBeside() {
      return beside !== undefined;
    },
    take,
    accept,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };

  function take(loaded: Loaded): void {
    beside = undefined;
    if (loaded.kind === 'missing') return miss();
    if (loaded.kind === 'broken') return refuse(loaded.error);
    if (loaded.revision === revision && lastError === undefined && JSON.stringify(readAs(loaded.document)) === json)
      return;
    try {
      const { settings, warnings } = parseSettings(readAs(loaded.document));
      const document = loaded.document as SettingsDocument;
      accept({ settings, document, revision: loaded.revision, warnings: [...loaded.notes, ...warnings] });
    } catch (error) {
      if (!(error instanceof HubError)) throw error;
      refuse(error);
      // The one in force, or what another hub has written meanwhile.
      if (loaded.revision === revision || canBeUsed(loaded.document))
        beside = { document: freeze(loaded.document as SettingsDocument), revision: loaded.revision };
    }
  }

  function accept({ settings, document, warnings, ...stored }: Accepted): void {
    if (lastError !== undefined) log.info(`The ${name} is in order again.`);
    lastError = undefined;
    beside = undefined;
    revision = stored.revision;
    tell(warnings);
    // What is read beside it (a folder of policies) counts too.
    const text = JSON.stringify(readAs(document));
    // Only spaces or line breaks were changed: this is not reported.
    if (text === json) return;
    json = text;
    snapshot = { settings, document: freeze(document), version: snapshot.version + 1 };
    for (const listener of listeners) notify(listener);
  }

  function miss(): void {
    if (revision !== undefined) {
      log.warn(`The ${name} is gone. The last settings stay in force; the next change writes it again.`);
    }
    revision = undefined;
    lastError = undefined;
  }

  function refuse(error: HubError): void {
    if (lastError?.message !== error.message) {
      log.error(`The ${name} cannot be used as it is now; the last good settings stay in force. ${error.message}`);
    }
    lastError = error;
  }

  function notify(listener: SettingsListener): void {
    try {
      listener(snapshot.settings, snapshot.version);
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : errorText(error);
      log.error(`A listener to the settings failed: ${text}`);
    }
  }

  /** Each warning once, until it is gone and comes back. */
  function tell(warnings: readonly Problem[]): void {
    const now = new Set(warnings.map(({ path, message }) => `${path}: ${message}`));
    for (const text of now) if (!told.has(text)) log.warn(`In the ${name}, ${text}`);
    told = now;
  }
}

/** Whether a document can be used as it is written. */
function canBeUsed(document: unknown): boolean {
  try {
    parseSettings(document);
    return true;
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    return false;
  }
}

function freeze<T>(value: T): Frozen<T> {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const member of Object.values(value)) freeze(member);
  }
  return value as Frozen<T>;
}
