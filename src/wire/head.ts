import { wireLimits } from './limits.ts';

/** The head of a request of the plain shape. */
export interface PlainHead {
  readonly method: string;
  /** Path and query, as sent. */
  readonly url: string;
  /** By lower-case name; each was sent once. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of the body. */
  readonly length: number;
}

const requestLine = /^(POST|DELETE) (\/[\x21-\x7e]*) HTTP\/1\.1$/;
/**
 * Printable ASCII and whole line breaks: readers of HTTP/1.1 have disagreed on everything else. Looking for what is odd
 * would take twice as long, which with the long tokens of some clients is half a microsecond of each call.
 */
const plainText = /^[\t\x20-\x7e]*(?:\r\n[\t\x20-\x7e]*)*$/;
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const decimal = /^\d{1,6}$/;
/**
 * Headers that change how a message is framed, or what becomes of the connection. `connection` may only have the value
 * that is the default.
 */
const unwelcome: ReadonlySet<string> = new Set([
  'expect',
  'http2-settings',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  '__proto__',
]);

/**
 * Reads the head of a request (RFC 9112), without the empty line that ends it. Undefined for everything but the plain
 * shape: HTTP/1.1, POST with a length or DELETE without a body, one host, each header once, printable ASCII. What is
 * odd in any way is left to node:http, so nothing here is lenient.
 */
export function readHead(text: string): PlainHead | undefined {
  if (!plainText.test(text)) return undefined;
  const lines = text.split('\r\n');
  const [, method, url] = requestLine.exec(lines[0] ?? '') ?? [];
  if (method === undefined || url === undefined || lines.length > wireLimits.plainHeaders) return undefined;
  const headers: Record<string, string> = {};
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] ?? '';
    const colon = line.indexOf(':');
    const name = colon === -1 ? null : headerName(line.slice(0, colon));
    if (name === null || headers[name] !== undefined) return undefined;
    headers[name] = trimmed(line, colon + 1);
  }
  const { host, connection, 'content-length': declared } = headers;
  if (host === undefined || (connection !== undefined && connection.toLowerCase() !== 'keep-alive')) return undefined;
  if (declared === undefined) return method === 'DELETE' ? { method, url, headers, length: 0 } : undefined;
  const length = decimal.test(declared) ? Number(declared) : Infinity;
  if (length > wireLimits.plainBodyBytes || (method === 'DELETE' && length > 0)) return undefined;
  return { method, url, headers, length };
}

/** Names as they were sent, with what they mean; past `wireLimits.headerNames` a name is read each time. */
const names = new Map<string, string | null>();

/** In lower case; null for what is no name, or none that a plain request has. */
function headerName(sent: string): string | null {
  const known = names.get(sent);
  if (known !== undefined) return known;
  const name = sent.toLowerCase();
  const meant = token.test(sent) && !unwelcome.has(name) && !(name in Object.prototype) ? name : null;
  if (names.size < wireLimits.headerNames) names.set(sent, meant);
  return meant;
}

/** The rest of a line, without the white space around it. */
function trimmed(line: string, from: number): string {
  let start = from;
  let end = line.length;
  while (start < end && isSpace(line.charCodeAt(start))) start++;
  while (end > start && isSpace(line.charCodeAt(end - 1))) end--;
  return line.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
