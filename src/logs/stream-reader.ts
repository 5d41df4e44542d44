import { logLimits } from './limits.ts';

/** Where the text of a stream goes; a response of any HTTP framework. */
export interface Sink {
  /** False = take no more until `drained` is called. */
  write(chunk: string): boolean;
  /** Ends the response. Called once. */
  close(): void;
}

/** One reader of a stream. The code that opened it closes it when its connection ends. */
export interface Reader {
  /** Writes, or queues while the sink is full; one that is more than `logLimits.logReaderBytes` behind is cut off. */
  write(text: string): void;
  /** The sink takes more again. */
  drained(): void;
  /** A comment, so that proxies do not take the stream for dead. */
  beat(): void;
  /** Idempotent. Closes the sink. */
  close(): void;
}

export function createReader(sink: Sink, onClose: () => void): Reader {
  let queue: string[] = [];
  let queuedBytes = 0;
  let state: 'flowing' | 'full' | 'closed' = 'flowing';

  function close(): void {
    if (state === 'closed') return;
    state = 'closed';
    queue = [];
    onClose();
    sink.close();
  }

  function write(text: string): void {
    if (state === 'flowing') {
      if (!taken(text) && isOpen()) state = 'full';
    } else if (state === 'full') {
      queuedBytes += Buffer.byteLength(text);
      if (queuedBytes > logLimits.logReaderBytes) close();
      else queue.push(text);
    }
  }

  const isOpen = (): boolean => state !== 'closed';

  /** A sink that throws has lost its connection, and must not keep the other readers from their entries. */
  function taken(text: string): boolean {
    try {
      return sink.write(text);
    } catch {
      close();
      return false;
    }
  }

  return {
    write,
    drained() {
      if (state !== 'full') return;
      const text = queue.join('');
      queue = [];
      queuedBytes = 0;
      state = 'flowing';
      if (text !== '') write(text);
    },
    beat() {
      // A reader that is behind has something to read already.
      if (state === 'flowing') write(': \n\n');
    },
    close,
  };
}
