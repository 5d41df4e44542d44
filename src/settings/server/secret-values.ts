import type { Settings } from '../../core/settings/settings.ts';
import { hideInUrls } from '../export/secret-text.ts';
import { expandServer, type ReadFile } from './placeholders.ts';
import { hiddenTexts } from './server-secrets.ts';

/**
 * Values of `env`, `headers` and `oauth`, credentials of APIs, and parts of addresses that must never be shown,
 * placeholders filled in (`known` gives what files are known to hold). What is plainly no secret (a path, a word, a
 * number) is left out, or too much of the logs would be hidden.
 */
export function secretValues(
  settings: Settings,
  variables: Readonly<Record<string, string>>,
  known: ReadFile = () => '',
): string[] {
  return [...settings.servers.values()].flatMap((server) => {
    try {
      const { transport } = expandServer(server, variables, known);
      const headers = 'headers' in transport ? Object.values(transport.headers) : [];
      const env = 'env' in transport ? Object.values(transport.env) : [];
      const oauth = ('oauth' in transport ? transport.oauth : undefined) ?? {};
      const { clientSecret = '', accessToken = '', refreshToken = '', initialAccessToken = '' } = oauth;
      const tokens = [clientSecret, accessToken, refreshToken, initialAccessToken].filter((value) => value !== '');
      const api = transport.type === 'openapi' ? transport.openapi : {};
      const url = 'url' in transport ? transport.url : api['url'];
      const address = typeof url === 'string' ? secretsInUrl(url) : [];
      const credentials = hiddenTexts({ openapi: api });
      return [...env.filter(maybeSecret), ...headers.flatMap(withoutScheme), ...tokens, ...address, ...credentials];
    } catch {
      // A server whose settings cannot be used says so when it is connected.
      return [];
    }
  });
}

/** Some servers take their key in the path, and errors name the path. */
function secretsInUrl(url: string): string[] {
  const found: string[] = [];
  hideInUrls(url, (_what, secret) => {
    found.push(secret);
    return secret;
  });
  return found;
}

function maybeSecret(value: string): boolean {
  const path = /^(~|\.{0,2}|[A-Za-z]:)[/\\][^@?]*$/.test(value);
  const word = /^[A-Za-z]{1,12}$/.test(value) || /^[\d.]{1,8}$/.test(value);
  const address = /^https?:\/\/[^@?]*$/.test(value);
  return !path && !word && !address;
}

/** `Bearer abc` hides `abc`, alone and behind its scheme. */
function withoutScheme(value: string): string[] {
  const token = /^(?:Bearer|Basic|Token)\s+(\S+)$/i.exec(value)?.[1];
  return token === undefined ? [value] : [token];
}
