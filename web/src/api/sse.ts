import { ApiError, send } from './client.ts';

export interface Frame {
  readonly id: string | undefined;
  /** What stood in `data:`, lines joined. */
  readonly data: string;
}

interface Follow {
  readonly signal: AbortSignal;
  readonly lastEventId?: string | undefined;
  readonly opened?: () => void;
  readonly received: (frame: Frame) => void;
}

/**
 * Reads a stream of server-sent events until it ends. Not `EventSource`: that does not tell why it could not be
 * opened. Throws ApiError when it cannot be opened; a stream that breaks just ends.
 */
export async function follow(path: string, { signal, lastEventId, opened, received }: Follow): Promise<void> {
  const headers = { Accept: 'text/event-stream', ...(lastEventId !== undefined && { 'Last-Event-ID': lastEventId }) };
  const response = await send(path, { headers, signal });
  opened?.();
  await readFrames(response, received);
}

/** The events of an answer that is a stream, until it ends or breaks. What `received` throws ends it. */
export async function readFrames(response: Response, received: (frame: Frame) => void): Promise<void> {
  if (!response.body) throw new ApiError(0, '');
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (done || value === undefined) return;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const frame = frameOf(block);
      if (frame) received(frame);
    }
  }
}

function frameOf(block: string): Frame | undefined {
  const lines = block.split('\n');
  const values = (field: string) =>
    lines.flatMap((line) => (line.startsWith(`${field}:`) ? [line.slice(field.length + 1).trimStart()] : []));
  const data = values('data');
  return data.length === 0 ? undefined : { id: values('id')[0], data: data.join('\n') };
}
