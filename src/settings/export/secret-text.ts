import { secretForms } from '../../core/secrets/secret-forms.ts';

/** What tells a secret by the name it is under: a member, a header, an option, a query parameter. */
const secretNames = new RegExp(
  [
    'passw(or)?d|passphrase|secret|token|token_?hash|password_?hash|credential|authorization|cookie|bearer|signature',
    '(api|private|access|secret|encryption|auth|signing|bearer|shared|service|account|license)_?key',
    'code_?verifier|webhook(_?url)?|(db|database)_?url|connection_?string',
    '(^|_)(pwd|pat|jwt|dsn)',
  ]
    .map((names) => `(${names})s?$`)
    .join('|'),
);

export function isSecretName(name: string): boolean {
  return secretNames.test(
    name
      .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
      .toLowerCase()
      .replace(/[\s.-]+/g, '_')
      .replace(/^_+/, ''),
  );
}

/**
 * Tokens that show by their form what they are, wherever they stand; taken more widely than in calls: of an export it
 * is better to hide too much.
 */
const knownForms = new RegExp(
  [
    ...secretForms,
    /\b(?:sk|pk|rk)[-_][\w-]{16,}/,
    /\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bnpm_\w{20,}|\bhf_\w{20,}/,
    /\bxox[a-z]-[\w-]{10,}|\bxapp-[\w-]{10,}|\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}/,
    /\bmcphub_[0-9a-f]{32,}/,
    // Near the beginning of a word alone: one of many beginnings would be read to its end from each of them.
    /(?<![\w-]{64})\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/,
    /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Replaces the tokens in a text that show by their form what they are. */
export function hideKnownForms(text: string, replacement: (found: string) => string): string {
  return text.replace(knownForms, replacement);
}

/** What a scheme is made of is read once, from its first character on: each letter in it could begin another URL. */
const urls = /(?<![a-z0-9+.-])[0-9+.-]*[a-z][a-z0-9+.-]*:\/\/[^\s"'<>]+/gi;

/**
 * Replaces the secrets in every URL of a text: user and password, secret parameters, long random parts of the path.
 * Takes time in proportion to the text.
 */
export function hideInUrls(text: string, replacement: (what: string, found: string) => string): string {
  return text.replace(urls, (url) => hideInUrl(url, replacement));
}

function hideInUrl(url: string, replacement: (what: string, found: string) => string): string {
  const [, start = '', authority = '', path = '', rest = ''] = /^([^:]+:\/\/)([^/?#]*)([^?#]*)(.*)$/s.exec(url) ?? [];
  const host = authority.lastIndexOf('@');
  const user = authority.slice(0, Math.max(host, 0));
  const login =
    host === -1 || isVariables(user) ? authority : `${replacement('login', user)}@${authority.slice(host + 1)}`;
  const parts = path.split('/').map((part) => (isRandom(part) ? replacement('path', part) : part));
  const query = rest.replace(/([?&#;])([^=&#;]+)=([^&#]*)/g, (whole, mark: string, name: string, value: string) => {
    const isSecret = isSecretName(name) || /^(key|sig|auth|code|state|session)$/i.test(name) || isRandom(value);
    return isSecret && value !== '' && !isVariables(value) ? `${mark}${name}=${replacement(name, value)}` : whole;
  });
  return start + login + parts.join('/') + query;
}

/** Long, and of the mixture that names do not have. */
function isRandom(part: string): boolean {
  if (part.length < 20 || !/^[\w.~%=-]+$/.test(part)) return false;
  const digits = part.match(/\d/g)?.length ?? 0;
  return (
    /^[0-9a-f-]{32,}$/i.test(part) ||
    (digits >= 4 && /[a-z]/i.test(part)) ||
    (digits >= 1 && /[a-z]/.test(part) && /[A-Z]/.test(part))
  );
}

/** Nothing but `${NAME}` or `${file:/path}`, which are no secrets; a default in one may be. */
export function isVariables(text: string): boolean {
  return text.replace(/\$\{(?:[A-Za-z_]\w*|file:[^{}]*)\}/g, '').trim() === '';
}

/**
 * Replaces the values that options and assignments inside a text give to secrets: `sh -c "TOKEN=x serve --api-key y"`.
 */
export function hideInCommands(text: string, replacement: (name: string, found: string) => string): string {
  const given = /((?:^|\s)(?:--?[A-Za-z][\w-]*(?:=|\s+)|[A-Za-z]\w*=))(?!-)("[^"]*"|'[^']*'|[^\s"']+)/g;
  return text.replace(given, (whole, before: string, value: string) => {
    const name = /[A-Za-z][\w-]*/.exec(before)?.[0] ?? '';
    return isSecretName(name) && !isVariables(value) ? before + replacement(name, value) : whole;
  });
}

/**
 * Notes a secret and what stands in its place; `isNamed` when its name says that it is one, and not only where it
 * stood.
 */
export type Found = (secret: string, replacement: string, isNamed: boolean) => void;
