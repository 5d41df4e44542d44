import { isUtf8 } from 'node:buffer';

import { isObject } from '../../../core/protocol/rpc.ts';
import type { Answer } from './http.ts';

/**
 * The JSON text of a tool's result for an answer of the API. Text is given as it came, and a JSON object once more as
 * `structuredContent`, both without re-serialising; images and audio as such; other bytes as an embedded resource. A
 * status of 400 and above, or a redirect that was not followed, is `isError` with status and body. `hide` takes secrets
 * out of texts.
 */
export function resultOf(method: string, answer: Answer, hide: (text: string) => string): string {
  const failed = answer.status >= 300;
  const status = `HTTP ${answer.status} ${answer.statusText}`.trim();
  if (method === 'HEAD') return headResult(answer, status, hide);
  if (answer.bytes.length === 0) return textResult(status, failed);
  const { type, charset } = contentType(answer);
  if (!isText(type, answer.bytes)) return failed ? textResult(status, true) : bytesResult(type, answer);
  const text = hide(decoded(answer.bytes, charset));
  if (failed) return textResult(`${status}\n${text}`, true);
  return isJson(type) && isJsonObject(text) ? textResult(text, false, oneLine(text)) : textResult(text, false);
}

/** The result of a call that was refused before anything was sent, or whose answer could not be taken. */
export function refusedResult(why: string): string {
  return textResult(why, true);
}

function textResult(text: string, isError: boolean, structured?: string): string {
  const content = `"content":[{"type":"text","text":${JSON.stringify(text)}}]`;
  const tail = structured === undefined ? '' : `,"structuredContent":${structured}`;
  return `{${content}${tail}${isError ? ',"isError":true' : ''}}`;
}

function headResult({ status, headers }: Answer, line: string, hide: (text: string) => string): string {
  const { 'set-cookie': _, ...shown } = headers;
  const text = hide(JSON.stringify({ status, headers: shown }));
  return status >= 300 ? textResult(line, true) : textResult(text, false, text);
}

function bytesResult(type: string, { bytes, url }: Answer): string {
  const kind = type.split('/')[0];
  const data = bytes.toString('base64');
  if (kind === 'image' || kind === 'audio') return JSON.stringify({ content: [{ type: kind, data, mimeType: type }] });
  // The address without its query: that may hold the key of the API.
  const resource = {
    uri: `${url.origin}${url.pathname}`,
    mimeType: type === '' ? 'application/octet-stream' : type,
    blob: data,
  };
  return JSON.stringify({ content: [{ type: 'resource', resource }] });
}

function contentType({ headers }: Answer): { type: string; charset: string | undefined } {
  const written = headers['content-type'] ?? '';
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(written)?.[1];
  return { type: written.replace(/;.*$/s, '').trim().toLowerCase(), charset };
}

/** Only browsers treat SVG as an image; here it is text. Without a type, valid UTF-8 is text. */
function isText(type: string, bytes: Buffer): boolean {
  if (type === '') return isUtf8(bytes) && !bytes.includes(0);
  return /^(text|message)\/|^application\/(json|xml|yaml|x-yaml|javascript|graphql|sql|toml|x-www-form-urlencoded|x-ndjson|jsonl|jwt|problem)|\+(json|xml|yaml)$/.test(
    type,
  );
}

function isJson(type: string): boolean {
  return /[/+]json$/.test(type);
}

function isJsonObject(text: string): boolean {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function decoded(bytes: Buffer, charset = 'utf-8'): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** JSON without line breaks: in strings they cannot be raw, elsewhere they are white space. */
function oneLine(json: string): string {
  return json.replace(/[\r\n]+/g, ' ');
}
