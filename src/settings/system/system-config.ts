import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Problem } from '../../core/errors.ts';
import { invalid, isForbiddenName } from '../../core/input.ts';
import { childPath } from '../../core/json/path.ts';
import { coreLimits } from '../../core/limits.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { Draft, Entry } from '../document/document.ts';
import { holdsMask, maskDeep } from '../document/mask-deep.ts';
import { problemTable } from '../../core/problems.ts';

/** `systemConfig` of the settings document (reference: MCPHub §1.6, §4.2): its one edit, and how it is shown. */

const section = z.record(z.string(), z.unknown(), { error: 'must be an object' }).nullish();

/**
 * The body of `PUT /system-config`: what is to be different. Of what the hub uses the settings check every value; see
 * `known` for the rest.
 */
export const systemConfigInput = z
  .looseObject({
    activityLog: section,
    audit: section,
    auth: section,
    discovery: section,
    install: z
      .looseObject({
        baseUrl: z
          .string()
          .trim()
          .regex(/^https?:\/\/\S+$|^$/, problemTable.http_address)
          .nullish(),
      })
      .nullish(),
    mcpRouter: section,
    network: section,
    oauthServer: section,
    routing: section,
    smartRouting: section,
    limits: section,
    approvals: section,
    pins: section,
    sandbox: section,
    secretsInCalls: section,
    policies: z
      .array(z.record(z.string(), z.unknown()), { error: 'must be an array of {id, text, enabled?}' })
      .nullish(),
    policyFolder: z.string().nullish(),
    guards: z.array(z.record(z.string(), z.unknown()), { error: 'must be an array of {url, on, …}' }).nullish(),
    toolResultCompression: section,
    maxResultTokens: z.number().nullish(),
    codeMode: section,
    skills: section,
    nameSeparator: z.string().nullish(),
    listPageSize: z.number().nullish(),
    enableSessionRebuild: z.boolean({ error: 'must be true or false' }).nullish(),
  })
  .refine((config) => Object.keys(config).length > 0, 'needs at least one section or setting');

/**
 * The members of each section, those included that only MCPHub uses. Others are kept where a file has them, for
 * whatever program wrote them; a request that brings a new one has mistyped it.
 * `settings/document/known-members.test.ts` holds it against what the settings read.
 */
const known: Readonly<Record<string, readonly string[]>> = {
  activityLog: ['storeToolPayload', 'storeSearchQueries'],
  audit: ['webhook', 'syslog'],
  auth: [
    'betterAuth',
    'forwardAuth',
    'passwordPolicy',
    'trustedIssuers',
    'oidc',
    'passwordLogin',
    'breakGlass',
    'requireSecondFactor',
  ],
  discovery: ['enabled'],
  install: ['pythonIndexUrl', 'npmRegistry', 'baseUrl'],
  mcpRouter: ['apiKey', 'referer', 'title', 'baseUrl'],
  network: ['allowedCidrs'],
  oauthServer: [
    'enabled',
    'accessTokenLifetime',
    'refreshTokenLifetime',
    'authorizationCodeLifetime',
    'requireClientSecret',
    'allowedScopes',
    'requireState',
    'dynamicRegistration',
    'clientIdMetadata',
  ],
  routing: [
    'enableGlobalRoute',
    'enableGroupNameRoute',
    'enableBearerAuth',
    'bearerAuthKey',
    'bearerAuthHeaderName',
    'jsonBodyLimit',
    'openApiAccess',
    'skipAuth',
  ],
  smartRouting: [
    'enabled',
    'dbUrl',
    'embeddingProvider',
    'embeddingEncodingFormat',
    'embeddingDimensions',
    'embeddingMaxTokens',
    'embeddingModel',
    'basePacingDelayMs',
    'openaiApiBaseUrl',
    'openaiApiKey',
    'openaiApiEmbeddingModel',
    'azureOpenaiEndpoint',
    'azureOpenaiApiKey',
    'azureOpenaiApiVersion',
    'azureOpenaiEmbeddingDeployment',
    'azureOpenaiEmbeddingModel',
    'progressiveDisclosure',
    'serverDescriptionMode',
    'thresholds',
  ],
  limits: ['default'],
  approvals: ['expireSeconds', 'webhook'],
  pins: ['mode'],
  codeMode: ['timeoutSeconds', 'memoryMb', 'calls'],
  skills: ['folder'],
  sandbox: ['default'],
  secretsInCalls: ['arguments', 'results'],
  toolResultCompression: ['enabled', 'minTokens', 'maxOutputTokens', 'strategy'],
};

/**
 * Merges the given members into `systemConfig`, section by section; `null` takes a member out, a hidden value stays as
 * it is. Throws HubError `invalid_input`.
 */
export function changeSystemConfig(draft: Draft, given: Readonly<Entry>): Entry {
  const problems: Problem[] = [];
  const merged = mergeInto(draft.systemConfig ?? {}, given, { path: '', depth: 0, members: topLevel, problems });
  if (problems.length > 0) throw invalid('Cannot change the system configuration', problems);
  draft.systemConfig = merged;
  return merged;
}

/** What the settings say of the logins and keys that the hub accepts; two of these differ where that changed. */
export function credentialSettings({ systemConfig }: Draft): string {
  const routing = systemConfig?.['routing'];
  return JSON.stringify([systemConfig?.['auth'], isObject(routing) ? routing['bearerAuthKey'] : undefined]);
}

/** The same of how callers come in, with a credential or without, and of what they may call: no app changes that. */
export function entrySettings({ systemConfig }: Draft): string {
  const routing = systemConfig?.['routing'];
  const governed = [
    'oauthServer',
    'policies',
    'policyFolder',
    'limits',
    'approvals',
    'pins',
    'guards',
    'audit',
    'sandbox',
    'secretsInCalls',
    'skills',
  ];
  return JSON.stringify([systemConfig?.['auth'], routing, ...governed.map((section) => systemConfig?.[section])]);
}

export function systemConfigAnswer(config: Readonly<Entry> | undefined): unknown {
  return maskDeep(config ?? {});
}

interface Place {
  readonly path: string;
  readonly depth: number;
  /** What may be new here; undefined where anything may. */
  readonly members: readonly string[] | undefined;
  readonly problems: Problem[];
}

const topLevel: readonly string[] = Object.keys(systemConfigInput.shape);

function mergeInto(old: Readonly<Entry>, given: Readonly<Entry>, place: Place): Entry {
  const { path, depth, problems } = place;
  const members = new Map(Object.entries(old));
  for (const [key, value] of Object.entries(given)) {
    const at = childPath(path, key);
    const before = members.get(key);
    if (isForbiddenName(key) || depth > coreLimits.schemaDepth) problems.push({ path: at, message: 'is not accepted' });
    else if (value === null) members.delete(key);
    else if (place.members && !place.members.includes(key) && before === undefined)
      problems.push({ path: at, message: `is no setting of this hub. There are: ${place.members.join(', ')}` });
    else if (isObject(value)) {
      const below = { path: at, depth: depth + 1, members: depth === 0 ? known[key] : undefined, problems };
      members.set(key, mergeInto(isObject(before) ? before : {}, value, below));
    } else if (!holdsMask(value)) members.set(key, value);
    else if (Array.isArray(value) && Array.isArray(before)) members.set(key, unmasked(value, before, at, problems));
    else if (JSON.stringify(maskDeep({ [key]: before })) !== JSON.stringify({ [key]: value })) {
      problems.push({ path: at, message: 'is hidden, but there is no value to keep. Send the value itself' });
    }
  }
  return Object.fromEntries(members);
}

/** Which of the members differs that say where a secret goes; an address that hides a part of itself does not. */
function leadsElsewhere(before: Readonly<Entry>, { issuer, url }: Readonly<Entry>): 'issuer' | 'address' | false {
  if (issuer !== before['issuer']) return 'issuer';
  return url !== before['url'] && !holdsMask(url) && 'address';
}

/**
 * The elements of a list keep what is hidden in them (see `ownersOf`). A secret goes to no other issuer or address than
 * the one it was given for.
 */
function unmasked(given: readonly unknown[], old: readonly unknown[], path: string, problems: Problem[]): unknown[] {
  const owners = ownersOf(given, old);
  return given.map((element, i) => {
    if (!holdsMask(element)) return element;
    const before = owners.get(i);
    const other = isObject(element) && isObject(before) && leadsElsewhere(before, element);
    if (other !== false) {
      problems.push({
        path: `${path}[${i}]`,
        message: `has another ${other} than its hidden value was given for. Send the value itself`,
      });
      return element;
    }
    if (isObject(element) && isObject(before)) {
      const whole = Object.entries(element).map(([key, value]) => [key, holdsMask(value) ? before[key] : value]);
      const kept = Object.fromEntries(whole) as Entry;
      if (JSON.stringify(maskDeep(kept)) === JSON.stringify(element)) return kept;
    }
    problems.push({
      path: `${path}[${i}]`,
      message: 'has a hidden value that there is none for. Send the value itself',
    });
    return element;
  });
}

/**
 * Which element each one was that hides something: the one that is shown just like it, or the one of its id, or of its
 * address, or without an id the one in its place. None where two could be meant that hide different things: it could
 * get the secret of the other.
 */
function ownersOf(given: readonly unknown[], old: readonly unknown[]): ReadonlyMap<number, unknown> {
  const shown = old.map((element) => JSON.stringify(maskDeep(element)));
  const sent = given.map((element) => JSON.stringify(element));
  const free = new Set(old.keys());
  const found = new Map<number, unknown>();
  const hiding = [...given.entries()].filter(([, element]) => isObject(element) && holdsMask(element));
  const each = (pick: (element: Readonly<Entry>, i: number) => readonly number[]): void => {
    for (const [i, element] of hiding) {
      const picked = isObject(element) && !found.has(i) ? pick(element, i).filter((j) => free.has(j)) : [];
      const [first] = picked;
      if (first === undefined) continue;
      const one = picked.length === 1 || picked.every((j) => isDeepStrictEqual(old[j], old[first]));
      found.set(i, one ? old[first] : undefined);
      if (one) free.delete(first);
    }
  };
  const at = places(shown);
  const times = places(sent);
  each((_, i) => {
    const [alike = [], same = []] = [at.get(sent[i] ?? ''), times.get(sent[i] ?? '')];
    return alike.length === same.length ? alike.slice(same.indexOf(i), same.indexOf(i) + 1) : alike;
  });
  const having = (member: 'id' | 'url', value: unknown) =>
    value === undefined ? [] : [...free].filter((j) => isObject(old[j]) && shownMember(old[j], member) === value);
  each(({ id }) => having('id', id));
  each(({ url }) => having('url', url));
  each(({ id }, i) => (id === undefined ? [i] : []));
  return found;
}

function shownMember(element: Readonly<Entry>, member: 'id' | 'url'): unknown {
  return maskDeep(element[member]);
}

/** Where in a list each text is. */
function places(texts: readonly string[]): ReadonlyMap<string, readonly number[]> {
  const all = new Map<string, number[]>();
  for (const [i, text] of texts.entries()) {
    const before = all.get(text);
    if (before) before.push(i);
    else all.set(text, [i]);
  }
  return all;
}
