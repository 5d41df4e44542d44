import { z } from 'zod';
import { asymmetric, isProviderAddress, usualProvider } from '../../core/provider.ts';
import type { ForwardAuth, OidcProvider, PasswordPolicy, TrustedIssuer } from '../../core/settings/login.ts';
import type { SystemSettings } from '../../core/settings/system.ts';
import { headerNameProblem } from '../server/headers.ts';
import { flag, range, text, texts } from '../document/shape.ts';
import { type Path, type Report, unique } from '../document/report.ts';
import { settingsLimits } from '../limits.ts';
import { coreLimits } from '../../core/limits.ts';

/**
 * `systemConfig.auth` (CONTRACT §8). Strict: what is mistyped here would leave passwords, or who is let in, as they
 * must not be.
 */

const address = text.refine(
  isProviderAddress,
  'expected an https:// address without a query (http:// only on this machine), as the provider spells it',
);
const groups = z.record(text, texts);

const trustedIssuer = z.strictObject({
  issuer: address,
  audience: z.union([text.min(1), texts.min(1)], { error: 'expected a text, or an array of texts' }),
  jwksUri: address.optional(),
  usernameClaim: text.min(1).optional(),
  groupsClaim: text.min(1).optional(),
  groups: groups.optional(),
});

const scopes = z.union([texts, text.transform((list) => list.split(' '))]);
const oidcProvider = z.strictObject({
  id: text.regex(/^[a-z0-9][a-z0-9_-]{0,39}$/, 'expected 1 to 40 of a-z, 0-9, "-" and "_"'),
  name: text.optional(),
  issuer: address,
  clientId: text.min(1, 'expected the id that the provider gave this hub'),
  clientSecret: text.optional(),
  scopes: scopes.optional(),
  usernameClaim: text.min(1).optional(),
  groupsClaim: text.min(1).optional(),
  groups: groups.optional(),
  adminGroups: texts.optional(),
  signUp: z.enum(['auto', 'invited']).optional(),
});

/** MCPHub's, as far as it means the same here. */
const betterAuth = z.looseObject({
  enabled: flag.optional(),
  disableAutoCreate: flag.optional(),
  providers: z
    .looseObject({
      oidc: z
        .looseObject({
          enabled: flag.optional(),
          providerId: text.optional(),
          discoveryUrl: text.optional(),
          scopes: scopes.optional(),
        })
        .optional(),
    })
    .optional(),
});

/** MCPHub's; `header` is the hub's own. What is switched off may be empty. */
const forwardAuth = z.strictObject({
  enabled: flag.optional(),
  mode: text.optional(),
  header: text.optional(),
  jwks: z
    .strictObject({
      uri: text.optional(),
      issuer: text.optional(),
      audience: z.union([text, texts], { error: 'expected a text, or an array of texts' }).optional(),
      algorithms: texts.optional(),
    })
    .optional(),
  usernameClaim: text.optional(),
  emailClaim: text.optional(),
  autoCreate: flag.optional(),
});

export const authShape = z.looseObject({
  passwordPolicy: z
    .strictObject({
      minLength: range(coreLimits.passwordMinChars, coreLimits.passwordMinCharsMost, 'characters').optional(),
      refuseCommon: flag.optional(),
    })
    .optional(),
  trustedIssuers: z.array(trustedIssuer).max(settingsLimits.issuers).optional(),
  oidc: z.array(oidcProvider).max(settingsLimits.issuers).optional(),
  passwordLogin: flag.optional(),
  breakGlass: text.optional(),
  requireSecondFactor: z
    .enum(['no', 'admins', 'everyone'], { error: 'expected "no", "admins" or "everyone"' })
    .optional(),
  betterAuth: betterAuth.optional(),
  forwardAuth: forwardAuth.optional(),
});

type Given = z.output<typeof authShape>;

/** What the settings say of logins. */
export function readAuth(given: Given, report: Report): Pick<SystemSettings, AuthMember> {
  const { passwordPolicy, trustedIssuers, oidc, passwordLogin, breakGlass, requireSecondFactor } = given;
  const path: Path = ['systemConfig', 'auth'];
  if (passwordLogin === false && !breakGlass)
    report.problem(
      [...path, 'passwordLogin'],
      'needs "breakGlass": the name of the one admin who can log in with a password while the provider is away',
    );
  const forwarded = readForwardAuth(given.forwardAuth ?? {}, [...path, 'forwardAuth'], report);
  const trusted = trustedIssuers && readTrustedIssuers(trustedIssuers, [...path, 'trustedIssuers'], report);
  const both = trusted?.find(({ issuer }) => issuer === forwarded?.issuer);
  if (both?.audiences.some((audience) => forwarded?.audiences.includes(audience)))
    report.problem(
      [...path, 'forwardAuth', 'jwks', 'audience'],
      'is an audience of the same issuer in "trustedIssuers" too: a token for calling tools would be a login. Give the proxy one of its own',
    );
  return {
    oidc: oidc && readProviders(oidc, [...path, 'oidc'], report),
    betterAuth: readBetterAuth(given.betterAuth ?? {}, [...path, 'betterAuth'], report),
    passwordLogin,
    breakGlass,
    requireSecondFactor,
    passwordPolicy: passwordPolicy && readPolicy(passwordPolicy),
    forwardAuth: forwarded,
    trustedIssuers: trusted,
  };
}

function readPolicy(given: NonNullable<Given['passwordPolicy']>): PasswordPolicy {
  const { minLength = coreLimits.passwordMinChars, refuseCommon = false } = given;
  return { minLength, refuseCommon };
}

type AuthMember =
  | 'passwordPolicy'
  | 'trustedIssuers'
  | 'oidc'
  | 'betterAuth'
  | 'forwardAuth'
  | 'passwordLogin'
  | 'breakGlass'
  | 'requireSecondFactor';

function readProviders(given: NonNullable<Given['oidc']>, path: Path, report: Report): OidcProvider[] {
  const seen = new Map<string, Path>();
  return given.map((provider, i) => {
    const { id, name, issuer, clientId, clientSecret, groups, adminGroups, signUp } = provider;
    unique(seen, id, [...path, i, 'id'], 'the ids of providers must differ', report);
    if (provider.groupsClaim !== undefined && groups === undefined && adminGroups === undefined)
      report.warn([...path, i, 'groupsClaim'], 'has no effect without "groups" or "adminGroups"');
    return {
      ...usualProvider,
      id,
      name: name ?? new URL(issuer).hostname,
      issuer,
      clientId,
      clientSecret: clientSecret === '' ? undefined : clientSecret,
      scopes: [...new Set(['openid', ...(provider.scopes ?? usualProvider.scopes)])],
      usernameClaim: provider.usernameClaim ?? usualProvider.usernameClaim,
      groupsClaim: provider.groupsClaim ?? usualProvider.groupsClaim,
      groups: groups && new Map(Object.entries(groups)),
      adminGroups,
      signUp: signUp ?? usualProvider.signUp,
    };
  });
}

/** The issuer whose metadata are at this address. */
export function issuerOfDiscovery(address: string): string {
  return address.replace(/\/\.well-known\/openid-configuration\/?$/, '');
}

function readBetterAuth(given: z.output<typeof betterAuth>, path: Path, report: Report): SystemSettings['betterAuth'] {
  const oidc = given.providers?.oidc;
  if (given.enabled !== true || oidc?.enabled !== true || !oidc.discoveryUrl) return undefined;
  const issuer = issuerOfDiscovery(oidc.discoveryUrl);
  if (!isProviderAddress(issuer)) {
    report.warn([...path, 'providers', 'oidc', 'discoveryUrl'], 'is ignored: expected an https:// address');
    return undefined;
  }
  return {
    ...usualProvider,
    id: oidc.providerId ?? 'oidc',
    name: new URL(issuer).hostname,
    issuer,
    scopes: [...new Set(['openid', ...(oidc.scopes ?? usualProvider.scopes)])],
    signUp: given.disableAutoCreate === true ? 'invited' : 'auto',
  };
}

/** With MCPHub's defaults (reference §4.2). What is missing is a fault: otherwise no person would get in. */
function readForwardAuth(given: z.output<typeof forwardAuth>, path: Path, report: Report): ForwardAuth | undefined {
  const { enabled = false, mode = 'jwks', header, jwks = {}, autoCreate = true } = given;
  if (!enabled) return undefined;
  const { uri = '', issuer = '', audience = [], algorithms = ['RS256', 'ES256'] } = jwks;
  const audiences = [audience].flat().filter((value) => value !== '');
  if (mode !== 'jwks') report.problem([...path, 'mode'], 'expected "jwks": there is no other mode');
  if (!isProviderAddress(uri))
    report.problem(
      [...path, 'jwks', 'uri'],
      'expected the https:// address of the keys that sign the tokens of the proxy (http:// only on this machine)',
    );
  if (issuer === '') report.problem([...path, 'jwks', 'issuer'], 'expected what the tokens of the proxy have in "iss"');
  if (audiences.length === 0)
    report.problem(
      [...path, 'jwks', 'audience'],
      'expected what the tokens of the proxy have in "aud": a token for another service must count for nothing here',
    );
  if (algorithms.length === 0 || algorithms.some((name) => !asymmetric.includes(name)))
    report.problem([...path, 'jwks', 'algorithms'], `expected some of ${asymmetric.join(', ')}`);
  return {
    header: readHeader(header, [...path, 'header'], report),
    issuer,
    jwksUri: uri,
    audiences,
    algorithms,
    usernameClaim: given.usernameClaim || 'preferred_username',
    emailClaim: given.emailClaim || 'email',
    autoCreate,
  };
}

function readHeader(given: string | undefined, path: Path, report: Report): string {
  const name = given?.trim().toLowerCase() || 'authorization';
  const fault = ['cookie', 'x-auth-token', 'x-csrf-token'].includes(name)
    ? 'has a meaning of its own here; choose the header that the proxy sets'
    : headerNameProblem(name);
  if (name !== 'authorization' && fault !== undefined) report.problem(path, fault);
  return name;
}

/** Issuers whose tokens are credentials at MCP endpoints. */
function readTrustedIssuers(given: NonNullable<Given['trustedIssuers']>, path: Path, report: Report): TrustedIssuer[] {
  const seen = new Map<string, Path>();
  return given.map(({ issuer, audience, jwksUri, usernameClaim, groupsClaim, groups }, i) => {
    unique(seen, issuer, [...path, i, 'issuer'], 'an issuer has one entry', report);
    if (groupsClaim !== undefined && groups === undefined)
      report.warn([...path, i, 'groupsClaim'], 'has no effect without "groups": {"<value of the claim>": ["<group>"]}');
    return {
      issuer,
      audiences: [audience].flat(),
      jwksUri,
      usernameClaim,
      groupsClaim: groupsClaim ?? 'groups',
      groups: new Map(Object.entries(groups ?? {})),
    };
  });
}
