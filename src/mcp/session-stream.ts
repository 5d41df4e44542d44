import { createHash } from 'node:crypto';
import { limits } from '../core/limits.ts';
import { rpcErrors } from '../core/rpc.ts';
import type { View, ViewList, Views } from '../core/view.ts';
import { type Announcer, type ChangedList, changedText } from './announcer.ts';
import type { EventLog, EventLogs } from './event-log.ts';
import { primes } from './revisions.ts';
import type { LiveSession } from './sessions.ts';
import type { Stream, Streams } from './stream.ts';
import { refuse, refuseStream, type Visit } from './visit.ts';

export interface SessionStreamOptions {
  readonly views: Views;
  readonly announcer: Announcer;
  readonly streams: Streams;
  readonly eventLogs: EventLogs;
}

/**
 * Answers the GET of a session: a stream for what the hub says unasked, or, with `Last-Event-ID`, the rest of a stream that broke (2025-11-25, Listening for Messages;
 * Resumability and Redelivery).
 */
export function openSessionStream(visit: Visit, session: LiveSession, options: SessionStreamOptions): void {
  const last = visit.req.headers['last-event-id'];
  const lastId = typeof last === 'string' && last !== '' ? last : undefined;
  const found = lastId === undefined ? undefined : options.eventLogs.find(session.facts.sid, lastId);
  if (lastId?.startsWith('p')) {
    session.settle({});
    if (found?.log.resume) return found.log.resume(visit.res, visit.headers, found.place);
    return refuse(visit, 400, rpcErrors.invalidRequest, 'That stream is not kept any more. Make the request again.');
  }
  if (session.streams.size >= limits.streamsPerSession || options.streams.full) {
    session.settle({});
    return refuseStream(visit);
  }
  begin(visit, session, { lastId, found }, options);
}

interface Before {
  /** The last event the client has. */
  readonly lastId: string | undefined;
  readonly found: { readonly log: EventLog; readonly place: number } | undefined;
}

function begin(visit: Visit, session: LiveSession, { lastId, found }: Before, options: SessionStreamOptions): void {
  const { principal, scope, sid, revision } = session.facts;
  const log = found?.log ?? options.eventLogs.begin(sid, 'g');
  const now = options.views.get(principal, scope);
  // The same stream on two connections would carry each message twice.
  log.carrier?.end();
  const stream: Stream = options.streams.open(visit.res, visit.headers, () => {
    if (log.carrier === stream) session.away = log;
    session.settle({ stream: resumable });
  });
  log.carrier = stream;
  const resumable = new ResumableStream(stream, log, () => seenIn(options.views.get(principal, scope)));
  session.away = undefined;
  session.streams.add(resumable);
  session.stopListening ??= listenFor(session, options);
  if (primes(revision)) stream.prime(`${log.id}.${seenIn(now)}`);
  for (const event of found?.log.after(found.place) ?? []) {
    stream.send(event.text, `${log.name}.${event.place}.${seenOf(lastId) ?? ''}`);
  }
  if (lastId === undefined) return;
  for (const list of changedSince(seenOf(lastId), now)) resumable.news(changedText(list));
}

/** Gives each message an id to come back to. */
class ResumableStream implements Stream {
  readonly #stream: Stream;
  readonly #log: EventLog;
  readonly #seen: () => string;

  constructor(stream: Stream, log: EventLog, seen: () => string) {
    this.#stream = stream;
    this.#log = log;
    this.#seen = seen;
  }

  get open(): boolean {
    return this.#stream.open;
  }

  send(text: string): void {
    this.#stream.send(text, `${this.#log.add(text)}.${this.#seen()}`);
  }

  news(text: string): void {
    this.#stream.send(text, `${this.#log.skip()}.${this.#seen()}`);
  }

  prime(id: string): void {
    this.#stream.prime(id);
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
      const stream = [...session.streams].find((stream) => stream.open);
      for (const kind of kinds) stream?.news(changedText(kind));
    },
  });
}

const lists = ['tools', 'prompts', 'resources'] as const;

/** What of a view a client has been told of, as the end of an event id: so that a stream that comes back after any time, to any hub, is told what changed. */
function seenIn(view: View): string {
  return lists.map((list) => digestOf(view, list)).join('.');
}

/** The end of an event id that `seenIn` made; undefined for other ids. */
function seenOf(lastId: string | undefined): string | undefined {
  return lastId === undefined ? undefined : /\.([\w-]{8}\.[\w-]{8}\.[\w-]{8})$/.exec(lastId)?.[1];
}

/** All lists, when nothing is known of what the client saw. */
function changedSince(seen: string | undefined, now: View): readonly ChangedList[] {
  const before = seen?.split('.');
  return lists.filter((list, i) => before?.[i] !== digestOf(now, list));
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

function digest(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text).update('\n');
  return hash.digest('base64url').slice(0, 8);
}
