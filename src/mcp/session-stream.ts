import { createHash } from 'node:crypto';
import type { LargeText } from '../core/json/large-text.ts';
import { rpcErrors } from '../core/protocol/rpc.ts';
import type { View, ViewList, Views } from '../core/access/view.ts';
import { type Announcer, type ChangedList, changedText } from './announcer.ts';
import type { EventLog, EventLogs } from './event-log.ts';
import { mcpLimits } from './limits.ts';
import { primes } from '../core/protocol/revisions.ts';
import { type LiveSession, newest } from './sessions.ts';
import type { Stream, Streams } from './stream.ts';
import { refuse, refuseStream, type RequestContext } from './request-context.ts';

export interface SessionStreamOptions {
  readonly views: Views;
  readonly announcer: Announcer;
  readonly streams: Streams;
  readonly eventLogs: EventLogs;
}

/**
 * Answers the GET of a session: a stream for the hub's own messages, or, with `Last-Event-ID`, the rest of a stream
 * that broke (2025-11-25, Listening for Messages; Resumability and Redelivery).
 */
export function openSessionStream(context: RequestContext, session: LiveSession, options: SessionStreamOptions): void {
  const last = context.req.headers['last-event-id'];
  const lastId = typeof last === 'string' && last !== '' ? last : undefined;
  const found = lastId === undefined ? undefined : options.eventLogs.find(session.facts.sid, lastId);
  if (lastId?.startsWith('p')) {
    session.settle({});
    if (found?.log.resume) return found.log.resume(context.res, context.headers, found.place);
    return refuse(context, 400, rpcErrors.invalidRequest, 'That stream is not kept any more. Make the request again.');
  }
  if (session.streams.size >= mcpLimits.streamsPerSession || options.streams.full) {
    session.settle({});
    return refuseStream(context);
  }
  begin(context, session, { lastId, found }, options);
}

interface Before {
  /** The last event the client has. */
  readonly lastId: string | undefined;
  readonly found: { readonly log: EventLog; readonly place: number } | undefined;
}

function begin(
  context: RequestContext,
  session: LiveSession,
  { lastId, found }: Before,
  options: SessionStreamOptions,
): void {
  const { principal, scope, sid, revision } = session.facts;
  const log = found?.log ?? options.eventLogs.begin(sid, 'g');
  const now = options.views.get(principal, scope);
  // The same stream on two connections would carry each message twice.
  log.carrier?.end();
  const stream: Stream = options.streams.open(context.res, context.headers, () => {
    if (log.carrier === stream) session.away = log;
    session.settle({ stream: resumable });
  });
  log.carrier = stream;
  const before = lastId === undefined ? seenIn(now) : (seenOf(lastId) ?? nothingSeen);
  const resumable = new ResumableStream(stream, log, before, (list) =>
    digestOf(options.views.get(principal, scope), list),
  );
  session.away = undefined;
  session.streams.add(resumable);
  session.stopListening ??= listenFor(session, options);
  for (const { text, place } of found?.log.after(found.place) ?? []) resumable.again(text, place);
  for (const [i, list] of lists.entries()) if (before[i] !== digestOf(now, list)) resumable.news(list);
  // Last: a client that comes back with this id has everything before it.
  if (primes(revision)) resumable.prime();
}

/** Gives each message an id to come back to: its place, and what the client has been told of the lists up to it. */
class ResumableStream implements Stream {
  readonly #stream: Stream;
  readonly #log: EventLog;
  readonly #digest: (list: ChangedList) => string;
  #seen: Seen;

  constructor(stream: Stream, log: EventLog, seen: Seen, digest: (list: ChangedList) => string) {
    this.#stream = stream;
    this.#log = log;
    this.#seen = seen;
    this.#digest = digest;
  }

  get open(): boolean {
    return this.#stream.open;
  }

  send(text: string | LargeText): void {
    this.#stream.send(text, this.#id(this.#log.add(text)));
  }

  /** A message that was sent, or kept, at this place before. */
  again(text: string | LargeText, place: number): void {
    this.#stream.send(text, this.#id(`${this.#log.name}.${place}`));
  }

  news(list: ChangedList): void {
    this.#seen = this.#seen.with(lists.indexOf(list), this.#digest(list));
    this.#stream.send(changedText(list), this.#id(this.#log.skip()));
  }

  prime(): void {
    this.#stream.prime(this.#id(this.#log.id));
  }

  #id(place: string): string {
    return `${place}.${this.#seen.join('.')}`;
  }

  event(name: string, data: string): void {
    this.#stream.event(name, data);
  }

  end(): void {
    this.#stream.end();
  }
}

function listenFor(session: LiveSession, { announcer, views }: SessionStreamOptions): () => void {
  const { principal, scope } = session.facts;
  return announcer.add({
    principal,
    scope,
    seen: views.get(principal, scope),
    tell(kinds) {
      const stream = newest(session.streams);
      for (const kind of kinds) stream?.news(kind);
    },
    groupGone() {
      for (const stream of session.streams) stream.end();
    },
  });
}

const lists = ['tools', 'prompts', 'resources'] as const;

/**
 * What a client has been told of each list, as the end of an event id: so that a stream that comes back after any time,
 * to any hub, is told what changed. In the order of `lists`.
 */
type Seen = readonly string[];

/** For an id that is not ours, all lists count as changed. */
const nothingSeen: Seen = lists.map(() => '-'.repeat(8));

function seenIn(view: View): Seen {
  return lists.map((list) => digestOf(view, list));
}

/** The end of an event id that `ResumableStream` made; undefined for other ids. */
function seenOf(lastId: string): Seen | undefined {
  return /\.([\w-]{8}\.[\w-]{8}\.[\w-]{8})$/.exec(lastId)?.[1]?.split('.');
}

const digests = new WeakMap<ViewList, string>();

function digestOf(view: View, list: ChangedList): string {
  if (list !== 'resources') return digestOfList(view.lists[list]);
  // They are announced together.
  return digest([digestOfList(view.lists.resources), digestOfList(view.lists.templates)]);
}

function digestOfList(list: ViewList): string {
  const known = digests.get(list) ?? digest(list.texts);
  digests.set(list, known);
  return known;
}

function digest(texts: Iterable<string>): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\n');
  return hash.digest('base64url').slice(0, 8);
}
