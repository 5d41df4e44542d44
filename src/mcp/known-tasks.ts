import type { Target } from '../core/access/view.ts';
import { mcpLimits } from './limits.ts';
import type { MadeCall } from './made-call.ts';

/** A task of a caller at a server, as `tasks.ts` looks it up. */
export interface Known {
  readonly target: Target;
  /** The call that made it, as policies are asked about it. */
  readonly call: Omit<MadeCall, 'args' | 'unclear'>;
  /** Its arguments as JSON text; undefined where they are longer than policies read, or others needed the room. */
  argsText: string | undefined;
  readonly owner: string;
  readonly sid: string | undefined;
  readonly life: unknown;
  readonly expiresAt: number;
  /** Its result was fetched, or there will be none. */
  isOver?: true;
}

/** The tasks that are not over, and not more of them than there is room for. */
export interface KnownTasks {
  find(owner: string, id: string): Known | undefined;
  at(server: string, id: string): Known | undefined;
  /** Takes one that neither its owner nor its server has. The oldest make room. */
  add(id: string, known: Known): void;
  /** See `Tasks`. */
  isOpenAt(server: string): boolean;
  readonly size: number;
}

export function createKnownTasks(life: (server: string) => unknown, now: () => number): KnownTasks {
  /** By server and id: two servers may use the same id for their tasks. */
  const byServer = new Map<string, Known>();
  /** By owner, then by id. */
  const byOwner = new Map<string, Map<string, Known>>();
  /** Of all arguments that are kept. */
  let argumentChars = 0;

  function dropArguments(known: Known): void {
    argumentChars -= lengthOf(known);
    known.argsText = undefined;
  }

  function forget(id: string, known: Known): void {
    byServer.delete(keyOf(known.target.server, id));
    dropArguments(known);
    const own = byOwner.get(known.owner);
    if (own?.get(id) === known) own.delete(id);
    if (own?.size === 0) byOwner.delete(known.owner);
  }

  /** What is known of it, unless that is over. */
  function alive(id: string, known: Known | undefined): Known | undefined {
    if (!known || (known.expiresAt > now() && known.life === life(known.target.server))) return known;
    forget(id, known);
    return undefined;
  }

  function find(owner: string, id: string): Known | undefined {
    return alive(id, byOwner.get(owner)?.get(id));
  }

  function at(server: string, id: string): Known | undefined {
    return alive(id, byServer.get(keyOf(server, id)));
  }

  function makeRoom(own: Map<string, Known>): void {
    const [oldest] = own;
    if (own.size >= mcpLimits.tasksPerPrincipal && oldest) forget(...oldest);
    const [key, known] = byServer.entries().next().value ?? [];
    if (byServer.size >= mcpLimits.tasks && key !== undefined && known) forget(idOf(key), known);
  }

  /** The oldest arguments go first: those of the same owner, then those of any. */
  function makeRoomForArguments(own: Map<string, Known>, length: number): void {
    let ownChars = [...own.values()].reduce((sum, known) => sum + lengthOf(known), 0);
    for (const known of own.values()) {
      if (ownChars + length <= mcpLimits.taskArgumentCharsPerPrincipal) break;
      ownChars -= lengthOf(known);
      dropArguments(known);
    }
    for (const known of byServer.values()) {
      if (argumentChars + length <= mcpLimits.taskArgumentChars) break;
      dropArguments(known);
    }
  }

  return {
    find,
    at,
    add(id, known) {
      const own = byOwner.get(known.owner) ?? new Map<string, Known>();
      makeRoom(own);
      makeRoomForArguments(own, lengthOf(known));
      argumentChars += lengthOf(known);
      byOwner.set(known.owner, own.set(id, known));
      byServer.set(keyOf(known.target.server, id), known);
    },
    isOpenAt(server) {
      for (const [key, known] of byServer)
        if (known.target.server === server && known.isOver !== true && alive(idOf(key), known)) return true;
      return false;
    },
    get size() {
      return byServer.size;
    },
  };
}

function lengthOf({ argsText }: Pick<Known, 'argsText'>): number {
  return argsText?.length ?? 0;
}

function keyOf(server: string, id: string): string {
  return `${server}\n${id}`;
}

function idOf(key: string): string {
  return key.slice(key.indexOf('\n') + 1);
}
