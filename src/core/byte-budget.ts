import { HubError } from './errors.ts';
import { limits } from './limits.ts';

/** A body that is being received. */
export interface Receiving {
  /** Takes room for what came. Throws HubError `not_ready` where there is none. */
  add(bytes: number): void;
  /** Gives all its room back. Later calls do nothing. */
  close(): void;
}

export interface Body {
  /** Its length as its sender announced it; 0 when they did not. */
  readonly declared: number;
  /** Whether its sender is known by a credential. */
  readonly isKnown: boolean;
}

/** The memory that bodies of requests may take while they are received, all together (decisions/0032). */
export interface ByteBudget {
  /** Begins a body. Throws HubError `not_ready` when as much as it announces is not left: nothing of it is read then. */
  receive(body: Body): Receiving;
  /** Takes room for a part of a small body. False where there is none. */
  hold(bytes: number): boolean;
  /** Gives such room back. */
  release(bytes: number): void;
  /** Bytes taken now. */
  readonly used: number;
  /** Bodies refused since the start. */
  readonly refused: number;
}

/** Parts of the whole that may be taken before a large body is refused: the rest is for small ones, and some of it for those who are known. */
const shares = { known: 7 / 8, unknown: 1 / 2 } as const;

/** `total` is asked each time: what one body may have is part of the settings. */
export function createByteBudget(total: () => number): ByteBudget {
  let used = 0;
  let refused = 0;

  const hasRoom = (bytes: number, size: number, isKnown: boolean): boolean => {
    const share = size <= limits.budgetSmallBytes ? 1 : isKnown ? shares.known : shares.unknown;
    return used + bytes <= total() * share;
  };

  function refuse(): never {
    refused++;
    throw new HubError('not_ready', 'The hub is receiving as much as it has memory for. Try again in a moment.', {
      retryAfterMs: limits.budgetRetryMs,
    });
  }

  return {
    receive({ declared, isKnown }) {
      if (!hasRoom(declared, declared, isKnown)) refuse();
      let own = 0;
      let closed = false;
      return {
        add(bytes) {
          if (closed) return;
          if (!hasRoom(bytes, Math.max(declared, own + bytes), isKnown)) refuse();
          own += bytes;
          used += bytes;
        },
        close() {
          if (!closed) used -= own;
          closed = true;
        },
      };
    },
    hold(bytes) {
      if (!hasRoom(bytes, bytes, false)) return false;
      used += bytes;
      return true;
    },
    release(bytes) {
      used -= bytes;
    },
    get used() {
      return used;
    },
    get refused() {
      return refused;
    },
  };
}
