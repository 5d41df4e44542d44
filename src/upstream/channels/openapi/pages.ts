import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { detached } from '../../../core/json/detached.ts';
import { coreLimits } from '../../../core/limits.ts';
import { upstreamLimits } from '../../limits.ts';

/** Where the text of a tool is: in the page of that number, from that character on. */
export interface ToolPlace {
  readonly page: number;
  readonly at: number;
  readonly chars: number;
}

/** The list of tools of a document, each as JSON text, in packed pages. */
export interface ToolPages {
  readonly count: number;
  /** The tools of a page, as the elements of a JSON array; undefined where there is no such page. */
  page(index: number): string | undefined;
  tool(place: ToolPlace): string;
}

/**
 * Packs the list in pages. A page is read seldom and stays as long as its server, and the tools of a document repeat
 * each other: packed, a page takes a tenth of its text.
 */
export function openPacking() {
  const pages: Uint8Array[] = [];
  let tools: string[] = [];
  let chars = 0;

  function pack(): void {
    // A copy of its size: what zlib gives may be a part of a larger buffer, which would stay with it.
    pages.push(Uint8Array.from(deflateRawSync(tools.join(','), { level: 1 })));
    tools = [];
    chars = 0;
  }

  return {
    add(tool: string): ToolPlace {
      if (tools.length > 0 && chars + tool.length > upstreamLimits.openapiPageBytes) pack();
      const place = { page: pages.length, at: chars, chars: tool.length };
      tools.push(tool);
      // The comma too.
      chars += tool.length + 1;
      return place;
    },
    packed(): readonly Uint8Array[] {
      pack();
      return pages;
    },
  };
}

/** Reads packed pages. Keeps the texts of the tools that were called last, as many as there are compiled schemas. */
export function readPages(pages: readonly Uint8Array[]): ToolPages {
  const called = new Map<ToolPlace, string>();

  function page(index: number): string | undefined {
    const packed = pages[index];
    return packed && inflateRawSync(packed).toString();
  }

  return {
    count: pages.length,
    page,
    tool(place) {
      const known = called.get(place);
      if (known !== undefined) return known;
      const text = detached((page(place.page) ?? '').slice(place.at, place.at + place.chars));
      const oldest = called.keys().next();
      if (called.size >= coreLimits.schemas && oldest.done !== true) called.delete(oldest.value);
      called.set(place, text);
      return text;
    },
  };
}
