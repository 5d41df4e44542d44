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

/**
 * A head that was read, to be known again by its bytes: in the middle of its calls a client sends the same each time,
 * but for the length of the body.
 */
export class RepeatedHead {
  /** As it was found last. */
  head: PlainHead;
  /** With the line that ends it. */
  readonly #bytes: Buffer;
  /** Where the digits of the length are in it. */
  readonly #from: number;
  readonly #to: number;
  /** Of `head`, whose length is that of the newest request: the one before is answered. */
  readonly #headers: Record<string, string>;

  private constructor(head: PlainHead, bytes: Buffer, from: number, to: number) {
    this.#headers = { ...head.headers };
    this.head = { ...head, headers: this.#headers };
    this.#bytes = bytes;
    this.#from = from;
    this.#to = to;
  }

  /** `head` is what `text` says; `bytes` begin with that, and with the line that ends it. */
  static of(head: PlainHead, text: string, bytes: Buffer): RepeatedHead | undefined {
    const digits = head.headers['content-length'];
    const found = lengthHeader.exec(text);
    if (digits === undefined || !found || head.method !== 'POST') return undefined;
    const from = found.index + found[0].length;
    const own = Buffer.allocUnsafeSlow(text.length + 4);
    bytes.copy(own, 0, 0, own.length);
    return new RepeatedHead(head, own, from, from + digits.length);
  }

  /** Where the body begins, of which `head` says the length; -1 where another head is there, or not all of this one. */
  bodyIn(bytes: Buffer): number {
    const own = this.#bytes;
    const from = this.#from;
    let at = from;
    let length = 0;
    for (let code = bytes[at] ?? 0; code >= 0x30 && code <= 0x39 && at < from + 5; code = bytes[++at] ?? 0)
      length = length * 10 + code - 0x30;
    const bodyAt = at + own.length - this.#to;
    if (at === from || bodyAt > bytes.length || length > wireLimits.plainBodyBytes) return -1;
    if (bytes.compare(own, 0, from, 0, from) !== 0 || !this.#endsAlike(bytes, at)) return -1;
    if (length !== this.head.length) {
      const { method, url } = this.head;
      const headers = this.#headers;
      headers['content-length'] = String(length).padStart(at - from, '0');
      this.head = { method, url, headers, length };
    }
    return bodyAt;
  }

  /** Whether what is behind the digits is there from `at` on. */
  #endsAlike(bytes: Buffer, at: number): boolean {
    const own = this.#bytes;
    const to = this.#to;
    const length = own.length - to;
    // Most clients send the length last, and to call into Node takes longer than to look at four bytes.
    if (length > 16) return bytes.compare(own, to, own.length, at, at + length) === 0;
    for (let i = 0; i < length; i++) if (bytes[at + i] !== own[to + i]) return false;
    return true;
  }
}

/** In front of the digits. A line of this name is there once. */
const lengthHeader = /\r\ncontent-length:[\t ]*/i;

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
