import { HubError } from '../../../core/errors.ts';
import { mask } from '../../../core/mask.ts';
import type { Security } from './config.ts';
import type { Credentials } from './http.ts';
import type { Supplied } from './parameters.ts';
import type { Tokens } from './tokens.ts';

/** Where the credentials of a server's requests come from. */
export interface CredentialSource {
  /** What it sets in every request; callers cannot. */
  readonly supplied: Supplied;
  current(): Promise<Credentials>;
  /** Other ones after a 401, or undefined when there are none. */
  renew(refused: Credentials): Promise<Credentials | undefined>;
  /** The text with every secret in it replaced: some APIs echo the request. */
  hide(text: string): string;
}

/** What of the headers of clients goes to the API: all that may, and those that do here. */
export interface OfClient {
  readonly names: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Headers and security of a server. Throws HubError `misconfigured` for a header that cannot be sent. `tokens`: for
 * oauth2.
 */
export function openCredentials(
  security: Security,
  headers: Readonly<Record<string, string>>,
  tokens: Tokens | undefined,
  client: OfClient = { names: [], headers: {} },
): CredentialSource {
  const fixed = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), checkedHeader(name, value)]),
  );
  const secrets = [...new Set([...Object.entries(fixed).flatMap(secretsInHeader), ...secretsOf(security)])];
  /** The last few tokens: answers under way may still echo an old one. */
  let recent: readonly string[] = [];
  const added = addedBy(security);
  const whole: Credentials = { ...added, headers: { ...fixed, ...added.headers, ...client.headers } };

  function withToken(token: string): Credentials {
    if (!recent.includes(token)) recent = [token, ...recent].slice(0, 10);
    const authorization = client.headers['authorization'] ?? `Bearer ${token}`;
    return { ...whole, headers: { ...whole.headers, authorization } };
  }

  return {
    supplied: {
      headers: new Set([
        ...Object.keys(whole.headers),
        ...client.names,
        ...(tokens === undefined ? [] : ['authorization']),
      ]),
      query: new Set(whole.query.map(([name]) => name)),
      cookies: new Set(whole.cookies.map((pair) => decodeURIComponent(pair.split('=')[0] ?? ''))),
    },
    current: async () => (tokens === undefined ? whole : withToken(await tokens.current())),
    renew: async (refused) => {
      const token = await tokens?.renew(bare(refused.headers['authorization'] ?? ''));
      return token === undefined ? undefined : withToken(token);
    },
    hide: (text) => hidden(text, [...recent, ...secrets]),
  };
}

/** What of a header of the settings is kept from answers: the value, of cookies each one's. */
function secretsInHeader([name, value]: [string, string]): string[] {
  if (name === 'cookie') return value.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
  return /auth|key|token|secret|session|password/.test(name) ? [bare(value)] : [];
}

function addedBy(security: Security): Credentials {
  const none = { headers: {}, query: [], cookies: [] };
  switch (security.type) {
    case 'apiKey': {
      const { name, in: place, value } = security;
      if (place === 'query') return { ...none, query: [[name, value]] };
      if (place === 'cookie')
        return { ...none, cookies: [`${encodeURIComponent(name)}=${checkedCookie(name, value)}`] };
      return { ...none, headers: { [name.toLowerCase()]: checkedHeader(name, value) } };
    }
    case 'basic':
      return {
        ...none,
        headers: { authorization: `Basic ${checkedHeader('authorization', basic(security.credentials))}` },
      };
    case 'bearer':
      return { ...none, headers: { authorization: `Bearer ${checkedHeader('authorization', security.credentials)}` } };
    case 'none':
    case 'oauth2':
      return none;
  }
}

function secretsOf(security: Security): string[] {
  switch (security.type) {
    case 'apiKey':
      return [security.value];
    case 'basic':
      return [security.credentials, basic(security.credentials)];
    case 'bearer':
      return [security.credentials];
    case 'oauth2':
      return [security.clientSecret, security.token].filter((secret) => secret !== undefined);
    case 'none':
      return [];
  }
}

/** As MCPHub wants it, base64 already, or `user:password`: a colon is not in the base64 alphabet. */
function basic(credentials: string): string {
  return credentials.includes(':') ? Buffer.from(credentials).toString('base64') : credentials;
}

/** A header's value without its scheme. */
function bare(value: string): string {
  return value.replace(/^(Bearer|Basic|Token) /i, '');
}

function checkedHeader(name: string, value: string): string {
  if (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) && /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) return value;
  throw new HubError(
    'misconfigured',
    `The header "${name}" of this server's settings cannot be sent: a name or value must not have line breaks or special characters.`,
  );
}

function checkedCookie(name: string, value: string): string {
  if (!value.includes(';')) return checkedHeader(name, value);
  throw new HubError('misconfigured', `The cookie "${name}" of this server's settings must not contain ";".`);
}

/** Short values are not replaced: to replace every "abc" would damage answers and protect nothing. */
function hidden(text: string, secrets: readonly string[]): string {
  let shown = text;
  for (const secret of secrets) {
    if (secret.length < 6) continue;
    for (const form of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]) {
      if (shown.includes(form)) shown = shown.replaceAll(form, mask);
    }
  }
  return shown;
}
