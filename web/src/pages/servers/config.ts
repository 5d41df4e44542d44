import type { JsonObject } from '../../api/types.ts';
import { isObject } from '../../lib/json.ts';
import { type LimitsDraft, limitsDraft, limitsOf } from '../../lib/limits.ts';
import { type Row, rowsOf, valuesOf } from '../../ui/key-values.tsx';

/** `auto` is an address that says nothing of its transport: both are tried. It is written by leaving `type` out. */
export const transports = ['stdio', 'auto', 'streamable-http', 'sse', 'openapi'] as const;
export type Transport = (typeof transports)[number];

/** A server's configuration as fields. */
export interface Draft {
  readonly type: Transport;
  readonly command: string;
  /** One argument per line. */
  readonly args: string;
  readonly env: readonly Row[];
  readonly url: string;
  readonly headers: readonly Row[];
  readonly apiUrl: string;
  /** Where the API is, in place of what its document says. */
  readonly apiBase: string;
  readonly description: string;
  readonly visibility: string;
  readonly shared: string;
  readonly timeout: string;
  readonly perSession: boolean;
  readonly onDemand: boolean;
  readonly idle: string;
  /** `own`: with what the three fields below say. */
  readonly sandbox: 'default' | 'own' | 'off';
  /** What it may take at most; empty: as much as there is. */
  readonly memoryMb: string;
  readonly cpus: string;
  readonly processes: string;
  readonly network: boolean;
  /** One path per line. */
  readonly read: string;
  readonly write: string;
  readonly limits: LimitsDraft;
  /** Empty: as the settings of the hub say. */
  readonly pins: string;
  /** Tokens that a result may have; empty: as the hub has it. */
  readonly most: string;
  /** What becomes of secrets in arguments and in results; empty: as the hub has it. */
  readonly secretsIn: string;
  readonly secretsOut: string;
  /** What each user sets, a slot per line: `env.TOKEN Label`. */
  readonly template: string;
  /** What the fields were made of. What has no field, and what is not edited, stays as it is here. */
  readonly rest: JsonObject;
  readonly restType: Transport;
}

export function draftOf(config: JsonObject, type: Transport): Draft {
  const { command, args, env, headers, openapi, options } = config;
  const { description, visibility, sharedWithUsers, perSessionClient, credentialTemplate } = config;
  const { startOnDemand, idleTimeoutMs, sandbox } = config;
  const inner = (value: unknown, key: string) => (isObject(value) ? text(value[key]) : '');
  return {
    type,
    command: text(command),
    args: lines(args),
    env: rowsOf(env),
    url: text(config['url'] ?? config['serverUrl'] ?? config['httpUrl']),
    headers: rowsOf(headers),
    apiUrl: inner(openapi, 'url'),
    apiBase: inner(openapi, 'baseUrl'),
    description: text(description),
    visibility: text(visibility),
    shared: lines(sharedWithUsers),
    timeout: inner(options, 'timeout'),
    perSession: perSessionClient === true,
    onDemand: startOnDemand === true,
    idle: text(idleTimeoutMs),
    sandbox: isObject(sandbox) ? 'own' : sandbox === false ? 'off' : 'default',
    network: isObject(sandbox) && sandbox['network'] === 'host',
    read: isObject(sandbox) ? lines(sandbox['read']) : '',
    write: isObject(sandbox) ? lines(sandbox['write']) : '',
    memoryMb: inner(sandbox, 'memoryMb'),
    cpus: inner(sandbox, 'cpus'),
    processes: inner(sandbox, 'processes'),
    limits: limitsDraft(config['limits']),
    pins: inner(config['pins'], 'mode'),
    most: text(config['maxResultTokens']),
    secretsIn: inner(config['secretsInCalls'], 'arguments'),
    secretsOut: inner(config['secretsInCalls'], 'results'),
    template: slotLines(credentialTemplate),
    rest: config,
    restType: type,
  };
}

/** Of a new server: the chosen transport is always written, because there is no configuration yet that has it. */
export const emptyDraft: Draft = { ...draftOf({}, 'stdio'), restType: 'auto' };

/** The transport of a configuration, as the hub would find it. */
export function transportOf(config: JsonObject): Transport | undefined {
  const said = config['type'] ?? config['transport'];
  if (said !== undefined) return transports.find((each) => each === said);
  if (config['openapi'] !== undefined) return 'openapi';
  if (config['command'] !== undefined || config['container'] !== undefined) return 'stdio';
  if (config['url'] !== undefined || config['serverUrl'] !== undefined) return 'auto';
  return config['httpUrl'] === undefined ? undefined : 'streamable-http';
}

/** True for an API whose document stands in the configuration itself. */
export function hasInlineDocument({ rest: { openapi } }: Draft): boolean {
  return isObject(openapi) && openapi['schema'] !== undefined;
}

/** Members that say how a server is reached. Those of `marks` replace all of them when they are sent. */
const transportMembers = [
  'type',
  'transport',
  'command',
  'args',
  'env',
  'cwd',
  'url',
  'serverUrl',
  'httpUrl',
  'headers',
  'openapi',
];
const marks = ['type', 'transport', 'command', 'url', 'serverUrl', 'httpUrl', 'openapi'];

/** The configuration that the fields describe. */
export function configOf(draft: Draft): JsonObject {
  const { rest } = draft;
  const old = draftOf(rest, draft.restType);
  const others = without(rest, [
    ...transportMembers,
    'description',
    'visibility',
    'sharedWithUsers',
    'perSessionClient',
    'startOnDemand',
    'idleTimeoutMs',
    'sandbox',
    'limits',
    'pins',
    'maxResultTokens',
    'secretsInCalls',
    'credentialTemplate',
    'options',
  ]);
  const { timeout } = draft;
  const options = {
    ...without(isObject(rest['options']) ? rest['options'] : {}, ['timeout']),
    ...(timeout.trim() !== '' && { timeout: Number(timeout) }),
  };
  const own = (unchanged: boolean, member: string, value: unknown) => said(member, unchanged ? rest[member] : value);
  return {
    ...others,
    ...reachOf(draft, old),
    ...own(draft.description === old.description, 'description', draft.description.trim()),
    ...own(draft.visibility === old.visibility, 'visibility', draft.visibility),
    ...own(draft.shared === old.shared, 'sharedWithUsers', split(draft.shared)),
    ...own(draft.perSession === old.perSession, 'perSessionClient', draft.perSession),
    ...own(draft.onDemand === old.onDemand, 'startOnDemand', draft.onDemand),
    ...own(draft.idle === old.idle, 'idleTimeoutMs', draft.idle === '' ? undefined : Number(draft.idle)),
    ...sandboxOf(draft, old),
    ...own(JSON.stringify(draft.limits) === JSON.stringify(old.limits), 'limits', limitsOf(draft.limits) ?? undefined),
    ...own(draft.pins === old.pins, 'pins', draft.pins === '' ? undefined : { mode: draft.pins }),
    ...own(draft.most === old.most, 'maxResultTokens', draft.most === '' ? undefined : Number(draft.most)),
    ...own(draft.secretsIn === old.secretsIn && draft.secretsOut === old.secretsOut, 'secretsInCalls', {
      ...said('arguments', draft.secretsIn),
      ...said('results', draft.secretsOut),
    }),
    ...own(draft.template === old.template, 'credentialTemplate', slotsOf(draft.template)),
    ...own(timeout === old.timeout, 'options', options),
  };
}

/** An empty sandbox says something, and so does `false`. */
function sandboxOf(draft: Draft, old: Draft): JsonObject {
  const { sandbox, network, read, write, rest } = draft;
  if (sandboxMembers.every((member) => draft[member] === old[member])) return only(rest, ['sandbox']);
  if (sandbox === 'default') return {};
  if (sandbox === 'off') return { sandbox: false };
  const bounds = boundMembers.filter((member) => draft[member] !== '');
  return {
    sandbox: {
      network: network ? 'host' : 'none',
      ...said('read', split(read)),
      ...said('write', split(write)),
      ...Object.fromEntries(bounds.map((member) => [member, boundOf(member, draft[member])])),
    },
  };
}

/**
 * The number that a text is. What is none is sent as it is, so that the hub says what is wrong with it. Parts of a
 * processor may be written with a comma.
 */
function boundOf(member: (typeof boundMembers)[number], text: string): number | string {
  const value = Number(member === 'cpus' ? text.replace(',', '.') : text);
  return text.trim() === '' || !Number.isFinite(value) ? text : value;
}

/** Fields of a sandbox that are numbers. */
export const boundMembers = ['memoryMb', 'cpus', 'processes'] as const;
const sandboxMembers = ['sandbox', 'network', 'read', 'write', ...boundMembers] as const;

function reachOf(draft: Draft, old: Draft): JsonObject {
  const { type, rest } = draft;
  const isProgram = type === 'stdio';
  const wasProgram = old.type === 'stdio';
  const kind = type === old.type ? only(rest, ['type', 'transport']) : said('type', type === 'auto' ? undefined : type);
  const env = sameRows(draft.env, old.env) ? rest['env'] : valuesOf(draft.env);
  const headers = sameRows(draft.headers, old.headers) ? rest['headers'] : valuesOf(draft.headers);
  if (isProgram) {
    return {
      ...kind,
      ...said('command', draft.command === old.command ? rest['command'] : draft.command.trim()),
      // An argument may be empty, or of several lines, which the field cannot tell from several arguments.
      ...said('args', draft.args === old.args ? rest['args'] : split(draft.args)),
      ...said('env', env),
      ...only(rest, ['cwd']),
    };
  }
  return {
    ...kind,
    ...(type === 'openapi' ? said('openapi', apiOf(draft, old)) : addressOf(draft, old)),
    ...said('headers', headers),
    // What headers of a remote server may name; of a program, it goes with that.
    ...(!wasProgram && said('env', env)),
  };
}

function addressOf(draft: Draft, old: Draft): JsonObject {
  const isSame = draft.url === old.url && draft.url !== '';
  return isSame ? only(draft.rest, ['url', 'serverUrl', 'httpUrl']) : { url: draft.url.trim() };
}

function apiOf({ apiUrl, apiBase, rest }: Draft, old: Draft): unknown {
  const openapi = isObject(rest['openapi']) ? rest['openapi'] : {};
  const isSame = apiUrl === old.apiUrl && rest['openapi'] !== undefined;
  if (isSame && apiBase === old.apiBase) return rest['openapi'];
  const document = isSame ? only(openapi, ['url', 'schema']) : { url: apiUrl.trim() };
  return { ...without(openapi, ['url', 'schema', 'baseUrl']), ...document, ...said('baseUrl', apiBase.trim()) };
}

/**
 * What has to be sent to make `next` of `before`: the members that differ, and null for those that are gone. The others
 * are not sent, so that changes of other users to them stay.
 */
export function changesOf(before: JsonObject, next: JsonObject): JsonObject {
  const members = [...new Set([...Object.keys(before), ...Object.keys(next)])];
  const changed = members.filter((member) => JSON.stringify(before[member]) !== JSON.stringify(next[member]));
  const changes = Object.fromEntries(changed.map((member) => [member, next[member] ?? null]));
  const replaces = marks.some((member) => (changes[member] ?? null) !== null);
  return replaces ? { ...changes, ...only(next, transportMembers) } : changes;
}

/** The configuration after what `changesOf` gives. */
export function withChanges(config: JsonObject, changes: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...config, ...changes }).filter(([, value]) => value !== null));
}

/** What was changed of a draft. */
export function editsOf(before: Draft, next: Draft): Partial<Draft> {
  const changed = Object.entries(next).filter(([field, value]) => before[field as keyof Draft] !== value);
  return Object.fromEntries(changed);
}

/** A member, unless it says nothing. */
function said(member: string, value: unknown): JsonObject {
  return saysNothing(value) ? {} : { [member]: value };
}

function saysNothing(value: unknown): boolean {
  if (value === '' || value === undefined || value === false) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function only(config: JsonObject, members: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(config).filter(([member]) => members.includes(member)));
}

function without(config: JsonObject, members: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(config).filter(([member]) => !members.includes(member)));
}

function sameRows(one: readonly Row[], other: readonly Row[]): boolean {
  return JSON.stringify(valuesOf(one)) === JSON.stringify(valuesOf(other));
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

function lines(value: unknown): string {
  return Array.isArray(value) ? value.map((each) => text(each)).join('\n') : '';
}

function split(value: string): string[] {
  return value.split('\n').filter((line) => line.trim() !== '');
}

function slotLines(value: unknown): string {
  const slots = Array.isArray(value) ? value.filter(isObject) : [];
  return slots.map(({ target, name, label }) => `${text(target)}.${text(name)} ${text(label)}`.trim()).join('\n');
}

/** A line without a point has no target, which the hub then says. */
function slotsOf(value: string): JsonObject[] {
  return split(value).map((line) => {
    const [, key = '', label = ''] = /^\s*(\S+)\s*(.*?)\s*$/.exec(line) ?? [];
    const point = key.indexOf('.');
    const slot = point === -1 ? { name: key } : { target: key.slice(0, point), name: key.slice(point + 1) };
    return { ...slot, ...(label !== '' && { label }) };
  });
}
