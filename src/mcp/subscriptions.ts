import { errorText, HubError } from '../core/errors.ts';
import { editObject, memberText } from '../core/json/text.ts';
import type { Logger } from '../core/logger.ts';
import { type Principal, principalId } from '../core/access/principal.ts';
import type { Scope } from '../core/access/scope.ts';
import type { Target, Views } from '../core/access/view.ts';
import type { ConnectionOwner } from '../upstream/connections/owner.ts';
import type { ClientHeaders } from '../upstream/connections/passed-headers.ts';
import { mcpLimits } from './limits.ts';

/** The part of a connection to a server that watching needs; `upstream/connections/connection.ts` is one. */
export interface WatchedConnection {
  watch(uri: string): Promise<void>;
  unwatch(uri: string): void;
}

/** Who wants to hear of a resource. */
export interface Subscriber {
  readonly principal: Principal;
  readonly scope: Scope;
  /** The session whose own connections count, as `stateOwner` names it; `''` outside of sessions. */
  readonly session: string;
  /** Those of the request that subscribed, see `ClientRequest`. */
  readonly clientHeaders?: ClientHeaders | undefined;
  /** A `notifications/resources/updated`, exactly as the server sent it. */
  tell(text: string): void;
}

/**
 * Whose connection it is that something came on: a session's own, a user's, that of callers with the same headers
 * (`passed`), or `undefined` for the one that is there for all.
 */
export type Owner = ConnectionOwner | undefined;

export interface SubscriptionOptions {
  /** Whether policies let a subscriber read the resource; all may when absent. */
  readonly mayHear?: ((subscriber: Subscriber, target: Target) => boolean) | undefined;
  readonly views: Views;
  /**
   * The connection that requests of this subscriber to a server go through, and whose it is. Throws HubError `too_many`
   * when the limit is reached, and the error that refuses the subscriber.
   */
  readonly connection: (server: string, of: Subscriber) => { on: WatchedConnection; owner: Owner } | undefined;
  readonly log: Logger;
}

/**
 * Who wants to hear of changes of which resource (2025-11-25, Resources, Subscriptions; 2026-07-28, Subscriptions). A
 * server gets one subscription for each resource, for any number of subscribers, and is told when the last of them has
 * ended.
 */
export interface Subscriptions {
  /**
   * Subscribes, until the function returned is called. Throws HubError `not_found` alike for what is not there and what
   * may not be seen, `too_many`, or what the server answers.
   */
  add(subscriber: Subscriber, uri: string): Promise<() => void>;
  /** A server says that a resource changed: tells the subscribers that asked for it and whose view still has it. */
  updated(server: string, owner: Owner, uri: string, text: string): void;
  /**
   * Settings, offers or connections changed: ends subscriptions to what no subscriber may see any more, and renews at
   * its new place what moved.
   */
  reconcile(): void;
  readonly size: number;
}

/** Where a resource is asked for. */
interface Place {
  readonly server: string;
  /** As the server knows it. */
  readonly uri: string;
  readonly on: WatchedConnection;
  readonly owner: Owner;
  /** Rejects when the server refused. */
  watched: Promise<void> | undefined;
}

interface Subscription {
  readonly subscriber: Subscriber;
  readonly uri: string;
  /** Where it is asked for; undefined while the subscriber may not see it. */
  place: Place | undefined;
}

export function createSubscriptions({ views, mayHear, connection, log }: SubscriptionOptions): Subscriptions {
  const all = new Set<Subscription>();
  /** By server and, for connections of their own, by owner. */
  const heard = new Map<string, Set<Subscription>>();

  /** Where a URI leads that the subscriber sees and may read. */
  function heardOf(subscriber: Subscriber, uri: string): Target | undefined {
    const target = views.get(subscriber.principal, subscriber.scope).resource(uri);
    return target && (mayHear?.(subscriber, target) ?? true) ? target : undefined;
  }

  function placeOf(subscriber: Subscriber, uri: string): Place | undefined {
    const target = heardOf(subscriber, uri);
    if (!target) return undefined;
    const { server, key } = target;
    const found = connection(server, subscriber);
    return found && { server, uri: key, ...found, watched: undefined };
  }

  /** Asks for it there; notifications from there are taken at once, since the first one may come before the answer. */
  function enter(subscription: Subscription, place: Place): Promise<void> {
    subscription.place = place;
    const key = keyOf(place.server, place.owner);
    heard.set(key, (heard.get(key) ?? new Set()).add(subscription));
    place.watched = place.on.watch(place.uri);
    return place.watched;
  }

  function leave(subscription: Subscription): void {
    const { place } = subscription;
    if (!place) return;
    subscription.place = undefined;
    const key = keyOf(place.server, place.owner);
    const there = heard.get(key);
    there?.delete(subscription);
    if (there?.size === 0) heard.delete(key);
    // Only what was agreed to can be taken back.
    place.watched?.then(
      () => place.on.unwatch(place.uri),
      () => undefined,
    );
  }

  async function move(subscription: Subscription, place: Place | undefined): Promise<void> {
    leave(subscription);
    try {
      if (place) await enter(subscription, place);
    } catch (error) {
      log.info('changes of a resource can no longer be heard', { uri: subscription.uri, error: errorText(error) });
    }
  }

  return {
    async add(subscriber, uri) {
      if (all.size >= mcpLimits.subscriptions) throw tooMany();
      const place = placeOf(subscriber, uri);
      if (!place) throw new HubError('not_found', `Unknown resource: ${uri.slice(0, 300)}`);
      const subscription: Subscription = { subscriber, uri, place: undefined };
      all.add(subscription);
      const end = (): void => {
        if (all.delete(subscription)) leave(subscription);
      };
      try {
        await enter(subscription, place);
      } catch (error) {
        end();
        throw error;
      }
      return end;
    },
    updated(server, owner, uri, text) {
      for (const { subscriber, uri: wanted, place } of heard.get(keyOf(server, owner)) ?? []) {
        if (!place || !isWithin(uri, place.uri)) continue;
        // Pages of apps go by another URI than their own there (`core/access/apps.ts`).
        const shown = place.uri === wanted ? uri : `${wanted}${uri.slice(place.uri.length)}`;
        // What was set a moment ago holds, though `reconcile` comes later; and policies may look at the time.
        if ([wanted, shown].some((one) => heardOf(subscriber, one)?.server !== server)) continue;
        subscriber.tell(shown === uri ? text : withUri(text, shown));
      }
    },
    reconcile() {
      for (const subscription of all) {
        const { subscriber, uri, place } = subscription;
        try {
          const now = placeOf(subscriber, uri);
          if (now?.on !== place?.on || now?.server !== place?.server) void move(subscription, now);
        } catch (error) {
          // At a limit the subscription stays where it was. A subscriber that is refused gets nothing more from there.
          if (!(error instanceof HubError && error.code === 'too_many')) void move(subscription, undefined);
          else log.debug('resource is watched where it was', { uri, error: errorText(error) });
        }
      }
    },
    get size() {
      return all.size;
    },
  };
}

function keyOf(server: string, owner: Owner): string {
  return owner ? JSON.stringify([server, principalId(owner.principal), owner.session, owner.passed]) : server;
}

/** What was updated may be a part of what was subscribed to (2025-11-25, `ResourceUpdatedNotification`). */
function isWithin(uri: string, wanted: string): boolean {
  if (uri === wanted) return true;
  if (!uri.startsWith(wanted)) return false;
  return wanted.endsWith('/') || '/?#'.includes(uri.charAt(wanted.length));
}

function withUri(text: string, uri: string): string {
  return editObject(text, { params: editObject(memberText(text, 'params') ?? '{}', { uri: JSON.stringify(uri) }) });
}

function tooMany(): HubError {
  return new HubError('too_many', 'Too many resources are subscribed to already. End some subscriptions first.', {
    retryAfterMs: 10_000,
  });
}
