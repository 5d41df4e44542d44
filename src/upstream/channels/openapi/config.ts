import { z } from 'zod';

import { HubError } from '../../../core/errors.ts';
import type { ServerChoice } from './servers.ts';

/** How one kind of request proves who it is. Shapes follow MCPHub's `openapi.security`. */
export type Security =
  | { readonly type: 'none' }
  | {
      readonly type: 'apiKey';
      readonly name: string;
      readonly in: 'header' | 'query' | 'cookie';
      readonly value: string;
    }
  | { readonly type: 'basic' | 'bearer'; readonly credentials: string }
  | ClientCredentials;

/**
 * OAuth 2.0 client credentials (RFC 6749 §4.4): fetched from `tokenUrl`, unless the settings have only a token that was
 * obtained in another way.
 */
export interface ClientCredentials {
  readonly type: 'oauth2';
  readonly tokenUrl: string | undefined;
  readonly clientId: string | undefined;
  readonly clientSecret: string | undefined;
  readonly scope: string | undefined;
  readonly token: string | undefined;
  /** When that token ends, milliseconds since the epoch. */
  readonly expiresAt: number | undefined;
}

export interface OpenapiConfig {
  /** Where the document is, or the document itself (an object, or its JSON or YAML text). */
  readonly source: { readonly url: URL } | { readonly schema: unknown };
  readonly security: Security;
  /** For fetching the document; what `security` says unless `specSecurity` says otherwise. */
  readonly documentSecurity: Security;
  /** Where the API is, whatever the document says. */
  readonly servers: ServerChoice;
  readonly media: MediaChoice;
  /** Cookies that the API sets are kept, for each session of a client. */
  readonly cookieSession: boolean;
}

/** The media types of request bodies, as the operator wants them where an operation takes several. */
export interface MediaChoice {
  readonly preferred: string | undefined;
  /** By the name of the tool. */
  readonly byTool: Readonly<Record<string, string>>;
}

/**
 * Reads a server's `openapi` settings, placeholders already filled in; unknown members are left alone. Throws HubError
 * `misconfigured` with every problem by path.
 */
export function readConfig(server: string, settings: Readonly<Record<string, unknown>>): OpenapiConfig {
  const parsed = shape.safeParse(settings);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => ({ path: ['openapi', ...path].join('.'), message }));
  const list = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new HubError('misconfigured', `Cannot use the OpenAPI settings of server "${server}": ${list}.`, { problems });
}

const text = z.string().trim().min(1, 'must not be empty');
const optionalText = z
  .string()
  .trim()
  .nullish()
  .transform((found) => (found === '' || found === null ? undefined : found));

const apiKey = z
  .object({
    type: z.literal('apiKey'),
    apiKey: z.object({ name: text, in: z.enum(['header', 'query', 'cookie']), value: text }),
  })
  .transform(({ type, apiKey: key }): Security => ({ type, ...key }));

const http = z
  .object({
    type: z.literal('http'),
    http: z.object({
      scheme: z
        .string()
        .trim()
        .toLowerCase()
        .pipe(z.enum(['basic', 'bearer'])),
      credentials: text,
    }),
  })
  .transform(({ http: { scheme, credentials } }): Security => ({ type: scheme, credentials }));

const oauth2 = z
  .object({
    type: z.literal('oauth2'),
    oauth2: z.object({
      tokenUrl: optionalText,
      clientId: optionalText,
      clientSecret: optionalText,
      scopes: z.union([z.array(z.string()), z.string()]).nullish(),
      token: optionalText,
      expiresAt: z.number().nullish(),
    }),
  })
  .transform(({ type, oauth2: { scopes, expiresAt, ...rest } }, context): Security => {
    const fetches = rest.tokenUrl !== undefined && rest.clientId !== undefined;
    if (!fetches && rest.token === undefined)
      return refuse(context, 'oauth2', 'give tokenUrl and clientId, or a token');
    if (rest.tokenUrl !== undefined && httpUrl(rest.tokenUrl) === undefined) {
      return refuse(context, 'oauth2.tokenUrl', 'must be an http or https URL');
    }
    const scope = Array.isArray(scopes) ? scopes.join(' ') : scopes;
    return { type, ...rest, scope: scope || undefined, expiresAt: expiresAt ?? undefined };
  });

const openIdConnect = z
  .object({ type: z.literal('openIdConnect'), openIdConnect: z.object({ token: optionalText }) })
  .transform(({ openIdConnect: { token } }, context): Security => {
    if (token !== undefined) return { type: 'bearer', credentials: token };
    return refuse(
      context,
      'openIdConnect.token',
      'give a token, or use type "oauth2" with the tokenUrl of the provider',
    );
  });

const none = z.object({ type: z.literal('none') });
const security = z.union([z.discriminatedUnion('type', [none, apiKey, http, oauth2, openIdConnect])]);

const shape = z
  .object({
    url: optionalText,
    schema: z.union([z.record(z.string(), z.unknown()), z.string()]).nullish(),
    security: security.nullish(),
    specSecurity: security.nullish(),
    baseUrl: optionalText,
    serverVariables: z.record(z.string(), z.union([z.string(), z.number()]).transform(String)).nullish(),
    mediaType: optionalText,
    mediaTypes: z.record(z.string(), text).nullish(),
    cookieSession: z.boolean().nullish(),
  })
  .transform(({ url, schema, security: api, specSecurity, ...own }, context): OpenapiConfig => {
    const open: Security = { type: 'none' };
    const baseUrl = own.baseUrl === undefined ? undefined : httpUrl(own.baseUrl);
    if (own.baseUrl !== undefined && baseUrl === undefined)
      return refuse(context, 'baseUrl', 'must be an http or https URL');
    if (baseUrl !== undefined && (baseUrl.search !== '' || baseUrl.username !== '' || baseUrl.password !== ''))
      return refuse(context, 'baseUrl', 'must have no query and no login; credentials go into "security"');
    const common = {
      security: api ?? open,
      documentSecurity: specSecurity ?? api ?? open,
      servers: { baseUrl: baseUrl?.href, variables: own.serverVariables ?? {} },
      media: { preferred: own.mediaType, byTool: own.mediaTypes ?? {} },
      cookieSession: own.cookieSession === true,
    };
    const parsed = url === undefined ? undefined : httpUrl(url);
    if (parsed !== undefined) return { ...common, source: { url: parsed } };
    if (url !== undefined) return refuse(context, 'url', 'must be an http or https URL');
    if (schema === undefined || schema === null || schema === '')
      return refuse(context, 'url', 'give the "url" of the document, or the document as "schema"');
    return { ...common, source: { schema } };
  });

function refuse(context: z.RefinementCtx, path: string, message: string): never {
  context.addIssue({ code: 'custom', path: path.split('.'), message });
  return z.NEVER;
}

function httpUrl(url: string): URL | undefined {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  return parsed !== undefined && /^https?:$/.test(parsed.protocol) ? parsed : undefined;
}
