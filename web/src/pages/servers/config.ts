import type { JsonObject } from '../../api/types.ts';
import { type Row, rowsOf, valuesOf } from '../../ui/key-values.tsx';

export const transports = ['stdio', 'streamable-http', 'sse', 'openapi'] as const;
export type Transport = (typeof transports)[number];

/** A server's configuration as fields. What has no field stays as it is, in `rest`. */
export interface Draft {
  readonly type: Transport;
  readonly command: string;
  /** One argument per line. */
  readonly args: string;
  readonly env: readonly Row[];
  readonly url: string;
  readonly headers: readonly Row[];
  readonly apiUrl: string;
  readonly description: string;
  readonly visibility: string;
  readonly shared: string;
  readonly timeout: string;
  readonly perSession: boolean;
  readonly rest: JsonObject;
}

export function draftOf(config: JsonObject, type: Transport): Draft {
  const {
    command,
    args,
    env,
    url,
    headers,
    openapi,
    description,
    visibility,
    sharedWithUsers,
    options,
    perSessionClient,
  } = config;
  const inner = (value: unknown, key: string) => (isObject(value) ? text(value[key]) : '');
  return {
    type,
    command: text(command),
    args: lines(args),
    env: rowsOf(env),
    url: text(url),
    headers: rowsOf(headers),
    apiUrl: inner(openapi, 'url'),
    description: text(description),
    visibility: text(visibility),
    shared: lines(sharedWithUsers),
    timeout: inner(options, 'timeout'),
    perSession: perSessionClient === true,
    rest: config,
  };
}

export const emptyDraft = draftOf({}, 'stdio');

/** The configuration of the fields that go with its transport, and of all that has no field. */
export function configOf(draft: Draft): Record<string, unknown> {
  const { type, rest } = draft;
  const { command: _c, args: _a, env: _e, url: _u, headers: _h, openapi, transport: _t, options, ...others } = rest;
  const timeout = draft.timeout.trim();
  const otherOptions = isObject(options)
    ? Object.fromEntries(Object.entries(options).filter(([key]) => key !== 'timeout'))
    : {};
  const allOptions = { ...otherOptions, ...(timeout !== '' && { timeout: Number(timeout) }) };
  const shared = split(draft.shared);
  const config = {
    ...others,
    type,
    ...(type === 'stdio' && { command: draft.command.trim(), args: split(draft.args) }),
    ...(type === 'stdio' && draft.env.length > 0 && { env: valuesOf(draft.env) }),
    ...((type === 'streamable-http' || type === 'sse') && { url: draft.url.trim() }),
    ...(type !== 'stdio' && draft.headers.length > 0 && { headers: valuesOf(draft.headers) }),
    ...(type === 'openapi' && { openapi: { ...(isObject(openapi) ? openapi : {}), url: draft.apiUrl.trim() } }),
    description: draft.description.trim(),
    visibility: draft.visibility,
    sharedWithUsers: shared,
    perSessionClient: draft.perSession,
    options: allOptions,
  };
  // What says nothing is left out.
  return Object.fromEntries(Object.entries(config).filter(([, value]) => !saysNothing(value)));
}

function saysNothing(value: unknown): boolean {
  if (value === '' || value === undefined || value === false) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
