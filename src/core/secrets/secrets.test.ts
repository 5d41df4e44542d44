import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mask } from '../mask.ts';
import { withoutSecretsInJson } from './in-json.ts';
import { hideSecrets } from './secret-forms.ts';
import { codePoints } from '../../../test/kit/code-points.ts';

const mixed = (chars: number): string => 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zC'.repeat(8).slice(0, chars);
const hex = (chars: number): string => '0a1b2c3d4e5f6789'.repeat(8).slice(0, chars);
const pem = (kind: string): string =>
  `-----BEGIN ${kind}PRIVATE KEY-----\n${mixed(64)}\n${mixed(40)}==\n-----END ${kind}PRIVATE KEY-----`;

/** Put together here, so that no tool that looks for secrets takes this file for one. */
const secrets: Record<string, string> = {
  'a GitHub token': `ghp_${mixed(36)}`,
  'a GitLab token': `glpat-${mixed(20)}`,
  'an AWS access key': `AKIA${'QWER2345'.repeat(2)}`,
  'a Slack token': `xoxb-123456789012-${mixed(24)}`,
  'the address of a Slack webhook': `https://hooks.slack.com/services/T00000000/B00000000/${mixed(24)}`,
  'a Google key': `AIza${mixed(35)}`,
  'a Stripe key': `sk_live_${mixed(24)}`,
  'an Anthropic key': `sk-ant-api03-${mixed(80)}`,
  'an OpenAI key': `sk-proj-${mixed(48)}`,
  'an API key': `gsk_${mixed(52)}`,
  'a Hugging Face token': `hf_${mixed(34)}`,
  'an npm token': `npm_${mixed(36)}`,
  'a PyPI token': `pypi-AgEI${mixed(60)}`,
  'a SendGrid key': `SG.${mixed(22)}.${mixed(43)}`,
  'a DigitalOcean token': `dop_v1_${hex(64)}`,
  'a Shopify token': `shpat_${hex(32)}`,
  'a Vault token': `hvs.${mixed(24)}`,
  'a Telegram token': `123456789:AA${mixed(33)}`,
  'an age key': `AGE-SECRET-KEY-1${'Q2W3E4R5T6'.repeat(6).slice(0, 58)}`,
  'an access key of a hub': `mcphub_${hex(64)}`,
  'a JWT': `eyJ${mixed(20)}.eyJ${mixed(30)}.${mixed(43)}`,
  'a private key': pem('RSA '),
};

test.each(Object.entries(secrets))(
  '%s is recognised wherever it stands, and nothing around it is hidden',
  (kind, secret) => {
    for (const [before, after] of [
      ['', ''],
      ['key: ', ' and more'],
      ['"', '"'],
      ['TOKEN=', '\n'],
      ['one\n', ''],
      ['a JSON text in a text: \\n', '\\n'],
    ] as const) {
      const kinds: string[] = [];
      const hidden = hideSecrets(`${before}${secret}${after}`, { found: (one) => kinds.push(one) });
      expect(hidden).toBe(`${before}${mask}${after}`);
      expect(kinds).toEqual([kind]);
    }
  },
);

test('what only looks like one stays', () => {
  for (const text of [
    'sk-learn and sk-something-with-many-words-in-it-for-a-class-name',
    `task-${hex(32)}`,
    `disk_${mixed(40)} xghp_${mixed(36)}`,
    'pk_user_accounts_by_email_and_name',
    'AKIA, ASIA and AKIALOWERcaseletters12',
    `${hex(40)} ${hex(64)} 6ba7b810-9dad-11d1-80b4-00c04fd430c8`,
    'The file begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.',
    `-----BEGIN PUBLIC KEY-----\n${mixed(64)}\n-----END PUBLIC KEY-----`,
    'postgres://user:password@localhost, https://user:${TOKEN}@host, http://x:<token>@y',
    'https://example.com:8080/a@b https://host/path:with@sign',
    `eyJ${mixed(30)}`,
    'secret_access_key = ${AWS_SECRET_ACCESS_KEY}',
    Buffer.from(mixed(200)).toString('base64'),
  ])
    expect(hideSecrets(text)).toBe(text);
});

test('of an address the password is hidden, of a secret with a label the secret', () => {
  expect(hideSecrets('DATABASE_URL=postgres://app:S3cr3t-9@db/prod')).toBe(
    `DATABASE_URL=postgres://app:${mask}@db/prod`,
  );
  expect(hideSecrets(`aws_secret_access_key = ${mixed(40)}`)).toBe(`aws_secret_access_key = ${mask}`);
  expect(hideSecrets(`{"SecretAccessKey": "${mixed(40)}"}`)).toBe(`{"SecretAccessKey": "${mask}"}`);
});

test('in JSON they are recognised however they are escaped, and every other byte stays', () => {
  const secret = secrets['a GitHub token'] ?? '';
  const escaped = secret.replace(/./g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const before = '{ "n":12345678901234567890, "a":["x\\u00e9\\/",';
  expect(withoutSecretsInJson(`${before}"${escaped}"],"n":1.0}`)).toEqual({
    text: `${before}"${mask}"],"n":1.0}`,
    kinds: ['a GitHub token'],
  });
  const key = JSON.stringify({ text: `${pem('')} ${JSON.stringify({ nested: pem('EC ') })}`, [secret]: 'a name too' });
  const hidden = withoutSecretsInJson(key);
  expect(JSON.parse(hidden?.text ?? '')).toEqual({ text: `${mask} {"nested":"${mask}"}`, [mask]: 'a name too' });
  expect(withoutSecretsInJson('{"a":"nothing here \\u0041","b":[]}')).toBeUndefined();
});

test('a JSON text stays one, whatever is hidden in it', () => {
  const piece = fc.oneof(
    fc.string({ unit: codePoints }),
    fc.constantFrom(...Object.values(secrets), '-----BEGIN PRIVATE KEY-----', '\\', '"', '\\n', '://a:bcd@'),
  );
  const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
  fc.assert(
    fc.property(fc.jsonValue(), text, text, (value, one, two) => {
      const given = { value, one, [two]: { one, two: [two] } };
      const parsed = JSON.parse(withoutSecretsInJson(JSON.stringify(given))?.text ?? JSON.stringify(given)) as unknown;
      const own = (part: unknown): unknown =>
        typeof part === 'string'
          ? hideSecrets(part)
          : Array.isArray(part)
            ? part.map(own)
            : typeof part === 'object' && part !== null
              ? Object.fromEntries(Object.entries(part).map(([key, member]) => [hideSecrets(key), own(member)]))
              : part;
      expect(parsed).toEqual(own(JSON.parse(JSON.stringify(given))));
    }),
    { numRuns: 40 },
  );
});

test('texts made to be slow take time in proportion to their length', () => {
  const units = [
    ...Object.values(secrets),
    ...Object.values(secrets).map((secret) => secret.slice(0, Math.ceil(secret.length / 2))),
    'eyJaaaaaaaaaa-',
    'eyJaaaaaaaaaa.',
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY----------END ',
    '://a:',
    '://:::',
    'secret_access_key=',
    'sk-',
    '-----',
    '\\n',
  ];
  // In proportion to its square each of these would take minutes.
  for (const unit of units) expect(hideSecrets(`${unit.repeat(Math.ceil(500_000 / unit.length))}~`)).toMatch(/~$/);
});
