import { isObject } from '../../core/protocol/rpc.ts';
import type { Path, Report } from './report.ts';

/**
 * What MCPHub does and this hub does not (README, What is not there yet): such members stay in the file, and a warning
 * names them, because nothing else would say why a server or a client gets less than before. What is empty or switched
 * off says nothing.
 */
export function warnOfMissingFeatures(document: Record<string, unknown>, report: Report): void {
  const system = memberOf(document, 'systemConfig');
  const auth = memberOf(system, 'auth');
  const betterAuth = memberOf(auth, 'betterAuth');
  const oidc = memberOf(memberOf(betterAuth, 'providers'), 'oidc');
  if (betterAuth['enabled'] === true && !(oidc['enabled'] === true && isText(oidc['discoveryUrl'])))
    report.warn(
      ['systemConfig', 'auth', 'betterAuth'],
      'is supported for OpenID Connect only (providers.oidc); write other providers into "oidc" beside it',
    );
  warnOfMissingSystemFeatures(system, report);
}

/** Members of `systemConfig` that some users rely on: each with what to do instead. */
function warnOfMissingSystemFeatures(system: Record<string, unknown>, report: Report): void {
  const warn = (path: Path, text: string): void => report.warn(['systemConfig', ...path], text);
  const routing = memberOf(system, 'routing');
  if (routing['skipAuth'] === true)
    warn(
      ['routing', 'skipAuth'],
      'is not followed: with it everyone who reaches the hub would be an admin and could start programs on this machine; log in as admin',
    );
  for (const [member, text] of [
    ['discovery', 'is not supported; the servers of this hub are published nowhere'],
  ] as const)
    if (memberOf(system, member)['enabled'] === true) warn([member], text);
  if (isText(memberOf(system, 'mcpRouter')['apiKey']))
    warn(['mcpRouter'], 'is not supported; the dashboard adds servers from the MCP registry');
  warnOfOAuthServer(memberOf(system, 'oauthServer'), warn);
}

/** What the hub decides by itself as authorization server, where the file wants it otherwise. */
function warnOfOAuthServer(given: Record<string, unknown>, warn: (path: Path, text: string) => void): void {
  const own: readonly (readonly [string, (value: unknown) => boolean, string])[] = [
    ['accessTokenLifetime', (value) => value !== 3_600, 'has no effect; access tokens last an hour'],
    [
      'refreshTokenLifetime',
      (value) => value !== 1_209_600,
      'has no effect; a client that is not used for 90 days asks its user again',
    ],
    ['requireClientSecret', (value) => value === true, 'has no effect; clients prove themselves by PKCE'],
    ['allowedScopes', (value) => String(value) !== 'read,write', 'has no effect; the scopes are "mcp" and "api"'],
  ];
  for (const [member, differs, text] of own)
    if (given[member] !== undefined && differs(given[member])) warn(['oauthServer', member], text);
  if (memberOf(given, 'dynamicRegistration')['requiresAuthentication'] === true)
    warn(
      ['oauthServer', 'dynamicRegistration', 'requiresAuthentication'],
      'is not supported; registration is open within limits, or off ("enabled": false)',
    );
}

function memberOf(value: Record<string, unknown>, member: string): Record<string, unknown> {
  const inner = value[member];
  return isObject(inner) ? inner : {};
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
