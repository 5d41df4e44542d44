import type { Database } from './database.ts';

/** Listeners that outlive a connection: each new one is told to listen to the same channels. */
export interface Hearing {
  /** `heard` gets each payload, and `undefined` when the connection is new and some may have been missed. */
  add(channel: string, heard: Heard): () => void;
  /** Listens for all on a new connection. Rejects when that breaks meanwhile. */
  attach(fresh: Database): Promise<void>;
  /** The connection is gone. */
  detach(): void;
}

export type Heard = (payload: string | undefined) => void;

interface Hearer {
  readonly channel: string;
  readonly heard: Heard;
  /** Ends the listening on the present connection. */
  end: (() => Promise<void>) | undefined;
}

export function createHearing(): Hearing {
  const hearers = new Set<Hearer>();
  let current: Database | undefined;

  async function listen(fresh: Database, hearer: Hearer): Promise<void> {
    hearer.end = await fresh.listen(hearer.channel, (payload) => {
      if (hearers.has(hearer)) hearer.heard(payload);
    });
    if (hearers.has(hearer)) hearer.heard(undefined);
    else await hearer.end();
  }

  return {
    add(channel, heard) {
      const hearer: Hearer = { channel, heard, end: undefined };
      hearers.add(hearer);
      // A failure means that the connection is breaking; the next one listens for all.
      if (current !== undefined) listen(current, hearer).catch(() => {});
      return () => {
        hearers.delete(hearer);
        hearer.end?.().catch(() => {}); // With the connection its listening is gone anyway.
      };
    },
    async attach(fresh) {
      // A listener that is added meanwhile is in the loop too.
      for (const hearer of hearers) await listen(fresh, hearer);
      current = fresh;
    },
    detach() {
      current = undefined;
    },
  };
}
