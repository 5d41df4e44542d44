/**
 * A JSON text that is too long to be worked on in one go, or the items of a long list: its bytes, in pieces. It is
 * valid JSON in valid UTF-8 without line breaks, and is passed on as it is. To decode or parse it holds up everything
 * else in the process, for 10 ms with each megabyte.
 */
export class LargeText {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
    this.bytes = pieces.reduce((sum, { length }) => sum + length, 0);
  }

  /** A part of it, which shares its bytes. */
  slice(start: number, end: number): LargeText {
    const parts: Buffer[] = [];
    let at = 0;
    for (const piece of this.pieces) {
      const from = Math.max(0, start - at);
      const to = Math.min(piece.length, end - at);
      if (from < to) parts.push(piece.subarray(from, to));
      at += piece.length;
    }
    return new LargeText(parts);
  }

  toString(): string {
    return Buffer.concat(this.pieces).toString();
  }
}
