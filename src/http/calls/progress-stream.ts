import type { Context } from 'hono';
import { httpLimits } from '../limits.ts';

/** What a caller hears before the answer. */
export interface Listening {
  /** Params of `notifications/progress` as JSON text. */
  readonly progressed: (params: string) => void;
  /** See `Invocation`. */
  readonly heard: (message: string | number, from: 'client' | 'server') => void;
}

/**
 * Answers as usual, unless the caller takes `text/event-stream` and there is something to hear before the answer: then
 * the response is a stream of `{type: "progress", progress, total?, message?}` and `{type: "message", from, time,
 * message}` that ends with `{type: "answer", status, body}`, where `body` is what the answer would have been. A message
 * that is too long has `bytes` in place of itself; what a caller does not read, and what is more than
 * `httpLimits.streamedMessages`, is left out and counted (`dropped`).
 */
export async function withProgress(
  c: Context,
  work: (listening?: Listening) => Promise<Response>,
  failed: (error: unknown) => Response | Promise<Response>,
): Promise<Response> {
  if (!(c.req.header('accept') ?? '').includes('text/event-stream')) return work();
  const encoder = new TextEncoder();
  const early: string[] = [];
  let write: (data: string) => void = (data) => void early.push(data);
  let hasRoom = (): boolean => true;
  let begun: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (begun = resolve));
  let [told, dropped] = [0, 0];
  const tell = (data: string): void => {
    if (told >= httpLimits.streamedMessages || !hasRoom()) return void dropped++;
    told++;
    write(data);
    begun();
  };
  const answer = work({
    progressed: (params) => tell(`{"type":"progress",${params.trim().slice(1)}`),
    heard: (message, from) => tell(messageFrame(message, from)),
  });
  const answered = await Promise.race([answer, first]);
  if (answered) return answered;
  const body = new ReadableStream<Uint8Array>(
    {
      async start(controller) {
        write = (data) => controller.enqueue(encoder.encode(`data: ${data.replaceAll('\n', ' ')}\n\n`));
        hasRoom = () => (controller.desiredSize ?? 0) > 0;
        for (const data of early.splice(0)) write(data);
        try {
          const last = await answer.catch(failed);
          const left = dropped > 0 ? `"dropped":${dropped},` : '';
          write(`{"type":"answer","status":${last.status},${left}"body":${await last.text()}}`);
          controller.close();
        } catch {
          // The caller has left.
        }
      },
      cancel() {
        write = () => undefined;
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: httpLimits.streamedBacklogBytes }),
  );
  return c.body(body, 200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
}

function messageFrame(message: string | number, from: 'client' | 'server'): string {
  const bytes = typeof message === 'number' ? message : Buffer.byteLength(message);
  const content = bytes > httpLimits.streamedMessageBytes ? `"bytes":${bytes}` : `"message":${message}`;
  return `{"type":"message","from":"${from}","time":"${new Date().toISOString()}",${content}}`;
}
