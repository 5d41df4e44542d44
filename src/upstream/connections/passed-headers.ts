import { createHmac, randomBytes } from 'node:crypto';

/** The headers of a client's request, names in lower case. */
export type ClientHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** What a server gets of the headers of a client (`passthroughHeaders`, CONTRACT §8). */
export interface PassedHeaders {
  /** Equal for equal names and values; tells nothing of them. */
  readonly hash: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The header of a client's request as it may leave the hub: without credentials of the hub, of whichever user or key.
 * Undefined when nothing of it is left.
 */
export type WithoutCredentials = (name: string, value: string, sent: ClientHeaders) => string | undefined;

const salt = randomBytes(32);

/** The headers with these names, as far as the client sent them; undefined when there is none to be passed on. */
export function passedHeaders(
  names: readonly string[],
  sent: ClientHeaders,
  withoutCredentials: WithoutCredentials,
): PassedHeaders | undefined {
  const headers: Record<string, string> = {};
  for (const name of names) {
    const given = Object.hasOwn(sent, name) ? sent[name] : undefined;
    const text = typeof given === 'string' ? given : given?.join(', ');
    const value = text === undefined || !isSendable(text) ? undefined : withoutCredentials(name, text.trim(), sent);
    if (value !== undefined && value !== '') headers[name] = value;
  }
  const pairs = Object.entries(headers);
  if (pairs.length === 0) return undefined;
  return { hash: createHmac('sha256', salt).update(JSON.stringify(pairs)).digest('base64url'), headers };
}

/** Visible characters, blanks and tabs within Latin-1 (RFC 9110 §5.5). */
function isSendable(value: string): boolean {
  return /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value);
}
