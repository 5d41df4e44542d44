import type { IncomingMessage, ServerResponse } from 'node:http';
import { limits } from '../core/limits.ts';
import { dropUnread, frame, primingEvent, streamHeaders } from './reply.ts';

/** A stream to one client that stays open: the GET stream of a session, a legacy SSE connection, a `subscriptions/listen`. */
export interface Stream {
  /** Sends one message. A reader that has left `limits.streamBacklogBytes` unread is dropped: it can come back and list again. */
  send(text: string, id?: string): void;
  /** Sends a message that whoever comes back to the stream will be told in another way. */
  news(text: string): void;
  /** Sends an id alone, to come back to. */
  prime(id: string): void;
  /** Sends one event of another kind than a message. */
  event(name: string, data: string): void;
  /** Ends it. `closed` follows. */
  end(): void;
  readonly open: boolean;
}

/** All streams of the hub, and the signs of life that everything long-lived gives, from one timer. */
export interface Streams {
  /** Starts an event stream on a response. `closed` is called once, whoever ends it. `farewell` is the message that an orderly end begins with. */
  open(res: ServerResponse, headers: Record<string, string>, closed: () => void, farewell?: string): Stream;
  /** True when no more may be opened (`limits.streams`). */
  readonly full: boolean;
  /** Ends those whose request would not be let in any more. */
  endWhere(isOver: (req: IncomingMessage) => boolean | Promise<boolean>): void;
  /** Calls `beat` now and then until the function returned is called. */
  onBeat(beat: () => void): () => void;
  /** Ends every stream: the hub stops. */
  close(): void;
}

export function createStreams(): Streams {
  const streams = new Map<Stream, IncomingMessage>();
  const beats = new Set<() => void>();
  const timer = setInterval(() => {
    for (const beat of beats) beat();
  }, limits.streamKeepAliveMs).unref();

  function onBeat(beat: () => void): () => void {
    beats.add(beat);
    return () => beats.delete(beat);
  }

  return {
    onBeat,
    get full() {
      return streams.size >= limits.streams;
    },
    open(res, headers, closed, farewell) {
      let open = true;
      const write = (chunk: string): void => {
        if (!open) return;
        // Looked at before, not after: one message may be larger than what may pile up.
        if (res.writableLength > limits.streamBacklogBytes) res.destroy();
        else res.write(chunk);
      };
      const stream: Stream = {
        send: (text, id) => write(frame(text, id)),
        news: (text) => write(frame(text)),
        prime: (id) => write(primingEvent(id)),
        event: (name, data) => write(`event: ${name}\ndata: ${data}\n\n`),
        end() {
          if (farewell !== undefined) write(frame(farewell));
          open = false;
          res.end();
        },
        get open() {
          return open;
        },
      };
      res.writeHead(200, { ...headers, ...streamHeaders });
      res.flushHeaders();
      dropUnread(res);
      streams.set(stream, res.req);
      const stopBeat = onBeat(() => write(': keep-alive\n\n'));
      res.on('close', () => {
        open = false;
        streams.delete(stream);
        stopBeat();
        closed();
      });
      return stream;
    },
    endWhere(isOver) {
      for (const [stream, req] of streams) {
        const over = isOver(req);
        if (over === true) stream.end();
        else if (over instanceof Promise) void over.then((late) => late && stream.end());
      }
    },
    close() {
      clearInterval(timer);
      for (const stream of streams.keys()) stream.end();
    },
  };
}
