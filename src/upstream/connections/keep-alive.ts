import type { ServerSettings } from '../../core/settings/server.ts';

/** Pings an idle server now and then, so that a connection that died silently is found before a call needs it. */
export interface KeepAlive {
  start(): void;
  stop(): void;
}

/** On for remote servers, off for stdio (whose end is told by the system), unless the settings say otherwise. */
export function createKeepAlive(
  server: ServerSettings,
  connection: { idle: () => boolean; ping: () => Promise<void>; lost: (error: unknown) => void },
): KeepAlive {
  const wanted = server.keepAlive ?? server.transport.type !== 'stdio';
  let timer: NodeJS.Timeout | undefined;

  async function beat(mine: NodeJS.Timeout | undefined): Promise<void> {
    if (!connection.idle()) return;
    try {
      await connection.ping();
    } catch (error) {
      // An answer that came late is about a connection that may be another by now.
      if (timer === mine) connection.lost(error);
    }
  }

  return {
    start() {
      clearInterval(timer);
      if (wanted) timer = setInterval(() => void beat(timer), server.keepAliveMs);
    },
    stop() {
      clearInterval(timer);
      timer = undefined;
    },
  };
}
