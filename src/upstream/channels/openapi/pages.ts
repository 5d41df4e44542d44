import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { upstreamLimits } from '../../limits.ts';

/** Where a text is: in the page of that number, from that character on. */
export interface TextPlace {
  readonly page: number;
  readonly at: number;
  readonly chars: number;
}

/** JSON texts in packed pages. */
export interface Pages {
  readonly count: number;
  /** The texts of a page, as the elements of a JSON array; undefined where there is no such page. */
  page(index: number): string | undefined;
  /** A part of the text of its page, which it keeps. */
  text(place: TextPlace): string;
}

/**
 * Packs JSON texts in pages. A page is read seldom and stays as long as its server, and the tools of a document repeat
 * each other: packed, a page takes a tenth of its text.
 */
export function openPacking() {
  const pages: Uint8Array[] = [];
  let texts: string[] = [];
  let chars = 0;
  /** Of all pages that are packed. */
  let packedChars = 0;

  function pack(): void {
    // A copy of its size: what zlib gives may be a part of a larger buffer, which would stay with it.
    pages.push(Uint8Array.from(deflateRawSync(texts.join(','), { level: 1 })));
    texts = [];
    packedChars += chars;
    chars = 0;
  }

  /** Pages of a very long list are longer, so that a list has some hundred. */
  const pageChars = (): number => Math.max(upstreamLimits.openapiPageBytes, packedChars / 100);

  return {
    add(text: string): TextPlace {
      if (texts.length > 0 && chars + text.length > pageChars()) pack();
      const place = { page: pages.length, at: chars, chars: text.length };
      texts.push(text);
      // The comma too.
      chars += text.length + 1;
      return place;
    },
    packed(): readonly Uint8Array[] {
      pack();
      return pages;
    },
  };
}

export function readPages(pages: readonly Uint8Array[]): Pages {
  function page(index: number): string | undefined {
    const packed = pages[index];
    return packed && inflateRawSync(packed).toString();
  }

  return {
    count: pages.length,
    page,
    text: (place) => (page(place.page) ?? '').slice(place.at, place.at + place.chars),
  };
}
