import { randomUUID } from 'node:crypto';
import { isPassedOn } from '../core/access/came-from.ts';
import { hubOf, idAt } from '../core/hub-id.ts';
import { capabilitiesOf, noCapabilities } from '../core/protocol/server-requests.ts';
import type { HubError } from '../core/errors.ts';
import { LargeText } from '../core/json/large-text.ts';
import { type Principal, principalId } from '../core/access/principal.ts';
import { isObject, resultText, rpcErrors } from '../core/protocol/rpc.ts';
import type { Scope } from '../core/access/scope.ts';
import { dispatch, initializeResult } from './dispatch.ts';
import { changedText } from './announcer.ts';
import { clientName } from './client-name.ts';
import { cancelInFlight, type EndpointOptions, heard } from './endpoint.ts';
import { type ClientFacts, InFlight, type LiveSession, type SessionFacts } from './sessions.ts';
import { atItsHub, isPassedTo } from './elsewhere.ts';
import { readMessage } from './incoming.ts';
import type { Reply } from './reply.ts';
import { type ClientMessage, clientRequest } from './request.ts';
import { negotiated } from '../core/protocol/revisions.ts';
import type { Stream } from './stream.ts';
import { refuse, refuseStream, type RequestContext } from './request-context.ts';

/** The HTTP+SSE transport of 2024-11-05: a stream that carries every answer, and POSTs that carry the requests. */
export interface LegacySse {
  /** `GET /sse…`: opens the stream and says where to POST. */
  open(context: RequestContext): void;
  /** `POST /messages?sessionId=`. */
  message(context: RequestContext): Promise<void>;
}

interface Connection {
  readonly principal: Principal;
  readonly scope: Scope;
  readonly address: string | undefined;
  readonly senderNow: RequestContext['senderNow'];
  readonly stream: Stream;
  readonly session: LegacySession;
}

interface LegacySession extends LiveSession {
  /** Its client has said what it is. */
  introduced(about: ClientFacts): void;
}

export interface LegacySseOptions extends EndpointOptions {
  /**
   * Why an endpoint refuses every request; undefined when it does not. A stream may still be open when its endpoint is
   * switched off.
   */
  readonly closed: (scope: Scope) => HubError | undefined;
}

const onlyGet = { headers: { allow: 'GET' } };

/** `messagesPath`: where clients POST, base path included. */
export function createLegacySse(messagesPath: string, options: LegacySseOptions): LegacySse {
  const connections = new Map<string, Connection>();

  function open(context: RequestContext): void {
    const { req, res, principal, scope, headers } = context;
    if (req.method !== 'GET')
      return refuse(context, 405, rpcErrors.invalidRequest, 'Use GET to open the stream.', onlyGet);
    if (options.streams.full) return refuseStream(context);
    const sid = options.replicas === undefined ? randomUUID() : idAt(options.replicas.id, randomUUID());
    const openedAt = performance.now();
    const stream = options.streams.open(res, headers, () => {
      connections.delete(sid);
      forget();
      stopListening();
      for (const release of session.holds.values()) release();
      for (const call of session.inFlight.values()) call.cancel('client disconnected');
      options.sessionEnded?.(sid);
      const { revision } = session.facts;
      options.tracing?.sessionEnded({ server: undefined, revision, error: undefined }, performance.now() - openedAt);
    });
    const session = sessionOf(context, sid, stream);
    const forget = options.sessions.adopt(session);
    const stopListening = options.announcer.add({
      principal,
      scope,
      seen: options.views.get(principal, scope),
      tell(kinds) {
        for (const kind of kinds) stream.send(changedText(kind));
      },
      groupGone: () => stream.end(),
    });
    const { address, senderNow } = context;
    connections.set(sid, { principal, scope, address, senderNow, stream, session });
    stream.event('endpoint', `${messagesPath}?sessionId=${sid}`);
  }

  async function message(context: RequestContext): Promise<void> {
    if (context.req.method !== 'POST')
      return refuse(context, 405, rpcErrors.invalidRequest, 'Use POST.', { headers: { allow: 'POST' } });
    const sid = context.query.get('sessionId');
    if (sid === null || sid === '')
      return refuse(context, 400, rpcErrors.invalidRequest, 'The sessionId parameter is missing.');
    const connection = connections.get(sid);
    if (!connection && isElsewhere(context, sid, options)) {
      const read = await readMessage(context);
      if (read) atItsHub(context, { messages: [read], at: hubOf(sid) }, options, () => noStream(context));
      return;
    }
    if (!connection || principalId(connection.principal) !== principalId(context.principal)) {
      return noStream(context);
    }
    const read = await readMessage(context);
    if (!read) return;
    // The stream may have ended while the body came.
    if (connections.get(sid) !== connection) return noStream(context);
    const why = options.closed(connection.scope);
    if (why) return refuse(context, why.status, why.rpcCode, why.message);
    context.res.writeHead(202, { ...context.headers, 'content-type': 'text/plain', 'content-length': 8 });
    context.res.end('Accepted');
    receive({ ...connection, clientHeaders: context.clientHeaders }, read);
  }

  function receive(connection: Connection & Pick<RequestContext, 'clientHeaders'>, received: ClientMessage): void {
    const { message, text, id = 'null' } = received;
    const { principal, scope, session, stream } = connection;
    if (message.method === 'notifications/cancelled') return void cancelInFlight(session, message);
    if (message.id === undefined || message.method === undefined)
      return heard(session.facts.sid, message, text, options);
    if (typeof message.method !== 'string') return;
    const view = options.views.get(principal, scope);
    if (message.method === 'initialize') {
      const { protocolVersion: requested, capabilities, clientInfo } = isObject(message.params) ? message.params : {};
      options.introduced?.(connection, clientInfo, true);
      session.introduced({ abilities: capabilitiesOf(capabilities), client: clientName(clientInfo) });
      return stream.send(resultText(id, initializeResult(view, negotiated(requested), options)));
    }
    const pageSize = options.pageSize();
    const how = { stateless: false, session, view, pageSize, reply: streamReply(stream) };
    dispatch(clientRequest(received, connection, how), options);
  }

  return { open, message };
}

function noStream(context: RequestContext): void {
  const text = 'No open stream has this sessionId. Open one with GET /sse.';
  refuse(context, 404, rpcErrors.invalidRequest, text);
}

/** Whether the stream of a session may be at another hub, which then decides whose it is. */
function isElsewhere({ req }: RequestContext, sid: string, { replicas }: EndpointOptions): boolean {
  const hub = hubOf(sid);
  const place = hub === undefined || isPassedOn(req) ? undefined : replicas?.placeOf(hub);
  return isPassedTo(place);
}

/** The live session of a stream: it exists exactly as long as the stream. */
function sessionOf({ principal, scope }: RequestContext, sid: string, stream: Stream): LegacySession {
  let facts: SessionFacts = {
    sid,
    principal,
    scope,
    revision: '2024-11-05',
    abilities: noCapabilities,
    expiresAt: Infinity,
  };
  const inFlight: LiveSession['inFlight'] = new InFlight();
  let logLevel: string | undefined;
  return {
    get facts() {
      return facts;
    },
    introduced(about) {
      facts = { ...facts, ...about };
    },
    streams: new Set([stream]),
    inFlight,
    stopListening: undefined,
    away: undefined,
    touchedAt: Infinity,
    holds: new Map(),
    send(text) {
      stream.send(text);
      return stream.open;
    },
    get logLevel() {
      return logLevel;
    },
    setLogLevel(level) {
      logLevel = level;
    },
    settle({ call, id }) {
      if (id !== undefined && inFlight.get(id) === call) inFlight.delete(id);
    },
  };
}

function streamReply(stream: Stream): Reply {
  return {
    notify: (text) => stream.send(text),
    ask(text) {
      stream.send(text);
      return stream.open;
    },
    answer: (text) => stream.send(text),
    answerLarge: (head, result, tail) =>
      stream.send(new LargeText([Buffer.from(head), ...result.pieces, Buffer.from(tail)])),
    answerBytes: (head, body, tail) => stream.send(head + body.toString() + tail),
    gone: undefined,
  };
}
