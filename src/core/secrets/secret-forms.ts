import { mask } from '../mask.ts';

/**
 * Secrets that show by their form what they are, wherever they stand. Only forms that an ordinary text does not have by
 * chance: a call may be refused for them. Each takes time in proportion to the text: no form has two repetitions that
 * can take the same characters.
 */
const forms: readonly (readonly [kind: string, form: RegExp])[] = [
  ['a GitHub token', /gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,}/],
  ['a GitLab token', /gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[\w-]{20,}/],
  ['an AWS access key', /(?:AKIA|ASIA)[A-Z2-7]{16}(?![A-Za-z0-9])/],
  ['a Slack token', /xox[abeoprs]-[A-Za-z0-9-]{20,}|xapp-\d-[A-Za-z0-9-]{20,}/],
  [
    'the address of a Slack webhook',
    /https:\/\/hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/[\w/]{20,}/,
  ],
  ['a Google key', /AIza[\w-]{35}(?![\w-])|ya29\.[\w-]{20,}|GOCSPX-[\w-]{28}(?![\w-])/],
  ['a Stripe key', /[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{32,}/],
  ['an Anthropic key', /sk-ant-[\w-]{20,}/],
  ['an OpenAI key', /sk-(?:proj|svcacct|admin)-[\w-]{20,}|sk-[A-Za-z0-9]{32,}(?![\w-])/],
  ['an API key', /sk-or-v1-[0-9a-f]{32,}|gsk_[A-Za-z0-9]{40,}|xai-[A-Za-z0-9]{60,}|pplx-[A-Za-z0-9]{40,}/],
  ['a Hugging Face token', /hf_[A-Za-z0-9]{30,}/],
  ['an npm token', /npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/],
  ['a PyPI token', /pypi-AgE[\w-]{50,}/],
  ['a SendGrid key', /SG\.[\w-]{22}\.[\w-]{43}(?![\w-])/],
  ['a DigitalOcean token', /do[oprt]_v1_[0-9a-f]{64}/],
  ['a Shopify token', /shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/],
  ['a Vault token', /hv[bs]\.[\w-]{24,}/],
  ['a Telegram token', /\d{8,10}:AA[\w-]{33}(?![\w-])/],
  ['an age key', /AGE-SECRET-KEY-1[02-9A-Z]{58}/],
  ['an access key of a hub', /mcphub_[0-9a-f]{64}/],
  // From its beginning alone: a text of many beginnings would be read to its end from each of them.
  ['a JWT', /(?:(?<![\w-])|(?<=\\[bfnrt]))eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/],
  [
    'a private key',
    /-----BEGIN (?:[A-Z]{1,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:(?!-----(?:BEGIN|END))[\w+/=\\\s,:.-])*(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?/,
  ],
];

/** Without what they are called. */
export const secretForms: readonly RegExp[] = forms.map(([, form]) => form);

/** Secrets that show by what stands before and after them: `(before)(secret)`. */
const places: readonly (readonly [kind: string, form: RegExp])[] = [
  ['a password in an address', /(:\/\/[^\s/:@"'<>\\]{0,100}:)([^\s/@"'<>\\]{3,200})(?=@)/g],
  [
    'an AWS secret key',
    /((?:[Ss]ecret_?(?:[Aa]ccess_?)?[Kk]ey|SECRET_(?:ACCESS_)?KEY)["'\\\s]{0,4}[:=][>"'\\\s]{0,4})([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])/g,
  ],
];

/** What examples have in place of a password. */
const placeholder = /^(?:[$<{*%[•]|x+$|pass(?:word|wd)?$|pwd$|secret$|change_?me$|your)/i;

const any = new RegExp(forms.map(([, { source }]) => `(${source})`).join('|'), 'g');
/** A look without replacing is cheap. Each of them has to be in a text that has a secret. */
const signs = [
  new RegExp(any.source),
  /:\/\/[^\s/:@"'<>\\]{0,100}:/,
  /(?:ecret_?(?:[Aa]ccess_?)?[Kk]|ECRET_(?:ACCESS_)?K)/,
];

/** What of a secret stands in its place, and what it is. */
export interface Hiding {
  readonly replacement?: (secret: string) => string;
  readonly found?: (kind: string) => void;
}

/** False: the text has no secret. True: it may have one. */
export function mayHoldSecrets(text: string): boolean {
  return signs.some((sign) => sign.test(text));
}

/** The text without its secrets. */
export function hideSecrets(text: string, { replacement = () => mask, found }: Hiding = {}): string {
  if (!mayHoldSecrets(text)) return text;
  const without = text.replace(any, (secret: string, ...more: unknown[]) => {
    const kind = forms[more.findIndex((part) => part !== undefined)]?.[0] ?? 'a secret';
    const at = more[forms.length] as number;
    if (!(kind === 'a private key' ? /[A-Za-z0-9+/]{40}/.test(secret) : beginsAt(text, at))) return secret;
    found?.(kind);
    return replacement(secret);
  });
  return places.reduce(
    (rest, [kind, place]) =>
      rest.replace(place, (whole: string, before: string, secret: string) => {
        if (placeholder.test(secret)) return whole;
        found?.(kind);
        return before + replacement(secret);
      }),
    without,
  );
}

/** Nothing that belongs to it stands before it; `\n` and its like of a JSON text do not. */
function beginsAt(text: string, at: number): boolean {
  return at === 0 || !/[\w-]/.test(text.charAt(at - 1)) || /\\[bfnrt]$/.test(text.slice(Math.max(0, at - 2), at));
}
