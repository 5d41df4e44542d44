import { errorText, HubError } from '../../../core/errors.ts';
import { coreLimits } from '../../../core/limits.ts';
import { editObject, memberText } from '../../../core/json/text.ts';
import type { LargeAnswer } from '../../../core/protocol/large-answer.ts';
import { errorResponseText, isObject, resultText, type RpcMessage, rpcErrors } from '../../../core/protocol/rpc.ts';
import { relatedTask } from '../../../core/protocol/server-requests.ts';
import { metaKeys } from '../../../core/protocol/stateless.ts';
import type { Channel, ChannelEvents, StartProgress } from '../channel.ts';
import { logged } from '../messages.ts';
import { CallTable } from './call-table.ts';
import { toldError, type ToldByHost } from './told.ts';

/** A worker's channel to a program, on the side of the process that has it. */
export interface Attachment {
  tell(told: ToldByHost): void;
  message(text: string): void;
  large(answer: LargeAnswer): void;
}

/**
 * One program that several workers speak with, as if it were each one's own: what it answers goes to the worker that
 * asked, what it says to all goes to all, its handshake is done once, and what it asks goes to a worker only where no
 * other has a call that the question could belong to. Ids of requests differ between workers (`requestIds`).
 */
export class SharedProgram {
  readonly name: string;
  readonly #attached = new Set<Attachment>();
  readonly #calls = new CallTable<Attachment>();
  /** Requests of the program that wait for an answer, by their id as JSON text. */
  readonly #asked = new Map<string, Attachment>();
  /** The id of the one `initialize` that was sent, those who wait for its answer besides, and then its result. */
  #initializing: { readonly id: number; readonly waiting: Map<number, Attachment> } | undefined;
  #initialized: string | undefined;
  #isConfirmed = false;
  readonly #levels = new Map<Attachment, string>();
  readonly #subscribed = new Map<Attachment, Set<string>>();
  #channel: Channel | undefined;
  /** What was sent before there was a channel: the program before this one is still ending. */
  #early: { readonly from: Attachment; readonly text: string }[] = [];
  #isLaunched: boolean | undefined;
  /** How far its start is, for workers that come later. */
  #progress: StartProgress | undefined;
  #over: HubError | undefined;
  #lastOwnId = 0;
  /** Those that cannot take more now. */
  readonly #full = new Set<Attachment>();
  /** Where log entries go when none is attached any more; and whether it waits for `ended`. */
  #lastLog: { readonly to: Attachment; readonly isClosed: boolean } | undefined;
  #contestedTimer: NodeJS.Timeout | undefined;
  /** A question that reached no client was told once: a program may ask a thousand of them a second. */
  #warned = false;

  constructor(name: string) {
    this.name = name;
  }

  get isOver(): boolean {
    return this.#over !== undefined;
  }

  get isUsed(): boolean {
    return this.#attached.size > 0;
  }

  /** Opens the channel to the program itself. */
  start(open: (events: ChannelEvents) => Channel): void {
    const channel = open({
      message: (message, text) => this.#received(message, text),
      large: (answer) => this.#answeredLarge(answer),
      failed: (id, error) => this.#failed(id, error),
      progress: (progress) => {
        this.#progress = progress;
        this.#tellAll({ kind: 'progress', progress });
      },
      closed: (error) => this.end(error),
    });
    this.#channel = channel;
    if (this.#full.size > 0) channel.pause?.();
    const launched = (isKnown: boolean): void => {
      this.#isLaunched = isKnown;
      this.#tellAll({ kind: 'launched', isKnown });
    };
    const early = this.#early;
    this.#early = [];
    for (const { from, text } of early) if (this.#attached.has(from)) this.sent(from, text);
    if (channel.launched) channel.launched.then(launched, () => undefined);
    else launched(true);
  }

  attach(one: Attachment): void {
    if (this.#over) return one.tell({ kind: 'closed', error: toldError(this.#over) });
    this.#attached.add(one);
    this.#lastLog = undefined;
    if (this.#progress) one.tell({ kind: 'progress', progress: this.#progress });
    if (this.#isLaunched !== undefined) one.tell({ kind: 'launched', isKnown: this.#isLaunched });
    this.#tellContested();
  }

  /** The worker wants nothing more of it: what it had under way is cancelled. */
  detach(one: Attachment): void {
    if (!this.#attached.delete(one)) return;
    if (!this.isUsed) this.#lastLog = { to: one, isClosed: false };
    this.release(one);
    for (const id of this.#calls.orphan(one)) this.#cancel(id);
    this.#initializing?.waiting.forEach((owner, id, all) => void (owner === one && all.delete(id)));
    for (const [id, owner] of this.#asked) if (owner === one) this.#refuse(id, 'The client that could answer is gone.');
    const uris = this.#subscribed.get(one) ?? [];
    this.#subscribed.delete(one);
    for (const uri of uris) if (!this.#isSubscribed(uri)) this.#unsubscribe(uri);
    this.#levels.delete(one);
    this.#tellContested();
  }

  /** An attachment cannot take more now: the program is read no further until none is full. */
  hold(one: Attachment): void {
    if (this.#full.size === 0) this.#channel?.pause?.();
    this.#full.add(one);
  }

  release(one: Attachment): void {
    if (this.#full.delete(one) && this.#full.size === 0) this.#channel?.resume?.();
  }

  /** A log entry of the program, for one worker: it is in the log once. */
  log(told: Extract<ToldByHost, { kind: 'log' }>): void {
    const [first = this.#lastLog?.to] = this.#attached;
    // The worker cuts it once more, after it has looked for secrets, which must not be cut in two before that.
    first?.tell({ ...told, message: told.message.slice(0, coreLimits.rawLogLineChars) });
  }

  tellPrinted(): void {
    const printed = this.#channel?.printed?.();
    if (printed) this.#tellAll({ kind: 'printed', printed });
  }

  /** It is over for all workers: they are told why, and it is stopped where it still runs. */
  end(error: HubError): void {
    if (this.#over) return;
    this.#over = error;
    clearTimeout(this.#contestedTimer);
    const printed = this.#channel?.printed?.();
    const attached = [...this.#attached];
    this.#attached.clear();
    for (const one of attached) this.release(one);
    const [first] = attached;
    if (first) this.#lastLog = { to: first, isClosed: true };
    const closed = { kind: 'closed', error: toldError(error), ...(printed && { printed }) } as const;
    for (const one of attached) one.tell(one === first ? { ...closed, logs: true } : closed);
  }

  /** Resolves when its process has ended. */
  async stop(): Promise<void> {
    this.#over ??= new HubError('upstream_unavailable', `Server "${this.name}" was stopped.`);
    await this.#channel?.close();
    if (this.#lastLog?.isClosed) this.#lastLog.to.tell({ kind: 'ended' });
    this.#lastLog = undefined;
  }

  /** What a worker sends. */
  sent(from: Attachment, text: string): void {
    if (!this.#channel && !this.#over) return void this.#early.push({ from, text });
    const [, given, method] = hubMessage.exec(text) ?? [];
    const id = given === undefined ? undefined : Number(given);
    if (method === undefined) return this.#answered(from, text);
    if (id === undefined) return this.#notified(from, method, text);
    switch (method) {
      case 'initialize':
        return this.#initialize(from, id, text);
      case 'logging/setLevel':
        return this.#request(from, id, method, this.#withLevel(from, text));
      case 'resources/subscribe':
        this.#subscribed.set(from, (this.#subscribed.get(from) ?? new Set()).add(uriOf(text)));
        break;
      case 'resources/unsubscribe':
        this.#subscribed.get(from)?.delete(uriOf(text));
        if (this.#isSubscribed(uriOf(text))) return from.message(resultText(String(id), '{}'));
    }
    this.#request(from, id, method, text);
  }

  #request(from: Attachment, id: number, method: string, text: string): void {
    this.#calls.add(id, from, method, method === 'tasks/result' ? paramOf(text, 'taskId') : undefined);
    try {
      this.#write(text);
    } catch (error) {
      this.#failed(
        id,
        error instanceof HubError ? error : new HubError('upstream_failed', 'The request could not be sent'),
      );
    }
  }

  /** The request was not sent, or its answer cannot be read. */
  #failed(id: number, error: HubError): void {
    const failed = toldError(error);
    this.#handshakeOver(id, (owner, own) => owner.tell({ kind: 'failed', id: own, error: failed }));
    const call = this.#calls.take(id);
    call?.owner?.tell({ kind: 'failed', id, error: failed });
    if (call?.wasGivenUp) this.#tellContested();
  }

  #initialize(from: Attachment, id: number, text: string): void {
    if (this.#initialized !== undefined) return from.message(resultText(String(id), this.#initialized));
    if (this.#initializing) return void this.#initializing.waiting.set(id, from);
    this.#initializing = { id, waiting: new Map() };
    this.#request(from, id, 'initialize', text);
  }

  #notified(from: Attachment, method: string, text: string): void {
    if (method === 'notifications/initialized') {
      if (this.#isConfirmed) return;
      this.#isConfirmed = true;
    }
    if (method === 'notifications/cancelled') {
      const id = Number(memberText(memberText(text, 'params') ?? '{}', 'requestId'));
      const waiting = this.#initializing?.waiting;
      if (waiting?.get(id) === from) return void waiting.delete(id);
      this.#calls.giveUp(id, from);
      this.#tellContested();
      // It must not be cancelled (2025-11-25, Cancellation), and others may wait for it.
      if (this.#initializing?.id === id) return;
    }
    this.#try(text);
  }

  /** A worker answers what the program asked. */
  #answered(from: Attachment, text: string): void {
    const id = memberText(text, 'id') ?? 'null';
    if (this.#asked.get(id) !== from) return;
    this.#asked.delete(id);
    this.#try(text);
  }

  /** False: it answers nothing that waits. */
  #received(message: RpcMessage, text: string): boolean {
    const { id, method } = message;
    if (method === undefined) return this.#answer(id, message, text);
    if (typeof method !== 'string') return true;
    if (id !== undefined) this.#asks(method, message.params, memberText(text, 'id') ?? 'null', text);
    else this.#says(method, message, text);
    return true;
  }

  #answer(id: unknown, message: RpcMessage, text: string): boolean {
    const call = this.#calls.take(id);
    if (!call) return false;
    if (call.wasGivenUp) this.#tellContested();
    this.#handshakeAnswered(id, message, text);
    call.owner?.message(text);
    return true;
  }

  #answeredLarge(answer: LargeAnswer): boolean {
    const call = this.#calls.take(answer.id);
    if (this.#initializing?.id === answer.id) {
      const { message, text } = answer.read();
      this.#handshakeAnswered(answer.id, message, text);
    }
    call?.owner?.large(answer);
    if (call?.wasGivenUp) this.#tellContested();
    return call !== undefined;
  }

  #handshakeAnswered(id: unknown, message: RpcMessage, text: string): void {
    if (this.#initializing?.id !== id) return;
    if (message.error === undefined) this.#initialized = memberText(text, 'result');
    this.#handshakeOver(id, (owner, own) => owner.message(editObject(text, { id: String(own) })));
  }

  /** Where this request is the handshake: it is over, for all who wait for it besides. */
  #handshakeOver(id: unknown, tell: (owner: Attachment, id: number) => void): void {
    const handshake = this.#initializing;
    if (!handshake || handshake.id !== id) return;
    this.#initializing = undefined;
    for (const [own, owner] of handshake.waiting) tell(owner, own);
  }

  /** A question goes to the worker whose calls alone it can belong to. */
  #asks(method: string, params: unknown, id: string, text: string): void {
    if (method === 'ping') return this.#try(resultText(id, '{}'));
    const task = relatedTask(params);
    const only = this.#calls.onlyAsker ?? (this.#calls.hasNone ? [...this.#attached][0] : undefined);
    const asker = task === undefined ? only : this.#calls.ofTask(task);
    if (!asker) {
      const level = this.#warned ? 'debug' : 'warn';
      this.#warned = true;
      const reason = task === undefined ? notCertain : ofNoCall;
      this.log({ kind: 'log', level, message: 'request of the server not delivered', fields: { method, reason } });
      return this.#refuse(id, reason);
    }
    if (this.#asked.has(id)) return this.#refuse(id, 'The id of this request is in use.');
    this.#asked.set(id, asker);
    asker.message(text);
  }

  #says(method: string, message: RpcMessage, text: string): void {
    const params = isObject(message.params) ? message.params : {};
    const meta = isObject(params['_meta']) ? params['_meta'] : {};
    if (method === 'notifications/progress') return this.#calls.get(params['progressToken'])?.owner?.message(text);
    if (method === 'notifications/cancelled') {
      const id = params['requestId'];
      const key = JSON.stringify(id) ?? '';
      const asked = this.#asked.get(key);
      if (asked) this.#asked.delete(key);
      return (asked ?? this.#calls.get(id)?.owner)?.message(text);
    }
    const stream = meta[metaKeys.subscriptionId];
    if (stream !== undefined) return this.#calls.get(Number(stream))?.owner?.message(text);
    // A log message that says nothing of relations may hold what a call was about: it is for no other client, and of
    // several processes only one writes it.
    if (method === 'notifications/message') {
      const { onlyAsker } = this.#calls;
      if (onlyAsker) return onlyAsker.message(text);
      const { level, words } = logged(params);
      return this.log({ kind: 'log', level, message: words });
    }
    for (const one of this.#attached) one.message(text);
  }

  /** The level that is the most verbose of those that workers want. */
  #withLevel(from: Attachment, text: string): string {
    const params = memberText(text, 'params') ?? '{}';
    const wanted: unknown = JSON.parse(memberText(params, 'level') ?? '""');
    this.#levels.set(from, String(wanted));
    const loudest = [...this.#levels.values()].toSorted((a, b) => levels.indexOf(a) - levels.indexOf(b))[0];
    return loudest === wanted
      ? text
      : editObject(text, { params: editObject(params, { level: JSON.stringify(loudest) }) });
  }

  #isSubscribed(uri: string): boolean {
    return [...this.#subscribed.values()].some((uris) => uris.has(uri));
  }

  #unsubscribe(uri: string): void {
    // No worker has this id: theirs are above 0.
    const id = (this.#lastOwnId -= 1);
    this.#try(`{"jsonrpc":"2.0","id":${id},"method":"resources/unsubscribe","params":${JSON.stringify({ uri })}}`);
  }

  #cancel(requestId: number): void {
    if (this.#initializing?.id === requestId) return;
    const params = JSON.stringify({ requestId, reason: 'not needed any more' });
    this.#try(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":${params}}`);
  }

  #refuse(id: string, why: string): void {
    if (this.#asked.get(id) !== undefined) this.#asked.delete(id);
    this.#try(errorResponseText(id, rpcErrors.internal, why));
  }

  #tellContested(): void {
    for (const one of this.#attached) {
      const isContested = this.#calls.isContested(one);
      if (this.#calls.noteTold(one, isContested)) one.tell({ kind: 'contested', isContested });
    }
    clearTimeout(this.#contestedTimer);
    const next = this.#calls.nextContestedMs;
    if (next !== undefined) this.#contestedTimer = setTimeout(() => this.#tellContested(), next).unref();
  }

  #tellAll(told: ToldByHost): void {
    for (const one of this.#attached) one.tell(told);
  }

  #write(text: string): void {
    if (!this.#channel || this.#over)
      throw new HubError('upstream_unavailable', `Server "${this.name}" is not running.`);
    this.#channel.send(text);
  }

  /** Lost where the program takes nothing. */
  #try(text: string): void {
    try {
      this.#write(text);
    } catch (error) {
      this.log({ kind: 'log', level: 'debug', message: 'message not sent', fields: { error: errorText(error) } });
    }
  }
}

/** How a link begins what it sends, but for its answers. */
const hubMessage = /^\{"jsonrpc":"2\.0",(?:"id":(\d+),)?"method":"([^"\\]+)"/;

/** From the most verbose. */
const levels = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

function uriOf(text: string): string {
  return paramOf(text, 'uri') ?? '';
}

/** One of the `params`, where it is a text. */
function paramOf(text: string, name: string): string | undefined {
  const value: unknown = JSON.parse(memberText(memberText(text, 'params') ?? '{}', name) ?? 'null');
  return typeof value === 'string' ? value : undefined;
}

const ofNoCall = 'It belongs to a call that is over, or to none of a client.';

const notCertain =
  'Nothing in it says to which of several calls it belongs. A server is understood when each client has a connection of its own ("perSessionClient": true).';
