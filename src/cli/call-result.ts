import { extname } from 'node:path';
import { isObject } from '../core/protocol/rpc.ts';
import type { ToolResult } from './remote/session.ts';
import { oneLine } from './terminal.ts';

/** What of a result goes where: text to standard output, bytes to files. */
export interface ShownResult {
  readonly text: string;
  readonly files: readonly { readonly bytes: Buffer; readonly what: string }[];
}

/**
 * Text as text; other content is described, or is a file where `toFiles` says so. A result that has nothing but its
 * structured content is that, as JSON.
 */
export function shownResult({ content, structuredContent }: ToolResult, toFiles: boolean): ShownResult {
  const files: { bytes: Buffer; what: string }[] = [];
  const parts = content.flatMap((block): string[] => {
    const { type, text, data, mimeType, resource } = block;
    if (type === 'text' && typeof text === 'string') return [text];
    const inner = isObject(resource) ? resource : {};
    if (type === 'resource' && typeof inner['text'] === 'string') return [inner['text']];
    if (type === 'resource_link')
      return [`[link ${[block['uri'], block['name']].map((each) => oneLine(textOf(each))).join(' ')}]`];
    const encoded = data ?? inner['blob'];
    const kind = oneLine(textOf(mimeType) || textOf(inner['mimeType']) || 'unknown type', 80);
    if (typeof encoded !== 'string') return [`[content of the kind ${oneLine(type, 80)}: --raw shows it]`];
    const bytes = Buffer.from(encoded, 'base64');
    const what = `${oneLine(type, 40)}, ${kind}, ${bytes.length} bytes`;
    files.push({ bytes, what });
    return toFiles ? [] : [`[${what}: --output <file> writes it]`];
  });
  const alone = parts.length === 0 && files.length === 0 && structuredContent !== undefined;
  const lines = alone ? [JSON.stringify(structuredContent, null, 2)] : parts;
  return { text: lines.map((part) => (part.endsWith('\n') ? part : `${part}\n`)).join(''), files };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The names of several files by the one that was given: `out.png`, `out-2.png`, … */
export function fileName(path: string, index: number): string {
  const extension = extname(path);
  return index === 0 ? path : `${path.slice(0, path.length - extension.length)}-${index + 1}${extension}`;
}
