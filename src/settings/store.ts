import { setTimeout as after } from 'node:timers/promises';
import type { AuditedRequest, Origin } from '../core/audit.ts';
import { HubError, errorText } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { isObject } from '../core/protocol/rpc.ts';
import { saying } from '../core/sentences.ts';
import type { Settings } from '../core/settings/settings.ts';
import { isDiskFull } from '../disk/disk-error.ts';
import type { Accepted, Frozen, ActiveSettings, SettingsListener } from './active-settings.ts';
import { createActiveSettings } from './active-settings.ts';
import type { Loaded, SettingsBackend, SettingsDocument } from './backend.ts';
import { parseChanged, parseSettings } from './document/parse-settings.ts';
import { isTooDeep } from './document/read-part.ts';
import { notAccepted } from './document/report.ts';
import { groupIdOf } from './document/stable-id.ts';
import { hashKeys, withHashedKeys } from './key/hashed-keys.ts';
import { keyIdOf } from './key/read-keys.ts';
import { settingsLimits } from './limits.ts';

/** The settings in force and the one way to change them. The code that opened it closes it. */
export interface SettingsStore {
  readonly current: Settings;
  /** The document behind `current`, unknown members and all, deep-frozen. */
  readonly document: Frozen<SettingsDocument>;
  /** Grows by one with each swap; starts at 1. */
  readonly version: number;
  /** Why the stored document is not the one in force (a broken hand edit); undefined when it is. */
  readonly lastError: HubError | undefined;
  /** There was no document, and `initial` was written. */
  readonly firstStart: boolean;
  /**
   * Edits a copy of the newest document, checks the whole, writes it, and only then swaps. One change at a time; hand
   * edits made meanwhile are loaded first, and access keys in plain are replaced by their hashes. `edit` may run again
   * when another change was written first, so it must touch nothing but the draft; what it throws is thrown and nothing
   * changes. Throws `invalid_input` (every problem), `conflict` (what is stored is broken: it must be corrected first),
   * `misconfigured` (it cannot be written). `by`: who makes the change; the hub itself when absent.
   */
  change<T>(edit: (draft: SettingsDocument) => T, by?: ChangedBy): Promise<T>;
  /** Reads again what is stored, and what is read beside it. */
  refresh(): Promise<void>;
  /** Called after each swap. It should set a flag and return; what it throws is logged. Returns how to end it. */
  subscribe(listener: SettingsListener): () => void;
  /** Ends watching, waits for the running change. */
  close(): Promise<void>;
}

/** Who makes a change of the settings. */
export type ChangedBy = Origin | AuditedRequest;

/** A change that is in force. */
export interface SettingsChange {
  readonly before: Frozen<SettingsDocument>;
  readonly after: Frozen<SettingsDocument>;
  /** `stored`: found where the settings are kept, where another process or a person put it. */
  readonly by: ChangedBy | 'hub' | 'stored';
}

export interface OpenSettings {
  readonly backend: SettingsBackend;
  readonly log: Logger;
  /** Written and used when the backend has nothing. Default: empty settings. */
  readonly initial?: SettingsDocument | (() => SettingsDocument);
  /**
   * Called when `initial` could not be written because the disk is full: it is in force all the same, and the next
   * change writes it. Default: the start fails.
   */
  readonly unwritten?: (error: HubError) => void;
  /** The document as it is read: with what the environment says in place of some members. Nothing of it is written. */
  readonly readAs?: (document: unknown) => unknown;
  /** Called after each change of what the document says; must not throw and not wait. */
  readonly changed?: (change: SettingsChange) => void;
}

/** Throws HubError `misconfigured` that names every problem when what is stored cannot be used. */
export async function openSettings(options: OpenSettings): Promise<SettingsStore> {
  const { backend, log, readAs = (document) => document, changed = () => undefined } = options;
  const first = await start(options);
  const active = createActiveSettings(backend.name, log, first, readAs);
  let closed = false;
  let queue: Promise<unknown> = Promise.resolve();

  /** Everything that reads or writes the backend happens here, one after the other. */
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const turn = queue.then(task);
    queue = turn.catch(() => undefined);
    return turn;
  };
  const refresh = async () => {
    if (closed) return;
    const before = active.snapshot.document;
    active.take(await loadSettled(backend));
    const after = active.snapshot.document;
    if (after !== before) changed({ before, after, by: 'stored' });
  };
  const change = async <T>(edit: (draft: SettingsDocument) => T, by: ChangedBy | 'hub'): Promise<T> => {
    for (let attempt = 0; attempt < settingsLimits.settingsAttempts; attempt++) {
      if (closed) throw new HubError('not_ready', 'Cannot change the settings: the hub is stopping.');
      await refresh();
      const done = await changeOnce(backend, active, edit, readAs);
      if (done?.before) changed({ before: done.before, after: active.snapshot.document, by });
      if (done !== undefined) return done.result;
    }
    throw saying('conflict', 'settings_busy', { name: backend.name });
  };

  let waiting = false;
  const watcher = await backend.watch(() => {
    if (waiting || closed) return;
    waiting = true;
    inTurn(async () => {
      waiting = false;
      await refresh();
    }).catch((error: unknown) => log.error(`Reading the ${backend.name} failed unexpectedly: ${errorText(error)}`));
  });
  // What was changed between the first reading and the first watching.
  await inTurn(refresh);

  return {
    get current() {
      return active.snapshot.settings;
    },
    get document() {
      return active.snapshot.document;
    },
    get version() {
      return active.snapshot.version;
    },
    get lastError() {
      return active.lastError;
    },
    firstStart: first.isNew,
    change: (edit, by) => inTurn(() => change(edit, by ?? 'hub')),
    refresh: () => inTurn(refresh),
    subscribe: (listener) => active.subscribe(listener),
    async close() {
      closed = true;
      await watcher.close();
      await queue;
    },
  };
}

/**
 * One attempt at a change; undefined when another change was written first. `before`: the document that it changed, as
 * edits see it.
 */
async function changeOnce<T>(
  backend: SettingsBackend,
  active: ActiveSettings,
  edit: (draft: SettingsDocument) => T,
  readAs: (document: unknown) => unknown,
): Promise<{ result: T; before?: SettingsDocument } | undefined> {
  const { lastError, isBrokenBeside, base, snapshot } = active;
  const broken = (error: HubError): HubError => {
    const options = { cause: error, problems: error.problems };
    return saying('conflict', 'settings_broken', { name: backend.name, why: error.message }, options);
  };
  // What is broken beside the document (a folder of policies) may be what the edit no longer names.
  if (lastError !== undefined && !isBrokenBeside) throw broken(lastError);
  const draft = withIds(withHashedKeys(base.document));
  const before = JSON.stringify(draft);
  const result = edit(draft);
  hashKeys(draft);
  const document = plain(draft);
  // Nothing to write, unless the document is gone from where it is kept.
  if (base.revision !== undefined && JSON.stringify(document) === before) {
    if (lastError !== undefined) throw broken(lastError);
    return { result };
  }
  const { settings, warnings } = parsedChange(document);
  const saved = await backend.save(document, base.revision);
  if (saved.kind === 'stale') return undefined;
  active.accept({ settings, document, revision: saved.revision, warnings });
  return { result, before: JSON.parse(before) as SettingsDocument };

  function parsedChange(changed: SettingsDocument): ReturnType<typeof parseChanged> {
    try {
      return parseChanged(readAs(changed), { document: readAs(base.document), settings: snapshot.settings });
    } catch (error) {
      // What the edit itself has wrong is told as in any other change.
      throw error instanceof HubError && lastError && hasNoOther(error, lastError) ? broken(error) : error;
    }
  }
}

/** Whether all problems of `error` were there before the change, in `before`. */
function hasNoOther({ problems }: HubError, before: HubError): boolean {
  return problems.every(({ path, message }) =>
    before.problems.some((one) => one.path === path && one.message === message),
  );
}

interface Start extends Accepted {
  readonly isNew: boolean;
}

async function start({ backend, initial = {}, unwritten, readAs }: OpenSettings): Promise<Start> {
  // Two hubs may make the same document at once; the second then finds the first one's.
  for (let attempt = 0; attempt < settingsLimits.settingsAttempts; attempt++) {
    const loaded = await loadSettled(backend);
    if (loaded.kind === 'broken') throw unusable(backend, loaded.error);
    const document =
      loaded.kind === 'found'
        ? (loaded.document as SettingsDocument)
        : plain(typeof initial === 'function' ? initial() : initial);
    const { settings, warnings } = parsedAtStart(backend, readAs ? readAs(document) : document);
    if (loaded.kind === 'found') {
      return { settings, document, revision: loaded.revision, warnings: [...loaded.notes, ...warnings], isNew: false };
    }
    const saved = await backend.save(document, undefined).catch((error: unknown) => {
      if (unwritten === undefined || !(error instanceof HubError) || !isDiskFull(error)) throw error;
      unwritten(error);
      return { kind: 'saved', revision: undefined } as const;
    });
    if (saved.kind === 'saved') return { settings, document, revision: saved.revision, warnings, isNew: true };
  }
  throw new HubError(
    'misconfigured',
    `The ${backend.name} appears and disappears. Make sure that nothing else removes it.`,
  );
}

function parsedAtStart(backend: SettingsBackend, document: unknown): ReturnType<typeof parseSettings> {
  try {
    return parseSettings(document);
  } catch (error) {
    throw error instanceof HubError ? unusable(backend, error) : error;
  }
}

/** What is wrong with the stored settings is what is wrong with the start (CONTRACT §1). */
function unusable(backend: SettingsBackend, error: HubError): HubError {
  // It says already where what is wrong is kept.
  if (error.code === 'misconfigured') return error;
  return new HubError('misconfigured', `${backend.name}: ${error.message}`, { cause: error, problems: error.problems });
}

/** Loads; what cannot be parsed is looked at twice, because an editor may be in the middle of saving. */
async function loadSettled(backend: SettingsBackend): Promise<Loaded> {
  const loaded = await backend.load();
  if (loaded.kind !== 'broken') return loaded;
  await after(settingsLimits.settingsSettleMs);
  return backend.load();
}

/**
 * Groups and keys of hand-written files get the id they already have in the settings, so that a rename does not change
 * it.
 */
function withIds(draft: SettingsDocument): SettingsDocument {
  for (const group of Array.isArray(draft.groups) ? draft.groups : []) {
    if ((group['id'] ?? '') === '' && typeof group['name'] === 'string') group['id'] = groupIdOf(group['name']);
  }
  for (const key of Array.isArray(draft.bearerKeys) ? draft.bearerKeys : []) {
    const id = keyIdOf(key);
    if (id !== undefined) key['id'] = id;
  }
  return draft;
}

/** What a draft says in JSON: a copy that shares nothing with it, without members that are undefined. */
function plain(draft: SettingsDocument): SettingsDocument {
  if (isTooDeep(draft))
    throw notAccepted([{ path: '(the whole document)', message: 'is nested too deeply to be settings' }]);
  const document: unknown = JSON.parse(JSON.stringify(draft));
  if (!isObject(document)) throw new TypeError('A settings draft must stay an object.');
  return document;
}
