import type { Logger } from '../../core/logger.ts';
import type { RemoteTransport, ServerSettings, UsableTransport } from '../../core/settings/server.ts';
import type { Channel, ChannelEvents } from './channel.ts';
import type { Credential, OwnValues } from './credential.ts';
import type { Reaper } from './stdio/reaper.ts';
import type { AddressPolicy } from './safe-address.ts';
import type { InstallQueue } from './stdio/install-queue.ts';
import type { SandboxPlaces } from './stdio/sandbox.ts';
import { HubError } from '../../core/errors.ts';
import { slotsOf } from '../../core/access/per-user.ts';
import { openStdioChannel } from './stdio/channel.ts';
import { launcherOf } from './stdio/launcher.ts';
import type { WantedProgram } from './shared/told.ts';
import type { ProgramClient } from './shared/program-client.ts';

export interface ChannelOpener {
  /** The server's transport with its placeholders filled in. Throws HubError when it cannot be used. */
  readonly expand: (server: ServerSettings) => UsableTransport;
  /** Where the connections of a remote server may go. */
  readonly addresses: (server: ServerSettings) => AddressPolicy;
  /** What a remote server that people sign in to is authorized with; absent: only what its settings say. */
  readonly credential?: (server: ServerSettings, transport: RemoteTransport) => Credential;
  /** The headers of the client that the server gets, which win over those of the settings. Never expanded. */
  readonly passed?: Readonly<Record<string, string>> | undefined;
  /** The channel is that of one session of a client. */
  readonly isOfSession?: boolean | undefined;
  /** What the user set for the server. */
  readonly own?: OwnValues | undefined;
  /** What children get of the hub's environment. */
  readonly inheritedEnv: Readonly<Record<string, string>>;
  readonly owner: string;
  readonly reaper: Reaper;
  /** What programs in a sandbox do not see, and where their homes are. */
  readonly sandboxes: SandboxPlaces;
  /** Set where programs run in another process, which several workers share. */
  readonly programs?: ProgramClient | undefined;
  /** The turns of launchers. */
  readonly installs: InstallQueue;
  readonly connectTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly userAgent: string;
  /** Where a server's own words and what happens to its channel are written. */
  readonly log: (server: ServerSettings) => Logger;
}

/** What speaks HTTP to servers, with the HTTP client: a fifth of what a start would load. */
async function importRemote() {
  const [http, openapi] = await Promise.all([import('./http/channel.ts'), import('./openapi/channel.ts')]);
  return { ...http, ...openapi };
}

let remoteChannels: Awaited<ReturnType<typeof importRemote>> | undefined;

/** Loads what the channel of this server takes. Before `openChannel`, each time: it is there already, as a rule. */
export async function loadChannel({ transport }: ServerSettings): Promise<void> {
  if (transport.type !== 'stdio') remoteChannels ??= await importRemote();
}

function loaded() {
  if (!remoteChannels) throw new Error('A channel was opened before it was loaded');
  return remoteChannels;
}

/**
 * Opens the channel that a server's settings ask for; `loadChannel` comes first. Throws HubError when they cannot work.
 */
export function openChannel(server: ServerSettings, events: ChannelEvents, options: ChannelOpener): Channel {
  const transport = options.expand(server);
  const { name, maxMessageBytes } = server;
  const log = options.log(server);
  const { own } = options;
  const { inheritedEnv, owner, reaper, installs, connectTimeoutMs, requestTimeoutMs, userAgent } = options;
  const remote = { name, maxMessageBytes, log, connectTimeoutMs, userAgent, addresses: options.addresses(server) };
  switch (transport.type) {
    case 'stdio': {
      const { command, cwd, sandbox, container } = transport;
      const args = withOwnArgs(server, transport.args, own);
      const env = { ...transport.env, ...own?.env };
      const program = { name, command, args, env, cwd, maxMessageBytes };
      if (options.programs) {
        const held = { sandbox, container, isShared: isShared(server) };
        const isLaunched = container !== undefined || launcherOf(command, args) !== undefined;
        return options.programs.open({ ...program, ...held }, { isLaunched, log }, events);
      }
      return openStdioChannel(
        {
          ...program,
          log,
          inheritedEnv,
          owner,
          reaper,
          installs,
          ...heldBy({ sandbox, container, isShared: isShared(server) }, options.sandboxes),
        },
        events,
      );
    }
    case 'streamable-http':
    case 'sse':
    case 'auto': {
      const credential = options.credential?.(server, transport);
      const headers = { ...transport.headers, ...own?.headers, ...options.passed };
      return loaded().openHttpChannel({ ...transport, ...remote, headers, credential }, events);
    }
    case 'openapi':
      return loaded().openOpenapiChannel(
        {
          ...remote,
          ...remote.addresses,
          config: transport,
          isOfSession: options.isOfSession,
          passed: { ...own?.headers, ...options.passed },
          notArguments: [
            ...(transport.passthroughHeaders ?? []),
            ...slotsOf(server).flatMap(({ target, name }) => (target === 'headers' ? [name.toLowerCase()] : [])),
          ],
          timeoutMs: server.timeoutMs ?? requestTimeoutMs,
        },
        events,
      );
  }
}

/** Whether it runs in a container, in a sandbox, or as the hub does. */
export function heldBy(
  { sandbox, container, isShared }: Pick<WantedProgram, 'sandbox' | 'container' | 'isShared'>,
  places: SandboxPlaces,
) {
  if (container) return { contained: { container, sandbox, places } };
  return { sandboxed: sandbox && { sandbox, places, isShared } };
}

/** Several processes of it run for different callers. */
function isShared(server: ServerSettings): boolean {
  return server.perSessionClient || slotsOf(server).length > 0;
}

/**
 * The arguments with what the user set at `${credential:<name>}`, after everything else was filled in. Throws HubError
 * `upstream_unavailable` while there is no user with credentials.
 */
function withOwnArgs(server: ServerSettings, args: readonly string[], own: OwnValues | undefined): string[] {
  const names = slotsOf(server).flatMap(({ target, name }) => (target === 'args' ? [name] : []));
  return args.map((arg) =>
    names.length === 0
      ? arg
      : arg.replace(/\$\{credential:([^{}]+)\}/g, (place, name: string) => {
          if (!names.includes(name)) return place;
          const value = own && Object.hasOwn(own.args, name) ? own.args[name] : undefined;
          if (value !== undefined) return value;
          const text = `Server "${server.name}" starts once a user has set their credentials for it.`;
          throw new HubError('upstream_unavailable', text);
        }),
  );
}
