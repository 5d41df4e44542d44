import { z } from 'zod';
import { isProviderAddress } from '../../core/provider-address.ts';
import type { PasswordPolicy, SystemSettings, TrustedIssuer } from '../../core/settings/types.ts';
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

export const authShape = z.looseObject({
  passwordPolicy: z
    .strictObject({
      minLength: range(coreLimits.passwordMinChars, coreLimits.passwordMinCharsMost, 'characters').optional(),
      refuseCommon: flag.optional(),
    })
    .optional(),
  trustedIssuers: z.array(trustedIssuer).max(settingsLimits.issuers).optional(),
});

type Given = z.output<typeof authShape>;

/** What the settings say of logins. */
export function readAuth(
  { passwordPolicy, trustedIssuers }: Given,
  report: Report,
): Pick<SystemSettings, 'passwordPolicy' | 'trustedIssuers'> {
  const path: Path = ['systemConfig', 'auth'];
  return {
    passwordPolicy: passwordPolicy && readPolicy(passwordPolicy),
    trustedIssuers: trustedIssuers && readTrustedIssuers(trustedIssuers, [...path, 'trustedIssuers'], report),
  };
}

function readPolicy(given: NonNullable<Given['passwordPolicy']>): PasswordPolicy {
  const { minLength = coreLimits.passwordMinChars, refuseCommon = false } = given;
  return { minLength, refuseCommon };
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
