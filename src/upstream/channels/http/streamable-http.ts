import { BusyMap } from '../../../core/busy-map.ts';
import { HubError } from '../../../core/errors.ts';
import { type Channel, type ChannelEvents, deadChannel } from '../channel.ts';
import { connectionError } from '../http-errors.ts';
import { upstreamLimits } from '../../limits.ts';
import { HttpPost, type Waiting } from './post.ts';
import { HttpSession } from './session.ts';
import { authorized, remote, type Remote, type RemoteOptions } from './remote.ts';
import { statelessRevision } from '../../../core/protocol/stateless.ts';
import { ServerStream } from './server-stream.ts';

/**
 * Speaks streamable HTTP with a server (MCP, Transports): each message is a POST whose response brings the answer, and
 * once `ready` a GET stream brings what the server says unasked. It never emits `closed` after a good start: every
 * request stands for itself.
 */
export function openStreamableHttp(options: RemoteOptions, events: ChannelEvents): Channel {
  let target: Remote;
  try {
    target = remote(options);
  } catch (error) {
    return deadChannel(
      options.name,
      Promise.resolve(error instanceof HubError ? error : connectionError(options.name, error)),
      events,
    );
  }
  const session = new HttpSession(options, target, events);
  const waiting: Waiting = new BusyMap();
  let stream: ServerStream | undefined;
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    session.closed = true;
    stream?.stop();
    for (const post of waiting.values()) post.abandon();
    if (session.id !== undefined) await endSession(session);
    await target.pool.destroy();
  }

  return {
    send(text, requestId, headers) {
      if (session.closed) throw new HubError('upstream_unavailable', `Server "${options.name}" is not connected.`);
      if (session.backlog + text.length > upstreamLimits.upstreamBacklogBytes) {
        throw new HubError(
          'upstream_unavailable',
          `Server "${options.name}" is too slow: too much is waiting for it. Try again later.`,
        );
      }
      // It is referenced by `waiting` and by the connection pool.
      void new HttpPost(session, waiting, { text, requestId, headers });
    },
    abandon(requestId) {
      waiting.get(requestId)?.abandon();
    },
    ready(protocolVersion) {
      session.protocolVersion = protocolVersion;
      stream?.stop();
      stream = protocolVersion < statelessRevision ? new ServerStream(session) : undefined;
    },
    forgetSession() {
      session.forget();
      stream?.stop();
      stream = undefined;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/**
 * Tells the server that the session is over, as a courtesy: a server that does not listen, or forbids it (405), is left
 * as it is.
 */
async function endSession(session: HttpSession): Promise<void> {
  const { remote } = session;
  const { pool, path } = remote;
  try {
    const { body } = await pool.request({
      path,
      method: 'DELETE',
      headers: authorized(remote, session.streamHeaders()),
      signal: AbortSignal.timeout(upstreamLimits.endSessionMs),
    });
    await body.dump();
  } catch (error) {
    session.log.debug(`The session could not be ended: ${error instanceof Error ? error.message : 'unknown'}`);
  }
}
