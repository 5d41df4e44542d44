import { HubError } from './errors.ts';
import { coreLimits } from './limits.ts';

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
  /**
   * Begins a body. Throws HubError `not_ready` when as much as it announces is not left: nothing of it is read then.
   */
  receive(body: Body): Receiving;
  /**
   * Takes room for `bytes` more of a small body of an unknown sender, which has `size` with them. False where there is
   * none.
   */
  hold(bytes: number, size: number): boolean;
  /** Gives such room back. */
  release(bytes: number): void;
  /** Bytes taken now. */
  readonly used: number;
  /** Bodies refused since the start. */
  readonly refused: number;
}

/**
 * Parts of the whole: `large` may be taken before a large body is refused; `unknown` by all whose sender is not known
 * together, `unknownLarge` before a large one of theirs is refused.
 */
const shares = { large: 7 / 8, unknown: 5 / 8, unknownLarge: 1 / 2 } as const;

/** `total` is asked each time: what one body may have is part of the settings. */
export function createByteBudget(total: () => number): ByteBudget {
  let used = 0;
  let usedByUnknown = 0;
  let refused = 0;

  /** For `bytes` more of a body that has, or announces, `size` with them. */
  const hasRoom = (bytes: number, size: number, isKnown: boolean): boolean => {
    const isSmall = size <= coreLimits.budgetSmallBytes;
    const left = total() * (isSmall ? 1 : shares.large) - used - bytes;
    if (isKnown) return left >= 0;
    const leftToUnknown = total() * (isSmall ? shares.unknown : shares.unknownLarge) - usedByUnknown - bytes;
    // A small one leaves as much as it has itself: however many there are, a smaller one, such as a login, finds room.
    return Math.min(left, leftToUnknown) >= (isSmall ? size : 0);
  };

  function take(bytes: number, isKnown: boolean): void {
    used += bytes;
    if (!isKnown) usedByUnknown += bytes;
  }

  function refuse(): never {
    refused++;
    throw new HubError('not_ready', 'The hub is receiving as much as it has memory for. Try again in a moment.', {
      retryAfterMs: coreLimits.budgetRetryMs,
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
          take(bytes, isKnown);
        },
        close() {
          if (!closed) take(-own, isKnown);
          closed = true;
        },
      };
    },
    hold(bytes, size) {
      if (!hasRoom(bytes, size, false)) return false;
      take(bytes, false);
      return true;
    },
    release(bytes) {
      take(-bytes, false);
    },
    get used() {
      return used;
    },
    get refused() {
      return refused;
    },
  };
}
