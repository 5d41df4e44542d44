import { HubError } from '../../core/errors.ts';
import type { Connection } from './connection.ts';

/** The part of a connection that one request needs. */
export type RequestConnection = Pick<Connection, 'status' | 'offer' | 'available' | 'takeId' | 'send' | 'cancel'>;

/** A request goes through the first connection, or through the other one where the first does not come about. */
export function withFallback(first: Connection, other: Connection): RequestConnection {
  let used = first;
  return {
    get status() {
      return used.status;
    },
    get offer() {
      return used.offer ?? other.offer;
    },
    async available(waitMs) {
      try {
        await first.available(waitMs);
      } catch (error) {
        if (!(error instanceof HubError)) throw error;
        used = other;
        await other.available(waitMs);
      }
    },
    takeId: () => used.takeId(),
    send: (...request) => used.send(...request),
    cancel: (...request) => used.cancel(...request),
  };
}
