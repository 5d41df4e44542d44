import type { ItemKind } from '../core/catalogue.ts';
import type { Principal } from '../core/access/principal.ts';
import type { Scope } from '../core/access/scope.ts';
import { changedKinds, type View, type Views } from '../core/access/view.ts';

/** A client that wants to be told when the lists that it sees change. */
export interface Listener {
  readonly principal: Principal;
  readonly scope: Scope;
  /** The view they were last told of. */
  seen: View;
  /** Each of these lists has changed. */
  tell(kinds: ReadonlySet<ChangedList>): void;
  /** The group of its endpoint is gone, or closed to it: its streams end. */
  groupGone(): void;
}

/** The lists that have a notification of their own; templates go with resources. */
export type ChangedList = 'tools' | 'prompts' | 'resources';

export const changedMethod: Readonly<Record<ChangedList, string>> = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
};

/** The `list_changed` notification of one list. */
export function changedText(list: ChangedList): string {
  return `{"jsonrpc":"2.0","method":"${changedMethod[list]}"}`;
}

export interface Announcer {
  /** Listens until the function returned is called. */
  add(listener: Listener): () => void;
  /** Tells those, and only those, whose own view changed since they were last told; once for each list. */
  announce(): void;
}

export function createAnnouncer(views: Views): Announcer {
  const listeners = new Set<Listener>();
  return {
    add(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    announce() {
      // A thousand clients share a handful of views: each pair is compared once.
      const compared = new Map<View, { now: View; changed: ReadonlySet<ChangedList> }>();
      for (const listener of listeners) {
        const { seen } = listener;
        const now = views.get(listener.principal, listener.scope);
        let pair = compared.get(seen);
        if (pair?.now !== now) {
          pair = { now, changed: new Set(changedKinds(seen, now).map(listName)) };
          compared.set(seen, pair);
        }
        const { changed } = pair;
        listener.seen = now;
        if (seen.kind === 'group' && now.kind === 'nothing') listener.groupGone();
        else if (changed.size > 0) listener.tell(changed);
      }
    },
  };
}

function listName(kind: ItemKind): ChangedList {
  return kind === 'templates' ? 'resources' : kind;
}
