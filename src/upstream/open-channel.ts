import type { Logger } from '../core/logger.ts';
import type { RemoteTransport, ServerSettings, TransportSettings } from '../core/settings.ts';
import type { Channel, ChannelEvents } from './channel.ts';
import type { Credential } from './credential.ts';
import { openLegacySse } from './http/legacy-sse.ts';
import { openRemote } from './http/open-remote.ts';
import type { Reaper } from './stdio/reaper.ts';
import type { AddressPolicy } from './safe-address.ts';
import { openOpenapi } from './openapi/openapi.ts';
import { openStdio } from './stdio/stdio.ts';
import { openStreamableHttp } from './http/streamable-http.ts';

export interface ChannelOpener {
  /** The server's transport with its placeholders filled in. Throws HubError when it cannot be used. */
  readonly expand: (server: ServerSettings) => TransportSettings;
  /** Where the connections of a remote server may go. */
  readonly addresses: (server: ServerSettings) => AddressPolicy;
  /** What a remote server that people sign in to is authorized with; absent: only what its settings say. */
  readonly credential?: (server: ServerSettings, transport: RemoteTransport) => Credential;
  /** What children get of the hub's environment. */
  readonly inheritedEnv: Readonly<Record<string, string>>;
  readonly owner: string;
  readonly reaper: Reaper;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly userAgent: string;
  /** Where a server's own words and what happens to its channel are written. */
  readonly log: (server: ServerSettings) => Logger;
}

/** Opens the channel that a server's settings ask for. Throws HubError when they cannot work. */
export function openChannel(server: ServerSettings, events: ChannelEvents, options: ChannelOpener): Channel {
  const transport = options.expand(server);
  const { name, maxMessageBytes } = server;
  const log = options.log(server);
  const { inheritedEnv, owner, reaper, connectTimeoutMs, requestTimeoutMs, userAgent } = options;
  const remote = { name, maxMessageBytes, log, connectTimeoutMs, userAgent, addresses: options.addresses(server) };
  const signedIn = (transport: RemoteTransport) => ({ credential: options.credential?.(server, transport) });
  switch (transport.type) {
    case 'stdio':
      return openStdio({ ...transport, name, maxMessageBytes, log, inheritedEnv, owner, reaper }, events);
    case 'streamable-http':
      return openStreamableHttp({ ...transport, ...remote, ...signedIn(transport) }, events);
    case 'sse':
      return openLegacySse({ ...transport, ...remote, ...signedIn(transport) }, events);
    case 'auto':
      return openRemote({ ...transport, ...remote, ...signedIn(transport) }, events);
    case 'openapi':
      return openOpenapi(
        { ...remote, ...remote.addresses, config: transport, timeoutMs: server.timeoutMs ?? requestTimeoutMs },
        events,
      );
  }
}
