import { isObject } from '../../core/protocol/rpc.ts';
import type { Path, Report } from './report.ts';

/**
 * What MCPHub does and this hub does not (README, What is not there yet): such members stay in the file, and a warning
 * names them, because nothing else would say why a server or a client gets less than before. What is empty or switched
 * off says nothing.
 */
export function warnOfMissingFeatures(document: Record<string, unknown>, report: Report): void {
  const system = memberOf(document, 'systemConfig');
  warnOfBetterAuth(memberOf(memberOf(system, 'auth'), 'betterAuth'), report);
  warnOfMissingSystemFeatures(system, report);
  warnOfOtherLists(document, report);
}

/** Logins of people: one provider of OpenID Connect is read, and nothing else. */
function warnOfBetterAuth(betterAuth: Record<string, unknown>, report: Report): void {
  if (betterAuth['enabled'] !== true) return;
  const path = ['systemConfig', 'auth', 'betterAuth'];
  const providers = memberOf(betterAuth, 'providers');
  const oidc = memberOf(providers, 'oidc');
  const text = 'is supported for OpenID Connect only (providers.oidc); write other providers into "oidc" beside it';
  if (!(oidc['enabled'] === true && isText(oidc['discoveryUrl']))) return report.warn(path, text);
  for (const other of Object.keys(providers))
    if (other !== 'oidc' && memberOf(providers, other)['enabled'] === true)
      report.warn(
        [...path, 'providers', other],
        'is not read; people log in at the provider in "oidc" beside it alone',
      );
}

/** In any order. */
function isListOf(value: unknown, names: readonly string[]): boolean {
  return Array.isArray(value) && value.length === names.length && names.every((name) => value.includes(name));
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
  if (memberOf(system, 'discovery')['enabled'] === true)
    warn(['discovery'], 'is not supported; the servers of this hub are published nowhere');
  if (isText(memberOf(system, 'mcpRouter')['apiKey']))
    warn(['mcpRouter'], 'is not supported; the dashboard adds servers from the MCP registry');
  const { dbUrl } = memberOf(system, 'smartRouting');
  if (isText(dbUrl) && dbUrl !== '${DB_URL}')
    warn(
      ['smartRouting', 'dbUrl'],
      'is not used: the database is the one in DB_URL, or the one that comes with the hub',
    );
  warnOfCompression(memberOf(system, 'toolResultCompression'), warn);
  warnOfOAuthServer(memberOf(system, 'oauthServer'), warn);
}

/** MCPHub shortens results; here the first items come, and the rest on request (docs/large-results.md). */
function warnOfCompression(given: Record<string, unknown>, warn: (path: Path, text: string) => void): void {
  if (given['enabled'] !== true) return;
  const { minTokens, strategy } = given;
  if (minTokens !== undefined && minTokens !== 2_000)
    warn(['toolResultCompression', 'minTokens'], 'has no effect; results come in parts from "maxOutputTokens" on');
  if (strategy !== undefined && strategy !== 'auto')
    warn(['toolResultCompression', 'strategy'], 'has no effect; results are not shortened, they come in parts');
}

/** What the hub decides by itself as authorization server, where the file wants it otherwise. */
function warnOfOAuthServer(given: Record<string, unknown>, warn: (path: Path, text: string) => void): void {
  const registration = memberOf(given, 'dynamicRegistration');
  const documents = memberOf(given, 'clientIdMetadata');
  const own: readonly (readonly [Path, unknown, (value: unknown) => boolean, string])[] = [
    [
      ['accessTokenLifetime'],
      given['accessTokenLifetime'],
      (value) => value !== 3_600,
      'has no effect; access tokens last an hour',
    ],
    [
      ['refreshTokenLifetime'],
      given['refreshTokenLifetime'],
      (value) => value !== 1_209_600,
      'has no effect; a client that is not used for 90 days asks its user again',
    ],
    [
      ['authorizationCodeLifetime'],
      given['authorizationCodeLifetime'],
      (value) => value !== 300,
      'has no effect; a code lasts a minute',
    ],
    [
      ['requireClientSecret'],
      given['requireClientSecret'],
      (value) => value === true,
      'has no effect; clients prove themselves by PKCE',
    ],
    [
      ['requireState'],
      given['requireState'],
      (value) => value === true,
      'has no effect; PKCE, which every client has to use, does what it is for',
    ],
    [
      ['allowedScopes'],
      given['allowedScopes'],
      (value) => !isListOf(value, ['read', 'write']),
      'has no effect; the scopes are "mcp" and "api"',
    ],
    [
      ['dynamicRegistration', 'requiresAuthentication'],
      registration['requiresAuthentication'],
      (value) => value === true,
      'is not supported; registration is open within limits, or off ("enabled": false)',
    ],
    [
      ['dynamicRegistration', 'allowedGrantTypes'],
      registration['allowedGrantTypes'],
      (value) => !isListOf(value, ['authorization_code', 'refresh_token']),
      'has no effect; clients get "authorization_code" and "refresh_token"',
    ],
    [
      ['clientIdMetadata', 'enabled'],
      documents['enabled'],
      (value) => value === false,
      'has no effect; clients that have a document at the address which is their id are let in as those that register',
    ],
  ];
  for (const [path, value, differs, text] of own)
    if (value !== undefined && differs(value)) warn(['oauthServer', ...path], text);
}

/** What MCPHub keeps beside the settings, in the same file. */
function warnOfOtherLists(document: Record<string, unknown>, report: Report): void {
  if (countOf(document['oauthClients']) > 0)
    report.warn(
      ['oauthClients'],
      'is not read: clients register here by themselves (docs/identity.md), and their users let them in once more',
    );
  if (countOf(document['oauthTokens']) > 0)
    report.warn(['oauthTokens'], 'is not read: the clients that have these tokens sign in once more');
  const { userConfigs } = document;
  if (isObject(userConfigs) && Object.values(userConfigs).some((own) => isObject(own) && Object.keys(own).length > 0))
    report.warn(['userConfigs'], 'is not read: users have no settings of their own beside servers, groups and limits');
  const bound = (Array.isArray(document['users']) ? document['users'] : []).filter(
    (user: unknown) => isObject(user) && isText(user['ssoUserId']),
  ).length;
  if (bound > 0)
    report.warn(
      ['users'],
      `"ssoUserId" of ${bound} ${bound === 1 ? 'user' : 'users'} is not read: a login at a provider finds the user who has its verified address as "email" and no "password", and makes another one otherwise`,
    );
}

function countOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

function memberOf(value: Record<string, unknown>, member: string): Record<string, unknown> {
  const inner = value[member];
  return isObject(inner) ? inner : {};
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
