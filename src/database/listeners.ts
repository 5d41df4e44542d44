/** Who listens to which channel of one connection. */
export interface Listeners {
  add(channel: string, heard: (payload: string) => void): void;
  /** Removes a listener; true when it was the last one of its channel. */
  remove(channel: string, heard: (payload: string) => void): boolean;
  tell(channel: string, payload: string): void;
}

export function createListeners(): Listeners {
  const channels = new Map<string, Set<(payload: string) => void>>();
  return {
    add(channel, heard) {
      const known = channels.get(channel);
      if (known === undefined) channels.set(channel, new Set([heard]));
      else known.add(heard);
    },
    remove(channel, heard) {
      const known = channels.get(channel);
      if (known === undefined || !known.delete(heard) || known.size > 0) return false;
      return channels.delete(channel);
    },
    tell(channel, payload) {
      for (const heard of channels.get(channel) ?? []) heard(payload);
    },
  };
}
