import { activityKinds, activityStatuses } from '../../core/activity.ts';
import { anyObject, count, flag, listOf, number, object, ref, type Schema, text, texts, time } from './operation.ts';

const selection: Schema = { anyOf: [{ const: 'all' }, texts], description: '"all", or exactly the items named.' };
const visibility: Schema = { enum: ['private', 'group', 'public'] };
const role: Schema = { enum: ['admin', 'user'] };
const channels = object({ words: number, grams: number, meaning: number, server: number });
const reportedTool = { name: text, serverName: text, toolName: text, description: text };
const counts: Schema = { type: 'object', additionalProperties: count };

/**
 * What answers consist of (SPEC, Resources and their fields; CONTRACT §4). Tests hold the answers of a running hub
 * against them.
 */
export const schemas: Readonly<Record<string, Schema>> = {
  Failure: object(
    { success: { const: false }, message: text },
    {
      errors: listOf(object({ path: text, message: text })),
      requestId: text,
      error: { ...text, description: '`reauthenticate`, `oauth_required`: what a program can do about it.' },
    },
  ),
  BareFailure: object({ error: text, message: text }, { errors: listOf(object({ path: text, message: text })) }),
  Pagination: object({
    page: count,
    limit: count,
    total: count,
    totalPages: count,
    hasNextPage: flag,
    hasPrevPage: flag,
  }),
  Group: object(
    { id: text, name: text, description: text, servers: texts, owner: text, sharedWithUsers: texts },
    { visibility },
  ),
  GroupServerConfig: object(
    { name: text, tools: selection, prompts: selection, resources: selection },
    { alias: text, pinnedTools: texts },
  ),
  User: object(
    { username: text, role, isAdmin: flag, servers: texts, groups: texts },
    {
      email: text,
      createdAt: text,
      ended: {
        ...object({ sessions: flag, keys: listOf(object({ id: text, name: text })) }),
        description: 'What a new password ended.',
      },
    },
  ),
  UserStatistics: object({
    totalUsers: count,
    adminUsers: count,
    regularUsers: count,
    usersPerServer: counts,
    usersPerGroup: counts,
  }),
  AccessKey: object(
    {
      id: text,
      name: text,
      token: { type: 'string', description: 'Masked, except in the answer that creates it.' },
      enabled: flag,
      kind: { enum: ['system', 'user'] },
      accessType: { enum: ['all', 'groups', 'servers', 'custom'] },
      allowedGroups: texts,
      allowedServers: texts,
    },
    { owner: text, expiresAt: time },
  ),
  Server: object(
    {
      name: text,
      type: text,
      owner: text,
      enabled: flag,
      status: { enum: ['connecting', 'connected', 'disconnected', 'oauth_required', 'disabled'] },
      error: { type: ['string', 'null'] },
      attempts: count,
      tools: listOf(anyObject),
      prompts: listOf(anyObject),
      resources: listOf(anyObject),
      resourceTemplates: listOf(anyObject),
    },
    {
      description: text,
      visibility,
      sharedWithUsers: texts,
      phase: {
        enum: ['installing', 'starting', 'handshake'],
        description:
          'While `connecting`: a launcher such as npx installs the package, the program starts, or it has said something and is being met. `error` is why the last attempt failed.',
      },
      phaseSince: { ...time, description: 'Since when it is in this phase.' },
      waiting: { type: 'boolean', description: 'While `connecting`: other starts come first.' },
      nextRetryAt: time,
      lastConnectedAt: time,
      version: text,
      instructions: text,
      protocolVersion: text,
      config: { type: 'object', description: 'Only with a single server. Secrets are masked as "••••".' },
      configRestricted: flag,
      oauth: object(
        {},
        {
          authorizationUrl: { type: 'string', format: 'uri', description: 'Where to sign in, for who can.' },
          perUser: { type: 'boolean', description: 'Each user signs in alone.' },
          signedIn: { type: 'boolean', description: 'With `perUser`: whether you are.' },
        },
      ),
    },
  ),
  BatchResult: object({ name: text, success: flag, message: text }),
  ToolResult: object(
    { content: listOf(anyObject), isError: { type: 'boolean', description: 'The tool itself reports failure.' } },
    { structuredContent: anyObject, toolName: text, arguments: anyObject },
  ),
  SearchReport: object(
    {
      query: text,
      searched: { type: 'integer', minimum: 0, description: 'How many tools could have been found.' },
      threshold: number,
      confident: flag,
      results: listOf(object({ ...reportedTool, score: number }, { channels })),
      dropped: listOf(
        object(
          { ...reportedTool, reason: { enum: ['threshold', 'unavailable', 'not_in_group', 'switched_off'] } },
          { score: number, channels },
        ),
      ),
    },
    { degraded: text },
  ),
  LogEntry: object({
    id: count,
    timestamp: time,
    level: { enum: ['debug', 'info', 'warn', 'error'] },
    service: { type: 'string', description: 'hub, gateway, api, search, or server:<name>.' },
    message: text,
  }),
  Activity: object(
    {
      id: text,
      timestamp: time,
      kind: { enum: activityKinds },
      server: text,
      tool: text,
      duration: { type: 'number', description: 'Milliseconds; the same as durationMs.' },
      durationMs: number,
      status: { enum: activityStatuses },
      principal: { enum: ['anonymous', 'user', 'key'] },
      resultBytes: count,
    },
    {
      errorMessage: text,
      username: text,
      keyId: text,
      keyName: text,
      group: text,
      scope: text,
      sourceIp: text,
      traceId: text,
      input: text,
      output: text,
      searchId: text,
      query: text,
      searchRank: count,
      results: listOf(object({ server: text, tool: text, score: number })),
      uses: listOf(
        object({ kind: { enum: activityKinds }, server: text, tool: text, status: text, timestamp: time, rank: count }),
      ),
    },
  ),
  ActivityStatistics: object({
    totalCalls: count,
    successCount: count,
    errorCount: count,
    avgDuration: number,
    search: object({ searches: count, empty: count, used: count, meanRank: number, firstShare: number }),
  }),
  Login: object({
    success: { const: true },
    message: text,
    token: text,
    user: object({ username: text, role, isAdmin: flag }),
  }),
  LoggedIn: object({ success: { const: true }, user: ref('User'), data: ref('User') }),
};
