import { createHash } from 'node:crypto';
import { createSealer } from '../../core/seal.ts';

/**
 * Texts that the hub gives out and gets back, such as codes: what they say is in them, sealed, so that nothing has to
 * be kept for a caller who has not logged in, and every hub with the same secret reads them.
 */
export interface Tickets<T> {
  make(content: T): string;
  /** Undefined for what was not made here for this purpose, and for what is older than its life. */
  read(text: string | undefined): T | undefined;
  /** True for every text that was made here for this purpose, however old. */
  isOurs(text: string): boolean;
}

export interface TicketOptions {
  readonly secret: Uint8Array;
  readonly purpose: string;
  /** Undefined: for ever. */
  readonly lifeMs: number | undefined;
  /** How much the clocks of hubs that share the secret may differ. */
  readonly toleranceMs: number;
  readonly now: () => number;
}

export function createTickets<T>({ secret, purpose, lifeMs, toleranceMs, now }: TicketOptions): Tickets<T> {
  const sealer = createSealer(secret, purpose);
  return {
    make: (content) => sealer.seal(JSON.stringify([now(), content])),
    isOurs: (text) => sealer.open(text) !== undefined,
    read(text) {
      const opened = text === undefined ? undefined : sealer.open(text);
      if (opened === undefined) return undefined;
      const [at, content] = JSON.parse(opened) as [number, T];
      return lifeMs === undefined || now() - at <= lifeMs + toleranceMs ? content : undefined;
    },
  };
}

/** SHA-256, as PKCE has it (RFC 7636 §4.2). */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}
