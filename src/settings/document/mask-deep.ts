import { mask } from '../../core/mask.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { hideInUrls, hideKnownForms, isSecretName, isVariables } from '../export/secret-text.ts';

/**
 * Some part of the settings as it may be shown: whatever is called like a secret, every value of `env` and `headers`,
 * logins in URLs and tokens of known forms are hidden. For servers there is `maskServer`, which knows their members.
 */
export function maskDeep(value: unknown): unknown {
  if (typeof value === 'string')
    return hideInUrls(
      hideKnownForms(value, () => mask),
      () => mask,
    );
  if (Array.isArray(value)) return value.map(maskDeep);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, isSecret(key, member) ? maskAll(member) : maskDeep(member)]),
  );
}

/** True when some text in it is hidden, wholly or in part. */
export function holdsMask(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(mask);
}

function isSecret(key: string, value: unknown): boolean {
  if ((key === 'env' || key === 'headers') && isObject(value)) return true;
  // Its address, which is looked at itself, and its secret.
  if (key === 'webhook' && isObject(value)) return false;
  // `maxOutputTokens: 2000`, `requireClientSecret: false`
  if (typeof value === 'boolean' || (typeof value === 'number' && /tokens$/i.test(key))) return false;
  return isSecretName(key);
}

function maskAll(value: unknown): unknown {
  if (typeof value === 'string') return value === '' || isVariables(value) ? value : mask;
  if (typeof value === 'number') return mask;
  if (Array.isArray(value)) return value.map(maskAll);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, maskAll(member)]));
}
