import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { atEnd } from './at-end.ts';
import { type AnyResult, type Message, raw, type RawAnswer, type Stream } from './raw.ts';
import type { Session } from './sessions.ts';
import { until, within } from './until.ts';

const fixture = fileURLToPath(new URL('fixtures/asking.mjs', import.meta.url));

/** Settings of the asking server over stdio; the hub starts it. */
export function askingStdio(): { command: string; args: string[] } {
  return { command: process.execPath, args: [fixture, 'stdio'] };
}

/** Settings of the asking server over streamable HTTP; it runs until the test or its file ends. */
export async function askingHttp(): Promise<{ type: string; url: string }> {
  const child = fork(fixture, ['http'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  atEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = new Promise<string>((resolve, reject) => {
    child.stdout?.setEncoding('utf8').once('data', (text: string) => resolve(text.trim()));
    child.once('exit', (code) => reject(new Error(`The asking server ended with ${code}`)));
  });
  return { type: 'streamable-http', url: await within('the start of the asking server', url, 60_000) };
}

/**
 * How long a round gathers questions where several are to be in it (`askGatherMs`). On a busy machine tenths of a
 * second pass between two that the server asks at once.
 */
export const togetherMs = 500;

/** A client that can be asked everything. */
export const askable = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } };

/** A call of a tool that asks, with its response as a stream. */
export interface AskedCall {
  readonly stream: Stream;
  /** The question, once it is there; `after` passes over earlier ones. */
  asked(after?: number): Promise<Message & { id: string }>;
  /** What the tool answered, parsed. */
  told<T = Told>(): Promise<T>;
}

/** What the asking server tells of an answer it got. */
export interface Told {
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string };
  readonly heard?: number[];
  readonly text?: string;
}

export async function begin(
  own: Session,
  name: string,
  args: Record<string, unknown> = {},
  id: string | number = 'call',
): Promise<AskedCall> {
  const events = await own.begin('tools/call', { name, arguments: args }, { id });
  return {
    stream: events,
    asked: (after = 0) => until(`${name} asks`, () => questionsIn(events)[after]) as Promise<Message & { id: string }>,
    told: async <T>() =>
      toldBy((await events.message(`the answer of ${name}`, (message) => message.id === id)).result) as T,
  };
}

/** Calls a tool and answers what it asks, if it does; its result. */
export async function answered(
  own: Session,
  name: string,
  args: Record<string, unknown>,
  answer: (asked: Message) => Promise<unknown>,
): Promise<AnyResult | undefined> {
  const id = 'the same';
  const events = await own.begin('tools/call', { name, arguments: args }, { id });
  // Without a question the answer is plain JSON.
  if (!String(events.headers['content-type']).includes('event-stream')) return (await events.json()).result;
  const isEnd = (message: Message): boolean => message.id === id && message.method === undefined;
  const first = await until(`${name} asks or answers`, () => questionsIn(events)[0] ?? events.messages.find(isEnd));
  if (!isEnd(first)) await answer(first);
  return (await events.message(`the answer of ${name}`, isEnd)).result;
}

/** The requests that a stream carried. */
export function questionsIn({ messages }: Pick<Stream, 'messages'>): Message[] {
  return messages.filter(({ id, method }) => id !== undefined && method !== undefined);
}

/** What the tool told in a result. */
export function toldBy(result: AnyResult | undefined): unknown {
  return JSON.parse(result?.content?.[0]?.text ?? 'null') as unknown;
}

/** POSTs the answer to a question. */
export function reply(
  url: string,
  own: Pick<Session, 'headers'>,
  id: unknown,
  answer: { result: unknown } | { error: unknown },
): Promise<RawAnswer> {
  return raw(url, { headers: own.headers, body: { jsonrpc: '2.0', id, ...answer } });
}

/** A filled-in form. */
export const filled = (word: string) => ({ result: { action: 'accept', content: { word } } });
