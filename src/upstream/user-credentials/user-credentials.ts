import { createHash, createHmac, randomBytes } from 'node:crypto';
import { slotsOf } from '../../core/access/per-user.ts';
import { principalOf } from '../../core/access/principal.ts';
import { reaches } from '../../core/access/rules.ts';
import { HubError } from '../../core/errors.ts';
import type { LoggerFor } from '../../core/logger.ts';
import type { CredentialSlot, ServerSettings } from '../../core/settings/server.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { UserSettings } from '../../core/settings/user.ts';
import type { OwnValues } from '../channels/credential.ts';
import type { Binding, Bindings } from './bindings.ts';

export interface UserCredentialsOptions {
  readonly bindings: Bindings;
  readonly settings: () => Settings;
  /** The page where users set them. */
  readonly page: () => string;
  /** The connections of a user to a server, or the one that lists its tools, may have other values now. */
  readonly changed: (server: string, listing: boolean) => void;
  readonly log: LoggerFor;
}

/** What a user has set at a server, without the values. */
export interface CredentialState {
  /** Every slot has a value, which the server gets. */
  readonly configured: boolean;
  /** The keys of the slots with a value. */
  readonly configuredSlots: readonly string[];
  readonly updatedAt: number | undefined;
}

/** What each user set for servers with a `credentialTemplate` (CONTRACT §8). Values are given to connections alone. */
export interface UserCredentials {
  /** What calls of this user take along; undefined when they have not set all of it, or may not use the server. */
  of(server: ServerSettings, user: UserSettings): OwnValues | undefined;
  /** Why a caller cannot use a server (HubError `credentials_required`); undefined when they can. */
  refusal(server: ServerSettings, user: UserSettings | undefined): HubError | undefined;
  /**
   * What the connection takes along that lists the tools for all users, where the settings have no value of their own.
   */
  forListing(server: ServerSettings): OwnValues | undefined;
  state(server: ServerSettings, user: UserSettings): CredentialState;
  /** `values` by key, one for each slot. Throws HubError when they cannot be written. */
  set(server: ServerSettings, user: UserSettings, values: Readonly<Record<string, string>>): Promise<void>;
  /** False when there was nothing. */
  remove(server: ServerSettings, user: UserSettings): Promise<boolean>;
  /** The values that a user set, for a change of some of them; empty when none fit. */
  values(server: ServerSettings, user: UserSettings): Readonly<Record<string, string>>;
  /** Every value that a user set, at one server or at all: to be hidden where a server could repeat them. */
  secrets(server?: string): readonly string[];
  /** A server has another name from now on, and keeps them. */
  renamed(from: string, to: string): Promise<void>;
  deleted(server: string): Promise<void>;
  /** Settings changed: forgets what users left that are gone. */
  reconcile(): void;
  /** Another hub changed what users set at these servers. */
  changedElsewhere(servers: ReadonlySet<string>): void;
}

/** The name under which users set a slot: `env.TOKEN`. */
export function slotKey({ target, name }: CredentialSlot): string {
  return `${target}.${name}`;
}

const salt = randomBytes(32);

export function createUserCredentials(options: UserCredentialsOptions): UserCredentials {
  const { bindings, settings, page, changed, log } = options;
  /** With whose values each server was listed last. */
  const listed = new Map<string, string | undefined>();

  function bindingOf(server: ServerSettings, user: UserSettings): Binding | undefined {
    const found = bindings.get(server.name, user.username);
    return found?.since === user.createdAt && found?.place === placeOf(server) ? found : undefined;
  }

  function valuesOf(server: ServerSettings, user: UserSettings, slots = slotsOf(server)): OwnValues | undefined {
    const binding = bindingOf(server, user);
    if (!binding || !slotsOf(server).every((slot) => Object.hasOwn(binding.values, slotKey(slot)))) return undefined;
    return reaches(settings(), principalOf(user), server) ? ownValues(slots, binding.values) : undefined;
  }

  function forListing(server: ServerSettings): OwnValues | undefined {
    const missing = slotsOf(server).filter((slot) => !isInSettings(server, slot));
    if (missing.length === 0) return undefined;
    for (const { server: name, username } of bindings.all()) {
      const user = name === server.name ? settings().users.find((one) => one.username === username) : undefined;
      const values = user && server.enabled ? valuesOf(server, user, missing) : undefined;
      if (values) return values;
    }
    return undefined;
  }

  /** Whether the connection that lists has values that are not those of now. */
  function isListedOtherwise(name: string): boolean {
    const server = settings().servers.get(name);
    return server !== undefined && listed.has(name) && forListing(server)?.hash !== listed.get(name);
  }

  const ofServer = (name: string): Binding[] => bindings.all().filter(({ server }) => server === name);

  return {
    of: (server, user) => valuesOf(server, user),
    forListing(server) {
      const values = forListing(server);
      listed.set(server.name, values?.hash);
      return values;
    },
    refusal(server, user) {
      if (slotsOf(server).length === 0 || (user && valuesOf(server, user))) return undefined;
      const needs = `Server "${server.name}" is used by each user with credentials of their own`;
      const text = user
        ? `${needs}, and ${user.username} has not set them. Open ${page()} and fill them in, then try again.`
        : `${needs}, and this caller is no user. Log in, or use an access key of your own, and set them at ${page()}.`;
      return new HubError('credentials_required', text, { credentialsUrl: page() });
    },
    state: (server, user) => stateOf(server, bindingOf(server, user)),
    values: (server, user) => bindingOf(server, user)?.values ?? {},
    async set(server, { username, createdAt: since }, values) {
      const place = placeOf(server);
      const binding = { server: server.name, username, since, place, values, updatedAt: Date.now() };
      await bindings.change({ put: [binding] });
      changed(server.name, isListedOtherwise(server.name));
    },
    async remove(server, { username }) {
      const found = bindings.get(server.name, username);
      if (!found) return false;
      await bindings.change({ gone: [found] });
      changed(server.name, isListedOtherwise(server.name));
      return true;
    },
    secrets: (name) => secretsIn(bindings.all(), name),
    async renamed(from, to) {
      const moved = ofServer(from);
      const gone = [...ofServer(to), ...moved];
      const put = moved.map((binding) => ({ ...binding, server: to }));
      if (gone.length > 0) await bindings.change({ gone, put });
      listed.delete(from);
      changed(to, moved.length > 0);
    },
    async deleted(name) {
      const left = ofServer(name);
      listed.delete(name);
      if (left.length > 0) await bindings.change({ gone: left });
    },
    reconcile() {
      const gone = ofGoneUsers(bindings.all(), settings());
      if (gone.length > 0)
        bindings
          .change({ gone })
          .then(() => log('hub').info('credentials of users who are gone were forgotten', { count: gone.length }))
          .catch(() => undefined);
      for (const name of listed.keys()) if (isListedOtherwise(name)) changed(name, true);
    },
    changedElsewhere(servers) {
      for (const name of servers) changed(name, isListedOtherwise(name));
    },
  };
}

const secrets = new WeakMap<readonly Binding[], ReadonlyMap<string | undefined, readonly string[]>>();
const none: readonly string[] = [];

/**
 * The values of one server's bindings, or of all where none is named. They are asked for with each line that a server
 * writes, so they are collected once for each state of the bindings: the same list is the same object.
 */
function secretsIn(bindings: readonly Binding[], server: string | undefined): readonly string[] {
  let byServer = secrets.get(bindings);
  if (!byServer) {
    const collected = new Map<string | undefined, string[]>();
    for (const { server: name, values } of bindings)
      for (const key of [name, undefined]) {
        const own = collected.get(key) ?? [];
        own.push(...Object.values(values));
        collected.set(key, own);
      }
    secrets.set(bindings, (byServer = collected));
  }
  return byServer.get(server) ?? none;
}

function stateOf(server: ServerSettings, binding: Binding | undefined): CredentialState {
  const keys = slotsOf(server).map(slotKey);
  const set = keys.filter((key) => binding && Object.hasOwn(binding.values, key));
  return {
    configured: set.length === keys.length,
    configuredSlots: set,
    updatedAt: set.length > 0 ? binding?.updatedAt : undefined,
  };
}

function ofGoneUsers(bindings: readonly Binding[], { users }: Settings): Binding[] {
  if (bindings.length === 0) return [];
  const accounts = new Map(users.map(({ username, createdAt }) => [username, { createdAt }]));
  return bindings.filter(({ username, since }) => {
    const account = accounts.get(username);
    return !account || account.createdAt !== since;
  });
}

const places = new WeakMap<ServerSettings['transport'], string>();

/**
 * Where values for a server go. What was set for one place is not sent to another: an admin who moves a server asks its
 * users again. Reckoned once for settings that stay, since it is asked with each call.
 */
function placeOf({ transport }: ServerSettings): string {
  let place = places.get(transport);
  if (place === undefined) places.set(transport, (place = placeOfTransport(transport)));
  return place;
}

function placeOfTransport(transport: ServerSettings['transport']): string {
  switch (transport.type) {
    case 'stdio':
      return JSON.stringify(['stdio', transport.command, transport.args.map(withoutVersion)]);
    case 'openapi': {
      const { url, baseUrl, schema, serverVariables } = transport.openapi;
      const document = createHash('sha256')
        .update(JSON.stringify([schema, serverVariables]))
        .digest('base64url');
      return JSON.stringify(['openapi', url, baseUrl, document]);
    }
    case 'invalid':
      return '';
    default:
      return JSON.stringify(['remote', originOf(transport.url)]);
  }
}

/** An argument that names a package or an image, whichever version of it: `name@1.2.3`, `registry/name:1.2.3`. */
function withoutVersion(argument: string): string {
  return argument.replace(/^([\w@./-]+?)[@:]\w[\w.-]*$/, '$1');
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

function isInSettings({ transport }: ServerSettings, { target, name }: CredentialSlot): boolean {
  if (target === 'env') return transport.type === 'stdio' && Object.hasOwn(transport.env, name);
  if (target !== 'headers' || !('headers' in transport)) return false;
  return Object.keys(transport.headers).some((header) => header.toLowerCase() === name.toLowerCase());
}

function ownValues(slots: readonly CredentialSlot[], values: Readonly<Record<string, string>>): OwnValues {
  const own = {
    env: {} as Record<string, string>,
    headers: {} as Record<string, string>,
    args: {} as Record<string, string>,
  };
  for (const slot of slots) {
    const name = slot.target === 'headers' ? slot.name.toLowerCase() : slot.name;
    own[slot.target][name] = values[slotKey(slot)] ?? '';
  }
  return { ...own, hash: createHmac('sha256', salt).update(JSON.stringify(own)).digest('base64url') };
}
