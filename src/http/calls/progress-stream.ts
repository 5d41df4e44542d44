import type { Context } from 'hono';

/** Params of `notifications/progress` as JSON text. */
export type Progressed = (params: string) => void;

/**
 * Answers as usual, unless the caller takes `text/event-stream` and there is progress before the answer: then the
 * response is a stream of `{type: "progress", progress, total?, message?}` that ends with `{type: "answer", status,
 * body}`, where `body` is what the answer would have been.
 */
export async function withProgress(
  c: Context,
  work: (progressed?: Progressed) => Promise<Response>,
  failed: (error: unknown) => Response | Promise<Response>,
): Promise<Response> {
  if (!(c.req.header('accept') ?? '').includes('text/event-stream')) return work();
  const encoder = new TextEncoder();
  let write: (data: string) => void = (data) => void early.push(data);
  const early: string[] = [];
  let begun: () => void = () => undefined;
  const first = new Promise<void>((resolve) => (begun = resolve));
  const answer = work((params) => {
    write(`{"type":"progress",${params.trim().slice(1)}`);
    begun();
  });
  const answered = await Promise.race([answer, first]);
  if (answered) return answered;
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      write = (data) => controller.enqueue(encoder.encode(`data: ${data.replaceAll('\n', ' ')}\n\n`));
      for (const data of early.splice(0)) write(data);
      try {
        const last = await answer.catch(failed);
        write(`{"type":"answer","status":${last.status},"body":${await last.text()}}`);
        controller.close();
      } catch {
        // The caller has left.
      }
    },
    cancel() {
      write = () => undefined;
    },
  });
  return c.body(body, 200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
}
