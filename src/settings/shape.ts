import { z } from 'zod';
import { coreLimits } from '../core/limits.ts';
import { settingsLimits } from './limits.ts';
import type { Path } from './report.ts';
import { found, shown } from './report.ts';
import { smartRoutingShape } from './smart-routing.ts';

/**
 * The fields of `mcp_settings.json` (reference §4.1, §4.2), each optional, unknown ones passed over. They say what a
 * field may be; what fields mean together is decided by the code in this folder that reads them. `null` members are to
 * be dropped before (`withoutNulls`). REST bodies can use them too.
 */

const text = z.string();
const texts = z.array(z.string());
const flag = z.boolean();
const timeMs = range(1, coreLimits.timerMs, 'milliseconds');

const transportTypes = ['stdio', 'sse', 'streamable-http', 'openapi'] as const;
export type TransportType = (typeof transportTypes)[number];

/** Every spelling seen in the files of other programs, without case and punctuation. */
const transportWords: Readonly<Record<string, TransportType>> = {
  stdio: 'stdio',
  local: 'stdio',
  sse: 'sse',
  http: 'streamable-http',
  streamablehttp: 'streamable-http',
  streamable: 'streamable-http',
  httpstream: 'streamable-http',
  openapi: 'openapi',
};

const transportType = z.string().transform((word, context): TransportType => {
  const key = word.toLowerCase().replace(/[^a-z]/g, '');
  const type = Object.hasOwn(transportWords, key) ? transportWords[key] : undefined;
  if (type !== undefined) return type;
  context.addIssue({
    code: 'custom',
    message: `allowed: ${transportTypes.map((t) => `"${t}"`).join(', ')}; found ${shown(word, [])}`,
  });
  return z.NEVER;
});

/** Numbers and booleans are taken by their text, as every program that starts a process does. */
const scalar = z.union([z.string(), z.number(), z.boolean()], {
  error: (issue) => `expected string, found ${found(issue.input, ['env'])}`,
});
const scalars = z.record(z.string(), scalar);

export const visibility = z.enum(['private', 'group', 'public']);

/** One entry of `mcpServers`. */
export const serverShape = z.looseObject({
  type: transportType.optional(),
  transport: transportType.optional(),
  description: text.optional(),
  command: text.optional(),
  args: texts.optional(),
  env: scalars.optional(),
  cwd: text.optional(),
  url: text.optional(),
  serverUrl: text.optional(),
  httpUrl: text.optional(),
  headers: scalars.optional(),
  passthroughHeaders: texts.optional(),
  enabled: flag.optional(),
  disabled: flag.optional(),
  owner: text.optional(),
  visibility: visibility.optional(),
  publishedBy: text.optional(),
  sharedWithUsers: texts.optional(),
  credentialTemplate: z
    .array(
      z.looseObject({ target: z.enum(['env', 'headers']).optional(), name: text.optional(), label: text.optional() }),
    )
    .optional(),
  enableKeepAlive: flag.optional(),
  keepAliveInterval: timeMs.optional(),
  options: z
    .looseObject({
      timeout: timeMs.optional(),
      resetTimeoutOnProgress: flag.optional(),
      maxTotalTimeout: timeMs.optional(),
      maxBufferSize: range(1, settingsLimits.messageBytesMost, 'bytes').optional(),
    })
    .optional(),
  proxy: z.looseObject({ enabled: flag.optional() }).optional(),
  oauth: z
    .looseObject({
      clientId: text.optional(),
      clientSecret: text.optional(),
      redirectUri: text.optional(),
      scopes: texts.optional(),
      accessToken: text.optional(),
      refreshToken: text.optional(),
      resource: text.optional(),
      authorizationEndpoint: text.optional(),
      tokenEndpoint: text.optional(),
      revocationEndpoint: text.optional(),
      codeChallengeMethod: z.literal('S256').optional(),
      perUser: flag.optional(),
      dynamicRegistration: z
        .looseObject({
          enabled: flag.optional(),
          issuer: text.optional(),
          registrationEndpoint: text.optional(),
          initialAccessToken: text.optional(),
        })
        .optional(),
    })
    .optional(),
  perSessionClient: flag.optional(),
  era: z.enum(['auto', 'session', 'stateless']).optional(),
  startOnDemand: flag.optional(),
  idleTimeoutMs: timeMs.optional(),
  openapi: z
    .looseObject({
      url: text.optional(),
      version: text.optional(),
      passthroughHeaders: texts.optional(),
      baseUrl: text.optional(),
      serverVariables: scalars.optional(),
      mediaType: text.optional(),
      mediaTypes: z.record(z.string(), text).optional(),
    })
    .optional(),
  tools: z.looseObject({}).optional(),
  prompts: z.looseObject({}).optional(),
  resources: z.looseObject({}).optional(),
});

/** One value of a server's `tools`, `prompts`, `resources`. */
export const itemShape = z.looseObject({ enabled: flag.optional(), description: text.optional() });

/** `"all"` or names. */
const selection = z.union([z.literal('all'), texts], {
  error: (issue) => `expected "all" or an array of names, found ${found(issue.input, [])}`,
});

/** An element of a group's `servers` that is not just a name. */
export const groupServerShape = z.looseObject({
  name: text.optional(),
  alias: text.optional(),
  tools: selection.optional(),
  prompts: selection.optional(),
  resources: selection.optional(),
  pinnedTools: texts.optional(),
});

/** One element of `groups`. */
export const groupShape = z.looseObject({
  id: text.optional(),
  name: text.optional(),
  description: text.optional(),
  owner: text.optional(),
  visibility: visibility.optional(),
  sharedWithUsers: texts.optional(),
  servers: z.array(z.unknown()).optional(),
});

/** One element of `users`. */
export const userShape = z.looseObject({
  username: text.optional(),
  password: text.optional(),
  role: z.enum(['admin', 'user']).optional(),
  isAdmin: flag.optional(),
  email: text.optional(),
  servers: texts.optional(),
  groups: texts.optional(),
  createdAt: text.optional(),
  passwordIsInitial: flag.optional(),
  passwordIsWeak: flag.optional(),
});

/** One element of `bearerKeys`. */
export const keyShape = z.looseObject({
  id: text.optional(),
  name: text.optional(),
  token: text.optional(),
  tokenHash: text.optional(),
  enabled: flag.optional(),
  kind: z.enum(['system', 'user']).optional(),
  owner: text.optional(),
  accessType: z.enum(['all', 'groups', 'servers', 'custom']).optional(),
  allowedGroups: texts.optional(),
  allowedServers: texts.optional(),
  expiresAt: text.optional(),
});

/** `systemConfig`. What the hub does not use is passed over: a stray value there must not stop it. */
export const systemShape = z.looseObject({
  nameSeparator: text.optional(),
  listPageSize: range(0, coreLimits.listItems, 'items (0 = all in one page)').optional(),
  routing: z
    .looseObject({
      enableGlobalRoute: flag.optional(),
      enableBearerAuth: flag.optional(),
      bearerAuthKey: text.optional(),
      bearerAuthHeaderName: text.optional(),
      jsonBodyLimit: z.unknown().optional(),
      openApiAccess: z.enum(['open', 'authenticated', 'off']).optional(),
    })
    .optional(),
  network: z.looseObject({ allowedCidrs: texts.optional() }).optional(),
  activityLog: z.looseObject({ storeToolPayload: flag.optional(), storeSearchQueries: flag.optional() }).optional(),
  install: z.looseObject({ baseUrl: text.optional() }).optional(),
  auth: z
    .looseObject({
      // Strict: what is mistyped here would leave passwords as they must not be.
      passwordPolicy: z
        .strictObject({
          minLength: range(coreLimits.passwordMinChars, coreLimits.passwordMinCharsMost, 'characters').optional(),
          refuseCommon: flag.optional(),
        })
        .optional(),
    })
    .optional(),
  smartRouting: smartRoutingShape.optional(),
});

function range(least: number, most: number, unit: string) {
  const error = (issue: { readonly input?: unknown; readonly path?: PropertyKey[] | undefined }) => {
    const path: Path = (issue.path ?? []).filter((part) => typeof part !== 'symbol');
    return `expected a whole number from ${least} to ${most} ${unit}, found ${found(issue.input, path)}`;
  };
  return z.int({ error }).min(least, { error }).max(most, { error });
}
