import { Hono } from 'hono';
import { z } from 'zod';
import type { ImportAnswer } from '../../core/answers/imports.ts';
import { type HubError, listed } from '../../core/errors.ts';
import { invalid, parseInput } from '../../core/input.ts';
import type { Logger } from '../../core/logger.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { type Draft, type Editor } from '../../settings/document/document.ts';
import { isTooDeep } from '../../settings/document/read-part.ts';
import { addImported, type Checked, type ImportResult } from '../../settings/import/add-imported.ts';
import { type ClientConfig, type ImportedServer, parseClientConfig } from '../../settings/import/client-config.ts';
import { missingValues, withGivenValues } from '../../settings/import/missing-values.ts';
import { settingsLimits } from '../../settings/limits.ts';
import type { RequiredConfig } from '../../settings/server/required-config.ts';
import { serverNameProblem } from '../../settings/server/server-entry.ts';
import { checkServer } from '../../settings/server/check-server.ts';
import type { SettingsStore } from '../../settings/store.ts';
import { bodyText, jsonBody, refuseUnknown } from '../frame/body.ts';
import { adminOnly, type ApiEnv, changeAsAdmin, editorOf } from '../frame/caller.ts';
import { flagOf } from '../frame/query.ts';
import { ok, problemsFor } from '../frame/reply.ts';
import { adviceAtRequestPaths, placeOf, atRequestPaths } from '../frame/request-paths.ts';
import { problemTable } from '../../core/problems.ts';
import { saying } from '../../core/sentences.ts';

export interface ImportRoutes {
  /** Whether a variable is set for the settings of admins. */
  readonly isSet: (variable: string) => boolean;
  readonly settings: Pick<SettingsStore, 'change' | 'document'>;
  readonly log: Logger;
}

/**
 * `POST /servers/import`, for admins: servers from whatever a client's settings look like. The body is `{text}`, what
 * was pasted, with `names` to take only some of the servers, `rename` to give them other names, and `values` for what
 * they lack; any other JSON is taken for the settings themselves, `text/plain` for what was pasted. `?dryRun=true`
 * changes nothing and tells what would come of it. Answers what became of each server; when none was added that is a
 * failure.
 */
export function importRoutes({ settings, isSet, log }: ImportRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.post('/servers/import', adminOnly, async (c) => {
    const { caller } = c.var;
    const { username } = editorOf(caller);
    const dryRun = flagOf(c.req.query(), 'dryRun');
    const { text, names, rename, values } = await pasted(c.req.raw);
    checkNames(rename);
    const parsed = parseClientConfig(text);
    if (isTooDeep(parsed)) throw tooDeep();
    const { format, notes, problems } = parsed;
    if (parsed.servers.length === 0) throw nothingFound(parsed);
    const chosen = parsed.servers
      .filter(({ name }) => names?.includes(name) ?? true)
      .map((server) => completed(server, { rename, values }, isSet));
    const edit = (draft: Draft, by: Editor) => addImported(draft, by, chosen, checked);
    const servers = dryRun
      ? preview(edit(structuredClone(settings.document) as Draft, editorOf(caller)))
      : await changeAsAdmin(settings, caller, edit);
    const [good, skipped] = [servers.filter(isGood), servers.filter((server) => !isGood(server))];
    const left = parsed.groups ? [{ path: 'groups', message: problemTable.pasted_groups }] : [];
    const data: ImportAnswer = {
      dryRun,
      format,
      servers: servers.map(({ errors, ...server }) => ({
        ...server,
        ...(errors && { errors: problemsFor(c, errors) }),
      })),
      notes: problemsFor(c, [...notes, ...left]),
      problems: problemsFor(c, problems),
    };
    const why = skipped.map(({ name, message }) => `${name}: ${message.replace(/\.$/, '')}.`);
    const broken = problems.map(({ path, message }) => `${path} ${message}`.trim());
    if (broken.length > 0) why.push(`What cannot be used was left out: ${listed(broken)}.`);
    const message = (done: string) => [`${good.length} of ${servers.length} servers ${done}.`, ...why].join(' ');
    if (dryRun) return ok(c, data, { message: message('can be added') });
    if (good.length === 0) throw nothingAdded(servers);
    log.info('servers imported', { servers: good.map(({ name }) => name).join(', '), format, by: username });
    return ok(c, data, { message: message('added'), status: 201 });
  });

  return routes;
}

/** Throws HubError `invalid_input` for new names that no server may have; an empty one means the old one. */
function checkNames(rename: Pasted['rename']): void {
  const problems = Object.entries(rename ?? {}).flatMap(([path, name]) => {
    const message = name === '' ? undefined : serverNameProblem(name);
    return message === undefined ? [] : [{ path: `rename.${path}`, message }];
  });
  if (problems.length > 0) throw invalid('Cannot import the servers', problems);
}

/** The server under its new name, with the values that were given, and what it lacks still. */
function completed(
  { name, config, requiredConfig }: ImportedServer,
  { rename, values }: Pick<Pasted, 'rename' | 'values'>,
  isSet: (variable: string) => boolean,
): ImportedServer {
  const own = (of: Readonly<Record<string, unknown>> | null | undefined) => of && Object.hasOwn(of, name);
  const given = new Map(own(values) ? Object.entries(values?.[name] ?? {}) : []);
  const filled = withGivenValues(config, given);
  const isOpen = ({ key }: RequiredConfig) => (given.get(key) ?? '') === '';
  const asked = requiredConfig.filter(isOpen);
  const others = missingValues(filled, isSet).filter(({ key }) => asked.every((one) => one.key !== key));
  return { name: (own(rename) && rename?.[name]) || name, config: filled, requiredConfig: [...asked, ...others] };
}

function isGood({ status }: ImportResult): boolean {
  return status === 'created' || status === 'ready';
}

function checked(name: string, config: Readonly<Record<string, unknown>>): Checked {
  const { problems, warnings } = checkServer(name, config);
  const place = placeOf(name);
  return {
    errors: atRequestPaths(problems, place),
    advice: adviceAtRequestPaths(warnings, place, Object.keys(config)),
  };
}

/** `conflict` when it is names alone that are in the way. */
function nothingAdded(servers: readonly ImportResult[]): HubError {
  const attempt = 'Cannot import the servers: none was added';
  const problems = servers.map(({ name, message }) => ({ path: name, message }));
  if (servers.length === 0) return invalid(attempt, [{ path: 'names', message: 'name none of those in the text' }]);
  if (servers.some(({ status }) => status !== 'exists')) return invalid(attempt, problems);
  const names = listed(servers.map(({ name }) => name));
  return saying('conflict', 'names_taken', { attempt, names }, { problems });
}

function preview(results: readonly ImportResult[]): ImportResult[] {
  return results.map((result) =>
    result.status === 'created'
      ? { ...result, status: 'ready', message: result.message.replace(/^[^.]+\./, 'The server can be added.') }
      : result,
  );
}

const text = z.string().max(settingsLimits.credentialChars);
const pastedInput = z.object({
  text: z.string(),
  names: z.array(z.string()).nullish(),
  /** Other names, by the names in the text. */
  rename: z.record(z.string(), text).nullish(),
  /** By the names in the text: the values of `requiredConfig`, by key. */
  values: z.record(z.string(), z.record(z.string(), text)).nullish(),
});
type Pasted = z.infer<typeof pastedInput>;

/**
 * The body of `POST /servers/import`: a text that was pasted, or settings of any program, whose members are not for
 * this hub to know.
 */
export const importInput = z.union([pastedInput, z.record(z.string(), z.unknown())]);

async function pasted(request: Request): Promise<Pasted> {
  if (/^text\/plain\b/i.test(request.headers.get('content-type') ?? '')) return { text: await bodyText(request) };
  const body = await jsonBody(request);
  if (isObject(body) && 'text' in body) {
    refuseUnknown(body, new Set(Object.keys(pastedInput.shape)));
    return parseInput(pastedInput, body, 'Cannot import the servers');
  }
  if (isTooDeep(body)) throw tooDeep();
  return { text: JSON.stringify(body) };
}

function tooDeep(): HubError {
  return invalid('Cannot import the servers', [{ path: '', message: 'it is nested too deeply to be settings' }]);
}

function nothingFound({ problems }: ClientConfig) {
  const none = [{ path: 'text', message: problemTable.pasted_nothing }];
  const named = problems.map(({ path, message }) => ({ path: path === '' ? 'text' : path, message }));
  return invalid('Cannot import the servers', named.length > 0 ? named : none);
}
