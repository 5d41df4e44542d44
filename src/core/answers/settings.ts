import {
  anyObject,
  count,
  flag,
  listOf,
  number,
  object,
  oneOf,
  openObject,
  orNull,
  ref,
  saying,
  type Schema,
  type Shape,
  text,
  texts,
  time,
  yes,
} from './schema.ts';
import { named as namedText } from './failures.ts';
import { type ReasonCode, reasonTable } from '../reasons.ts';

// Groups, people and servers, as the API answers them.

const textsByName: Schema<Readonly<Record<string, string>>> = { type: 'object', additionalProperties: text };
const everything: Schema<'all'> = { const: 'all' };
const selection: Schema<'all' | readonly string[]> = {
  anyOf: [everything, texts],
  description: '"all", or exactly the items named.',
};
const visibility = oneOf(['private', 'group', 'public']);
const role = oneOf(['admin', 'user']);
const callLimits = saying(
  'How much may be called: in any 60 seconds, at the same time, in a day (UTC).',
  object({}, { callsPerMinute: count, concurrentCalls: count, callsPerDay: count }),
);
const counts: Schema<Readonly<Record<string, number>>> = { type: 'object', additionalProperties: count };

// Groups

export const group = object(
  { id: text, name: text, description: text, servers: texts, owner: text, sharedWithUsers: texts },
  { visibility, limits: callLimits, maxResultTokens: count },
);
export type Group = Shape<typeof group>;

/** What a group shows of one of its servers. */
export const groupServer = object(
  { name: text, tools: selection, prompts: selection, resources: selection },
  {
    alias: text,
    pinnedTools: texts,
    overrides: saying('What the group shows of tools in place of what their server says, by its own names.', anyObject),
  },
);
export type GroupServer = Shape<typeof groupServer>;

/** An override of a tool, and the tool without and with it. */
export const toolOverride = object(
  {
    tool: saying("The server's own name of it.", text),
    override: saying('As the settings have it; `null`: none.', orNull(anyObject)),
    before: saying('The tool as its server has it; `null` while the server has not listed it.', orNull(anyObject)),
    after: saying('The tool as clients get it.', orNull(anyObject)),
  },
  {
    said: saying('Where there is a `message`: its sentences by name, for pages in other languages.', listOf(namedText)),
  },
);
export type ToolOverrideAnswer = Shape<typeof toolOverride>;

/** A prompt of the hub itself. */
export const builtinPrompt = openObject(
  { id: text, name: text, template: saying('`{{name}}` stands for the argument of that name.', text), enabled: flag },
  { title: text, description: text, arguments: listOf(openObject({ name: text }, { required: flag })) },
);
export type BuiltinPrompt = Shape<typeof builtinPrompt>;

/** A resource of the hub itself. */
export const builtinResource = openObject(
  { id: text, uri: text, content: text, enabled: flag },
  { name: text, description: text, mimeType: text },
);
export type BuiltinResource = Shape<typeof builtinResource>;

// People

const account = { username: text, role, isAdmin: flag };
const reach = { servers: texts, groups: texts };

export const user = object(
  { ...account, ...reach },
  {
    email: text,
    createdAt: text,
    secondFactor: saying('The user has a second factor.', flag),
    limits: callLimits,
    ended: saying(
      'What a new password ended.',
      object({
        sessions: flag,
        keys: listOf(object({ id: text, name: text })),
        grants: listOf(object({ id: text, clientName: text })),
      }),
    ),
  },
);
export type User = Shape<typeof user>;

/** The caller. */
export const me = object(
  { ...account, ...reach },
  {
    email: text,
    createdAt: text,
    passwordIsInitial: saying('The password is the one that the hub made up.', flag),
    passwordIsWeak: flag,
    mustSetUpSecondFactor: saying('Every other route is answered 403 until a second factor is set up.', flag),
  },
);
export type Me = Shape<typeof me>;

export const login = object(
  { success: yes, message: text, user: object(account) },
  {
    token: saying('Not in the answer to a login with `cookie`.', text),
    recoveryCodesLeft: saying('When a recovery code was used.', count),
  },
);
export const loggedIn = object({ success: yes, user: ref<Me>('Me'), data: ref<Me>('Me') });

export const userStatistics = object({
  totalUsers: count,
  adminUsers: count,
  regularUsers: count,
  usersPerServer: counts,
  usersPerGroup: counts,
});
export type UserStatistics = Shape<typeof userStatistics>;

export const accessKey = object(
  {
    id: text,
    name: text,
    token: saying('Masked, except in the answer that creates or rotates it.', text),
    enabled: flag,
    kind: oneOf(['system', 'user']),
    accessType: oneOf(['all', 'groups', 'servers', 'custom']),
    allowedGroups: texts,
    allowedServers: texts,
    readOnly: saying('It reaches only tools that their server annotates `readOnlyHint: true`.', flag),
    allowedAddresses: saying('IP addresses and ranges that the key is accepted from. None: from anywhere.', texts),
  },
  {
    owner: text,
    expiresAt: saying('Without it the key does not expire.', time),
    lastUsedAt: saying('Written down once a minute. Without it: not within 400 days.', time),
    limits: callLimits,
    previousUntil: saying('The token before the last rotation is accepted until then.', time),
  },
);
export type AccessKey = Shape<typeof accessKey>;

/** A login in a browser. */
export const loginSession = object({
  id: text,
  via: saying('`password`, or `oidc:` and the id of a provider.', text),
  createdAt: time,
  lastSeenAt: time,
  address: text,
  userAgent: saying('As the browser calls itself.', text),
  current: saying('The session of this request.', flag),
});
export type LoginSession = Shape<typeof loginSession>;

/** What the caller has set up for a second factor. No secret is in it. */
export const secondFactor = object({
  totp: saying('Codes of an authenticator app count, since then.', orNull(object({ since: time }))),
  passkeys: listOf(
    object(
      { id: text, name: text, createdAt: time, host: saying('Where it was made; browsers use it there alone.', text) },
      { lastUsedAt: time },
    ),
  ),
  recoveryCodesLeft: count,
  required: saying('`systemConfig.auth.requireSecondFactor` demands one of the caller.', flag),
});
export type SecondFactor = Shape<typeof secondFactor>;

/** A client that a user let in by OAuth. */
export const oauthGrant = object({
  id: text,
  username: text,
  clientName: saying('As the client calls itself.', text),
  clientHost: saying('Where it gets its codes.', text),
  resource: saying('The MCP endpoint it is for.', text),
  scope: saying('`mcp`, or `mcp api` if it may manage the hub as its user.', text),
  reach: saying('`all`, or names of groups and servers.', texts),
  createdAt: time,
  lastUsedAt: saying('When it last got or used a token.', time),
});
export type OAuthGrant = Shape<typeof oauthGrant>;

/** A server that users use with credentials of their own, and what one of them has set there. */
export const userCredential = object(
  {
    name: saying('The server.', text),
    serverName: text,
    slots: listOf(
      object(
        {
          key: saying('What its value is called in `values`.', text),
          target: oneOf(['env', 'headers', 'args']),
          name: text,
          configured: flag,
        },
        { label: text },
      ),
    ),
    configured: saying('Every slot has a value.', flag),
    configuredSlots: texts,
    updatedAt: orNull(time),
  },
  { description: text },
);
export type UserCredential = Shape<typeof userCredential>;

// Servers

/** What an answer has of each tool, prompt and resource, beside what its server says of it. */
const item = {
  description: text,
  defaultDescription: saying("The server's own description.", text),
  hasDescriptionOverride: flag,
  enabled: flag,
};
const named = {
  ...item,
  name: saying('As clients see it.', text),
  originalName: saying("The server's own name.", text),
};

export const tool = openObject(named, {
  hasOverride: saying('The settings say more of it than a description.', yes),
  title: text,
  inputSchema: anyObject,
  outputSchema: anyObject,
  annotations: anyObject,
});
export type Tool = Shape<typeof tool>;

export const prompt = openObject(named, {
  title: text,
  arguments: listOf(openObject({ name: text }, { description: text, required: flag })),
});
export type Prompt = Shape<typeof prompt>;

export const resource = openObject(item, {
  title: text,
  name: text,
  uri: text,
  uriTemplate: text,
  mimeType: text,
});
export type Resource = Shape<typeof resource>;

const reason = object({
  code: saying('What is wrong, by name.', oneOf(Object.keys(reasonTable) as ReasonCode[])),
  values: saying('What `text` and `advice` name.', textsByName),
  text: saying('What is wrong, in English.', text),
  advice: saying('What to do about it, in English.', text),
});
export type ServerReason = Shape<typeof reason>;

const aboutServer = {
  name: text,
  type: oneOf(['stdio', 'auto', 'streamable-http', 'sse', 'openapi', 'invalid']),
  owner: text,
  enabled: flag,
  status: oneOf(['connecting', 'connected', 'asleep', 'disconnected', 'oauth_required', 'disabled']),
  error: orNull(text),
  attempts: count,
};
const moreAboutServer = {
  description: text,
  visibility,
  sharedWithUsers: texts,
  reason: saying('Of who manages it: `error` by name, where it is a known one.', reason),
  output: saying('Of who manages it: what the server said last, in the last attempt that failed.', text),
  phase: saying(
    'While `connecting`: a launcher such as npx installs the package, the program starts, or it has said something and is being met. `error` is why the last attempt failed.',
    oneOf(['installing', 'starting', 'handshake']),
  ),
  phaseSince: saying('Since when it is in this phase.', time),
  waiting: saying('While `connecting`: other starts come first.', flag),
  unsetVariables: saying('Of who manages it: `${NAME}`s of its settings that are not set, and count as empty.', texts),
  nextRetryAt: time,
  lastConnectedAt: time,
  payloadsKeptUntil: saying('While arguments and results of its calls are kept: until when.', time),
  version: text,
  icon: saying('A picture that the server has of itself, as a `data:` URL.', text),
  instructions: text,
  protocolVersion: text,
  oauth: object(
    {},
    {
      authorizationUrl: saying('Where to sign in, for who can.', { ...text, format: 'uri' }),
      perUser: saying('Each user signs in alone.', flag),
      signedIn: saying('With `perUser`: whether you are.', flag),
    },
  ),
  credentials: saying(
    'Of a server that each user uses with credentials of their own (`/credentials`): whether you have set yours.',
    object({ configured: flag }),
  ),
};

const items = {
  tools: listOf(ref<Tool>('Tool')),
  prompts: listOf(ref<Prompt>('Prompt')),
  resources: listOf(ref<Resource>('Resource')),
  resourceTemplates: listOf(ref<Resource>('Resource')),
};

/** An element of a list of servers. */
export const server = object({ ...aboutServer, ...items }, moreAboutServer);
export type Server = Shape<typeof server>;
export type ServerStatus = Server['status'];

/** What a program in a sandbox reaches. */
const sandbox = object(
  { network: oneOf(['none', 'host']), read: texts, write: texts },
  {
    memoryMb: count,
    cpus: saying('Processor cores, in parts of one too.', number),
    processes: count,
    unbounded: saying(
      'Why these three do not hold on this machine.',
      oneOf(['no_group', 'no_controller', 'no_right', 'shared_group']),
    ),
  },
);

/** A single server. */
export const serverDetails = object(
  { ...aboutServer, ...items, config: saying('Secrets are masked as "••••".', anyObject) },
  {
    ...moreAboutServer,
    configRestricted: saying('The caller sees the server, and may not change it.', flag),
    sandbox: saying('Of programs: the sandbox that it runs in, or null. For those who may change it.', orNull(sandbox)),
  },
);
export type ServerDetails = Shape<typeof serverDetails>;

const itemCount = object({
  total: count,
  enabled: count,
  tokens: saying('An estimate of what the enabled ones cost a client that lists them.', count),
});
export type ItemCount = Shape<typeof itemCount>;

/** A server with numbers in place of its items. */
export const serverSummary = object(
  {
    ...aboutServer,
    managed: saying('The caller may change it.', flag),
    tools: itemCount,
    prompts: itemCount,
    resources: itemCount,
  },
  moreAboutServer,
);
export type ServerSummary = Shape<typeof serverSummary>;

/** A server with the names of its tools alone. */
export const serverNames = object(
  { name: text, enabled: flag, managed: flag, tools: texts },
  {
    titles: saying('Of the tools that have one, by name.', textsByName),
    descriptions: saying('Their beginnings, by name, where tools were searched (`q`).', textsByName),
  },
);
export type ServerNames = Shape<typeof serverNames>;

export const batchResult = object({ name: text, success: flag, message: text });
