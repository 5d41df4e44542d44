import { isObject } from '../../core/protocol/rpc.ts';
import { type Found, hideInUrls, hideKnownForms, isSecretName } from './secret-text.ts';

/**
 * A part of the settings without members that are called like secrets, without the values of `env` and `headers`,
 * without logins in URLs.
 */
export function strip(value: unknown, found: Found): unknown {
  if (typeof value === 'string') {
    const gone = (secret: string) => {
      found(secret, '', true);
      return '';
    };
    return hideInUrls(hideKnownForms(value, gone), (_, secret) => gone(secret)).replace('://@', '://');
  }
  if (Array.isArray(value)) return value.map((item) => strip(item, found));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => {
      if (!isSecretMember(key, member)) return [[key, strip(member, found)]];
      for (const secret of texts(member)) found(secret, '', true);
      return [];
    }),
  );
}

function isSecretMember(key: string, value: unknown): boolean {
  if (key === 'env' || key === 'headers') return isObject(value);
  // `maxOutputTokens: 2000`, `requireSecret: false`
  if (typeof value === 'boolean' || value === null || (typeof value === 'number' && /tokens$/i.test(key))) return false;
  return isSecretName(key) || key === 'pendingAuthorization';
}

function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(texts);
  return [];
}
