import type { ServerAbout } from '../../../core/catalogue.ts';
import { HubError } from '../../../core/errors.ts';
import { memberText } from '../../../core/json/text.ts';
import { isObject, rpcErrors } from '../../../core/protocol/rpc.ts';
import { metaKeys, statelessRevision } from '../../../core/protocol/stateless.ts';
import { withTimeout } from '../../../core/with-timeout.ts';
import { upstreamLimits } from '../../limits.ts';
import { type Eras, type Era, type Evidence, saysNothing } from './era.ts';
import { HttpAnswer } from '../../channels/http-errors.ts';
import type { Answer, Ask } from '../exchange.ts';
import { sessionRevisions } from '../../../core/protocol/revisions.ts';
import { capabilityNames } from './initialize.ts';

/** What the negotiation with a server needs of the link to it. */
export interface NegotiationLink {
  readonly ask: Ask;
  /** A request whose answer may become uninteresting: `drop` takes it back, and the server is not told. */
  start(method: string, params: string | undefined, timeoutMs: number): { answer: Promise<Answer>; drop(): void };
  /** Forgets what the transport learned of a session, so that the protocol can be negotiated again. */
  forgetSession(): void;
}

export interface NegotiationOptions {
  /** The server's name in the settings: stands in for one that it does not give itself. */
  readonly server: string;
  /** Runs `initialize`. Throws HubError when it is refused. */
  readonly handshake: (timeoutMs: number) => Promise<ServerAbout>;
  /** On the clock of `performance.now()`. */
  readonly deadline: number;
  /** Whether the server hears each request by itself (HTTP), or all through one pipe whose state they share. */
  readonly separate: boolean;
}

export interface Negotiated {
  readonly era: Era;
  readonly about: ServerAbout;
}

/** What a server said to `server/discover`. */
type Discovered =
  | { readonly kind: 'stateless'; readonly about: ServerAbout }
  | { readonly kind: 'other'; readonly evidence: Evidence }
  /** It speaks without sessions, and no revision that the hub does. */
  | { readonly kind: 'unknown'; readonly error: HubError };

/**
 * Negotiates over one channel which protocol a server speaks, and does the handshake where that protocol has one
 * (2026-07-28, stdio and Streamable HTTP, Backward compatibility). What comes first is asked first; what the answer
 * rules out is not asked; what an older server does not understand costs it nothing but a refusal. Throws HubError.
 */
export async function negotiate(link: NegotiationLink, eras: Eras, options: NegotiationOptions): Promise<Negotiated> {
  return eras.first === 'session' ? sessionFirst(link, eras, options) : statelessFirst(link, eras, options);
}

async function sessionFirst(link: NegotiationLink, eras: Eras, options: NegotiationOptions): Promise<Negotiated> {
  const { server, deadline } = options;
  try {
    return settled(eras, 'session', await options.handshake(left(options.deadline)), 'unasked');
  } catch (refused) {
    if (!eras.both || saysNothing(refused) || isTimeout(refused)) throw refused;
    link.forgetSession();
    const ask = () => link.ask('server/discover', undefined, left(deadline));
    const found = await discover(ask(), ask, server).catch(() => undefined);
    if (found?.kind === 'stateless') return settled(eras, 'stateless', found.about, 'certain');
    throw refused;
  }
}

async function statelessFirst(link: NegotiationLink, eras: Eras, options: NegotiationOptions): Promise<Negotiated> {
  const { server, deadline } = options;
  eras.probing = true;
  const asked = link.start('server/discover', undefined, left(deadline));
  const askAgain = () => link.ask('server/discover', undefined, left(deadline));
  const discovering = discover(asked.answer, askAgain, server);
  const timeouts = eras.isStateless ? left(deadline) / 2 : Math.min(upstreamLimits.eraProbeMs, left(deadline) / 2);
  const found = eras.both ? await withTimeout(discovering, timeouts) : await discovering;
  if (found === undefined) return silentServer(link, eras, options, { discovering, drop: () => asked.drop() });
  if (found.kind === 'stateless') return settled(eras, 'stateless', found.about, 'certain');
  if (found.kind === 'unknown') throw found.error;
  if (!eras.both) throw notStateless(server);
  // What the server gave with its refusal is not the session of the handshake.
  link.forgetSession();
  return settled(eras, 'session', await options.handshake(left(options.deadline)), found.evidence);
}

/**
 * A server that is silent is one that does not know the question, or one that is still starting: it gets both. Through
 * a pipe the handshake, once it is taken, binds the whole process (2026-07-28, Versioning, dual-era servers); the late
 * answer is then good for the next start.
 */
async function silentServer(
  link: NegotiationLink,
  eras: Eras,
  options: NegotiationOptions,
  { discovering, drop }: { readonly discovering: Promise<Discovered>; readonly drop: () => void },
): Promise<Negotiated> {
  let late: ServerAbout | undefined;
  const said = discovering.then(
    (found) => {
      if (found.kind === 'stateless') late = found.about;
    },
    () => undefined,
  );
  try {
    const about = await options.handshake(left(options.deadline));
    if (!late) return settled(eras, 'session', about, 'certain');
    if (!options.separate) {
      settled(eras, 'stateless', late, 'certain');
      return { era: 'session', about };
    }
    link.forgetSession();
  } catch (refused) {
    if (isTimeout(refused)) drop();
    else await withTimeout(said, left(options.deadline));
    if (!late) throw refused;
  } finally {
    drop();
  }
  return settled(eras, 'stateless', late, 'certain');
}

function settled(eras: Eras, era: Era, about: ServerAbout, evidence: Evidence): Negotiated {
  eras.negotiated(era, about.info, evidence);
  return { era, about };
}

/** Whether a server still speaks without sessions. Throws HubError when that cannot be told. */
export async function isStillStateless(ask: Ask, server: string, timeoutMs: number): Promise<boolean> {
  const askOnce = () => ask('server/discover', undefined, timeoutMs);
  const found = await discover(askOnce(), askOnce, server);
  if (found.kind === 'other' && found.evidence === 'doubtful')
    throw new HubError('upstream_failed', `Server "${server}" does not answer as it should.`);
  return found.kind === 'stateless';
}

/**
 * What the answer means; `askAgain` is for a server that refuses the version and lists it. Throws HubError for a
 * failure that says nothing about it.
 */
async function discover(
  answer: Promise<Answer>,
  askAgain: (() => Promise<Answer>) | undefined,
  server: string,
): Promise<Discovered> {
  let said: Answer;
  try {
    said = await answer;
  } catch (error) {
    if (saysNothing(error) || isTimeout(error)) throw error;
    const status = error instanceof HubError && error.cause instanceof HttpAnswer ? error.cause.status : 0;
    // A fault of the server, or of a proxy before it, may be temporary.
    return { kind: 'other', evidence: status >= 500 || status === 403 || status === 0 ? 'doubtful' : 'certain' };
  }
  const { result, error } = said.message;
  const versions = isObject(result) ? result['supportedVersions'] : supportedIn(error);
  const supported = Array.isArray(versions) ? versions.map(String).filter((one) => /^\d{4}-\d\d-\d\d$/.test(one)) : [];
  if (isObject(result) && supported.includes(statelessRevision)) {
    return { kind: 'stateless', about: aboutOf(said.text, result, server) };
  }
  if (askAgain && supported.includes(statelessRevision)) return discover(askAgain(), undefined, server);
  if (supported.length === 0 || supported.some((version) => sessionRevisions.includes(version)))
    return { kind: 'other', evidence: 'certain' };
  const list = supported.slice(0, 10).join(', ').slice(0, 200);
  const text = `Server "${server}" speaks MCP ${list}, which this hub does not know (${statelessRevision} and earlier).`;
  return { kind: 'unknown', error: new HubError('upstream_failed', text) };
}

/** What a server that refused the version lists in its place. */
function supportedIn(error: unknown): unknown {
  if (!isObject(error) || error['code'] !== rpcErrors.unsupportedProtocolVersion) return undefined;
  return isObject(error['data']) ? error['data']['supported'] : undefined;
}

function aboutOf(text: string, result: Record<string, unknown>, server: string): ServerAbout {
  const { instructions, _meta } = result;
  const named = isObject(_meta) && isObject(_meta[metaKeys.serverInfo]);
  const info = memberText(memberText(memberText(text, 'result') ?? '{}', '_meta') ?? '{}', metaKeys.serverInfo);
  return {
    // To give it is only recommended; clients of the session era need one.
    info: (named ? info : undefined) ?? JSON.stringify({ name: server, version: 'unknown' }),
    instructions: typeof instructions === 'string' ? instructions : undefined,
    capabilities: capabilityNames(result['capabilities']),
    protocolVersion: statelessRevision,
  };
}

function notStateless(server: string): HubError {
  const text = `Server "${server}" does not speak MCP ${statelessRevision}. Take "era" out of its settings, or make it "session".`;
  return new HubError('upstream_failed', text);
}

function isTimeout(error: unknown): boolean {
  return error instanceof HubError && error.code === 'timeout';
}

function left(deadline: number): number {
  return Math.max(1, deadline - performance.now());
}
