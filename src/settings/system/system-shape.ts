import { z } from 'zod';
import { coreLimits } from '../../core/limits.ts';
import { problemTable } from '../../core/problems.ts';
import { callLimitsShape } from '../document/call-limits.ts';
import { settingsLimits } from '../limits.ts';
import {
  flag,
  pinMode,
  range,
  resultTokens,
  sandboxShape,
  secretsInCallsShape,
  text,
  texts,
} from '../document/shape.ts';
import { authShape } from './auth-shape.ts';
import { guardsShape } from './guards-shape.ts';
import { policiesShape } from './policies-shape.ts';
import { smartRoutingShape } from './smart-routing-shape.ts';

const webhookShape = z.strictObject({
  url: z.string().regex(/^https?:\/\/\S+$|\$\{/, problemTable.http_address),
  secret: text.optional(),
});

/** `systemConfig`. What the hub does not use is passed over: a stray value there must not stop it. */
export const systemShape = z.looseObject({
  nameSeparator: text.optional(),
  listPageSize: range(0, coreLimits.listItems, 'items').optional(),
  routing: z
    .looseObject({
      enableGlobalRoute: flag.optional(),
      enableGroupNameRoute: flag.optional(),
      enableBearerAuth: flag.optional(),
      bearerAuthKey: text.optional(),
      bearerAuthHeaderName: text.optional(),
      jsonBodyLimit: z.unknown().optional(),
      openApiAccess: z.enum(['open', 'authenticated', 'off']).optional(),
    })
    .optional(),
  oauthServer: z
    .looseObject({
      enabled: flag.optional(),
      dynamicRegistration: z.looseObject({ enabled: flag.optional() }).optional(),
    })
    .optional(),
  network: z.looseObject({ allowedCidrs: texts.optional() }).optional(),
  activityLog: z.looseObject({ storeToolPayload: flag.optional(), storeSearchQueries: flag.optional() }).optional(),
  install: z
    .looseObject({ baseUrl: text.optional(), npmRegistry: text.optional(), pythonIndexUrl: text.optional() })
    .optional(),
  auth: authShape.optional(),
  smartRouting: smartRoutingShape.optional(),
  codeMode: z
    .strictObject({
      timeoutSeconds: range(1, settingsLimits.codeSecondsMost, 'seconds').optional(),
      memoryMb: range(8, settingsLimits.codeMemoryMbMost, 'megabytes').optional(),
      calls: range(1, settingsLimits.codeCallsMost, 'calls').optional(),
    })
    .optional(),
  skills: z
    .strictObject({
      folder: text.refine((path) => !path.includes('${'), 'is a path without placeholders').optional(),
    })
    .optional(),
  maxResultTokens: resultTokens.optional(),
  toolResultCompression: z.looseObject({ enabled: flag.optional(), maxOutputTokens: z.number().optional() }).optional(),
  limits: z.strictObject({ default: callLimitsShape.optional() }).optional(),
  pins: z.strictObject({ mode: pinMode.optional() }).optional(),
  sandbox: z.strictObject({ default: sandboxShape.optional() }).optional(),
  secretsInCalls: secretsInCallsShape.optional(),
  policies: policiesShape.optional(),
  policyFolder: text.optional(),
  guards: guardsShape.optional(),
  audit: z
    .strictObject({
      webhook: webhookShape.optional(),
      syslog: z
        .strictObject({
          host: z.string().regex(/^[\w.:-]{1,255}$/, 'must be a name or an address'),
          port: range(1, 65_535, 'port'),
          protocol: z.enum(['udp', 'tcp']).default('udp'),
        })
        .optional(),
    })
    .optional(),
  approvals: z
    .strictObject({
      expireSeconds: range(
        settingsLimits.approvalSecondsLeast,
        settingsLimits.approvalSecondsMost,
        'seconds',
      ).optional(),
      webhook: webhookShape.optional(),
    })
    .optional(),
});
