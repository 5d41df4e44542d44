import { HubError } from '../core/errors.ts';
import { isObject, type RpcMessage, toRpcError } from '../core/protocol/rpc.ts';
import { sessionRevisions } from '../core/protocol/revisions.ts';
import { ownServer, ownSkillFile, ownSkillFolder, promptResult } from '../core/own-items.ts';
import type { OwnItems, OwnResource } from '../core/settings/own-items.ts';
import type { Settings } from '../core/settings/settings.ts';
import type { KeptResults } from './kept-results.ts';
import {
  createSubscriptions,
  type SubscriptionOptions,
  type Subscriptions,
  type WatchedConnection,
} from './subscriptions.ts';
import type { RelayConnections, RelayExchange, ServerConnection } from './relay/options.ts';

/** The connections to servers, and among them the one to the hub's own prompts and resources. */
export function withOwnItems(
  connections: RelayConnections,
  settings: () => Settings,
  results: Pick<KeptResults, 'read'>,
): RelayConnections {
  return {
    connection: (server, asker) =>
      server === ownServer
        ? createOwnConnection(settings, (given) => results.read(asker.principal, given))
        : connections.connection(server, asker),
    forAsking: (connection, ...request) =>
      connection.server.name === ownServer ? connection : connections.forAsking(connection, ...request),
    ownerOf: (connection) => (connection.server.name === ownServer ? undefined : connections.ownerOf(connection)),
    withoutCredentials: (server, principal) =>
      server === ownServer ? undefined : connections.withoutCredentials(server, principal),
  };
}

/** Watches the hub's own resources: the settings say when they change, so nothing is asked for. */
const ownWatched: WatchedConnection = { watch: async () => undefined, unwatch: () => undefined };

/** Subscriptions to resources of servers, and among them to the hub's own, which change with the settings. */
export function subscriptionsWithOwn(settings: () => Settings, options: SubscriptionOptions): Subscriptions {
  const all = createSubscriptions({
    ...options,
    connection: (server, of) =>
      server === ownServer ? { on: ownWatched, owner: undefined } : options.connection(server, of),
  });
  let before = ownResources(settings());
  return {
    add: (subscriber, uri) => all.add(subscriber, uri),
    updated: (...change) => all.updated(...change),
    reconcile() {
      all.reconcile();
      const now = ownResources(settings());
      for (const uri of changedResources(before, now)) {
        const params = JSON.stringify({ uri });
        const text = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":${params}}`;
        all.updated(ownServer, undefined, uri, text);
      }
      before = now;
    },
    get size() {
      return all.size;
    },
  };
}

type Compared = Pick<OwnResource, 'uri' | 'content' | 'mimeType'>;

/** Resources of the hub and files of its skills, these by their digests. */
function ownResources({ own }: Settings): readonly Compared[] {
  if (!own?.skills) return own?.resources ?? [];
  const files = own.skills.flatMap((skill) => skill.files);
  return [...own.resources, ...files.map(({ uri, digest, mimeType }) => ({ uri, content: digest, mimeType }))];
}

/** Those that are read otherwise than before. What is gone, or called otherwise, is news of the list alone. */
function changedResources(before: readonly Compared[], now: readonly Compared[]): string[] {
  if (now === before) return [];
  const known = new Map(before.map((one) => [one.uri, one]));
  return now
    .filter(({ uri, content, mimeType }) => {
      const was = known.get(uri);
      return was?.content !== content || was.mimeType !== mimeType;
    })
    .map(({ uri }) => uri);
}

/** Reads on in a result for the caller of the connection. */
type Read = (given: Readonly<Record<string, unknown>>) => object;

/** Answers from the settings of this moment, in the place of a server. */
function createOwnConnection(settings: () => Settings, read: Read): ServerConnection {
  let lastId = 0;
  const about = { info: '{}', instructions: undefined, capabilities: [], protocolVersion: sessionRevisions[0] ?? '' };
  return {
    server: { name: ownServer },
    status: { kind: 'connected' },
    offer: { server: ownServer, about, tools: [], prompts: [], resources: [], templates: [] },
    hasGivenUp: false,
    isCrowded: false,
    available: async () => undefined,
    ask: async () => undefined,
    takeId: () => (lastId += 1),
    cancel: () => undefined,
    send(id, method, params, exchange) {
      queueMicrotask(() => answer(exchange, id, () => resultOf(settings(), read, method, params)));
    },
  };
}

function answer(exchange: RelayExchange, id: number, result: () => object): void {
  let message: RpcMessage;
  try {
    message = { jsonrpc: '2.0', id, result: result() };
  } catch (error) {
    message = { jsonrpc: '2.0', id, error: toRpcError(error) };
  }
  exchange.answered(message, JSON.stringify(message));
}

function resultOf({ own }: Settings, read: Read, method: string, text = '{}'): object {
  const params: unknown = JSON.parse(text);
  const { name, uri, arguments: given } = isObject(params) ? params : {};
  if (method === 'tools/call') return read(isObject(given) ? given : {});
  if (method === 'completion/complete') return { completion: { values: [], total: 0, hasMore: false } };
  const prompt = method === 'prompts/get' ? own?.prompts.find((one) => one.name === name) : undefined;
  if (prompt) return promptResult(prompt, isObject(given) ? given : {});
  const skills = skillResult(own, method, String(uri));
  if (skills) return skills;
  const resource = method === 'resources/read' ? own?.resources.find((one) => one.uri === uri) : undefined;
  if (!resource) throw new HubError('not_found', `Unknown: ${String(name ?? uri).slice(0, 300)}`);
  const { mimeType, content } = resource;
  return { contents: [{ uri: resource.uri, mimeType, text: content }] };
}

/** Answers about the hub's skills; undefined for what is none. */
function skillResult(own: OwnItems | undefined, method: string, uri: string): object | undefined {
  if (method === 'skills/list') return { skills: (own?.skills ?? []).map(({ entry }): unknown => JSON.parse(entry)) };
  const skill = method === 'skills/get' ? own?.skills?.find((one) => one.uri === uri) : undefined;
  if (skill) return { skill: JSON.parse(skill.entry) as unknown };
  const file = method === 'resources/read' ? ownSkillFile(own, uri) : undefined;
  if (file) return { contents: [{ uri, mimeType: file.mimeType, ...file.content }] };
  const resources = method === 'resources/directory/read' ? ownSkillFolder(own, uri) : undefined;
  return resources && { resources };
}
