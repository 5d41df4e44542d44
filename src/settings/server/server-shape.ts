import { z } from 'zod';
import { shown } from '../document/report.ts';
import { callLimitsShape } from '../document/call-limits.ts';
import {
  flag,
  pinMode,
  range,
  sandboxShape,
  resultTokens,
  scalars,
  secretsInCallsShape,
  text,
  texts,
  timeMs,
  visibility,
} from '../document/shape.ts';
import { overrideMembers } from '../document/tool-override.ts';
import { settingsLimits } from '../limits.ts';

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

/** One entry of `mcpServers`. */
export const serverShape = z.looseObject({
  type: transportType.optional(),
  transport: transportType.optional(),
  description: text.optional(),
  command: text.optional(),
  args: texts.optional(),
  env: scalars.optional(),
  cwd: text.optional(),
  container: z
    .strictObject({ image: z.string().regex(/^[a-z0-9][\w./:@-]{0,254}$/i, 'must be the name of an image') })
    .optional(),
  sandbox: z.union([z.literal(false), sandboxShape]).optional(),
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
  keepPayloadsUntil: z.iso
    .datetime({ offset: true, error: 'must be a time such as "2026-11-25T12:00:00Z"' })
    .optional(),
  sharedWithUsers: texts.optional(),
  credentialTemplate: z
    .array(
      z.looseObject({
        target: z.enum(['env', 'headers', 'args']).optional(),
        name: text.optional(),
        label: text.optional(),
      }),
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
  maxResultTokens: resultTokens.optional(),
  limits: callLimitsShape.optional(),
  pins: z.strictObject({ mode: pinMode.optional() }).optional(),
  secretsInCalls: secretsInCallsShape.optional(),
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

/** One value of a server's `prompts`, `resources`. */
export const itemShape = z.looseObject({ enabled: flag.optional(), description: text.optional() });

/** One value of a server's `tools`. */
export const toolShape = itemShape.extend({ ...overrideMembers, maxResultTokens: resultTokens.optional() });
