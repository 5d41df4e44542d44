import { deferred } from '../../core/deferred.ts';
import type { HubError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { ServerSettings } from '../../core/settings/server.ts';
import type { Channel, ChannelEvents } from '../channels/channel.ts';
import { Connection } from './connection.ts';
import type { ConnectionStatus } from './status.ts';
import { createStartSemaphore } from './start-semaphore.ts';

export interface Probed {
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  readonly ms: number;
}

export interface ProbeOptions {
  readonly open: (server: ServerSettings, events: ChannelEvents) => Channel;
  readonly load: (server: ServerSettings) => Promise<void>;
  readonly version: string;
  readonly timeoutMs: number;
  readonly log: Logger;
  /** Called with each phase of the start. Must be quick. */
  readonly progress?: (state: ConnectingState) => void;
}

export type ConnectingState = Extract<ConnectionStatus, { readonly kind: 'connecting' }>;

/** Connects to a server once, lists what it offers, and leaves. Throws HubError with the reason when that fails. */
export async function probeServer(server: ServerSettings, options: ProbeOptions): Promise<Probed> {
  const { timeoutMs } = options;
  const { promise: settled, resolve: settle } = deferred<HubError | undefined>();
  const connection: Connection = new Connection({
    ...options,
    server,
    connectTimeoutMs: timeoutMs,
    requestTimeoutMs: timeoutMs,
    slots: createStartSemaphore(1),
    changed() {
      const { status } = connection;
      if (status.kind === 'connecting') options.progress?.(status);
      if (status.kind === 'connected') settle(undefined);
      if (status.kind === 'disconnected' || status.kind === 'oauth_required') settle(status.error);
    },
  });
  connection.start();
  const error = await settled;
  const { offer, status } = connection;
  await connection.stop();
  if (error) throw error;
  return {
    tools: offer?.tools.length ?? 0,
    prompts: offer?.prompts.length ?? 0,
    resources: (offer?.resources.length ?? 0) + (offer?.templates.length ?? 0),
    ms: status.kind === 'connected' ? status.tookMs : 0,
  };
}
