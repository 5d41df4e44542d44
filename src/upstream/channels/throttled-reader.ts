import { upstreamLimits } from '../limits.ts';

/** A stream that is read by a callback. */
export interface ReadStream {
  /** Takes bytes; they may be cut anywhere. */
  readonly read: (bytes: Buffer) => void;
  /** How many unrequested lines or messages have come so far. */
  readonly unasked: () => number;
  readonly pause: () => void;
  readonly resume: () => void;
}

/**
 * Reads a stream as it comes, but a flooded one for a moment at a time with pauses between: the flood then waits in the
 * pipe and slows its maker, instead of every other server's calls. It is over when nothing comes for a while although
 * the stream is read.
 */
export class ThrottledReader {
  readonly #stream: ReadStream;
  /** The second in which is counted, by its begin, and what was unasked for before it. */
  #second = -Infinity;
  #unaskedBefore = 0;
  #isFlooded = false;
  /**
   * Of a flooded stream: what came and is not read yet, how long was read since the last pause, in ms, and when that
   * was over.
   */
  #rest: Buffer = nothing;
  #readMs = 0;
  #readAt = 0;
  #pause: NodeJS.Timeout | undefined;
  #isEnding = false;

  constructor(stream: ReadStream) {
    this.#stream = stream;
  }

  /** What the stream gives, in order. */
  push(chunk: Buffer): void {
    if (this.#isEnding) return this.#stream.read(chunk);
    const now = performance.now();
    if (this.#isFlooded && this.#pause === undefined && now - this.#readAt > upstreamLimits.floodOverMs) {
      this.#isFlooded = false;
      this.#second = -Infinity;
    }
    if (this.#isFlooded) {
      this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
      if (this.#pause === undefined) this.#readOn();
      return;
    }
    if (now - this.#second > 1_000) {
      this.#second = now;
      this.#unaskedBefore = this.#stream.unasked();
    }
    this.#stream.read(chunk);
    if (this.#stream.unasked() - this.#unaskedBefore <= upstreamLimits.floodPerSecond) return;
    this.#isFlooded = true;
    this.#readMs = upstreamLimits.floodReadMs;
    this.#readOn();
  }

  /** Hardly more comes: reads at once what is left, and what still comes. */
  end(): void {
    this.#isEnding = true;
    clearTimeout(this.#pause);
    const rest = this.#rest;
    this.#rest = nothing;
    if (rest.length > 0) this.#stream.read(rest);
    if (this.#pause === undefined) return;
    this.#pause = undefined;
    this.#stream.resume();
  }

  #readOn(): void {
    while (this.#rest.length > 0 && this.#readMs < upstreamLimits.floodReadMs) {
      const piece = this.#rest.subarray(0, upstreamLimits.floodPieceBytes);
      this.#rest = this.#rest.subarray(piece.length);
      const from = performance.now();
      this.#stream.read(piece);
      this.#readAt = performance.now();
      this.#readMs += this.#readAt - from;
    }
    if (this.#readMs < upstreamLimits.floodReadMs) return;
    this.#stream.pause();
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#readMs = 0;
      this.#readAt = performance.now();
      this.#readOn();
      if (this.#pause === undefined) this.#stream.resume();
    }, upstreamLimits.floodPauseMs);
  }
}

const nothing = Buffer.alloc(0);
