import type { PageUri } from '../core/access/apps.ts';
import { listsFolders, servesSkills, sharedSkillUri, skillScheme } from '../core/access/skills.ts';
import type { View } from '../core/access/view.ts';
import type { ServerAbout } from '../core/catalogue.ts';
import { HubError } from '../core/errors.ts';
import { editObject, elements, memberText } from '../core/json/text.ts';
import type { LargeText } from '../core/json/large-text.ts';
import { ownServer } from '../core/own-items.ts';
import { isObject, resultText } from '../core/protocol/rpc.ts';
import { unknownTarget } from './failure.ts';
import { mcpLimits } from './limits.ts';
import { relayBy } from './relay/relay.ts';
import type { RelayOptions } from './relay/options.ts';
import type { Reply } from './reply.ts';
import type { Addressed, ClientRequest } from './request.ts';

/**
 * Skills of servers through the hub (extension `io.modelcontextprotocol/skills`). `skills/list` asks one server at a
 * time: a page of the hub's list is a page of a server's, and the cursor says which server is next. So all that holds
 * for a server's answers holds for these: credentials of users, bounds, eras, guards.
 */

type About = (server: string) => ServerAbout | undefined;

export interface SkillOptions extends RelayOptions {
  readonly about: About;
}

const listMethod = 'skills/list';
const folderMethod = 'resources/directory/read';
const methods: ReadonlySet<string> = new Set([listMethod, 'skills/get', folderMethod]);

type Endpoint = Pick<View, 'kind' | 'servers' | 'hasOwnSkills'>;

/** The servers of an endpoint that have skills, in its order; the hub itself among them. */
function skillServers({ kind, servers, hasOwnSkills }: Endpoint, about: About): readonly string[] {
  const having = servers.filter((name) => servesSkills(about(name) ?? { capabilities: [] }));
  if (!hasOwnSkills) return having;
  return kind === 'server' ? [...having, ownServer] : [ownServer, ...having];
}

/** What an endpoint says of the extension; undefined where no server of it has skills. */
export function skillsCapability(view: Endpoint, about: About): { directoryRead?: true } | undefined {
  const servers = skillServers(view, about);
  if (servers.length === 0) return undefined;
  const all = servers.every((name) => name === ownServer || listsFolders(about(name) ?? { capabilities: [] }));
  return all ? { directoryRead: true } : {};
}

/** True when the request is about skills, and is answered. Throws HubError, as `relay` does. */
export function answerSkills(request: ClientRequest, options: SkillOptions): boolean {
  if (!methods.has(request.method)) return false;
  const capability = skillsCapability(request.view, options.about);
  if (!capability || (request.method === folderMethod && !capability.directoryRead)) return false;
  if (request.method === listMethod) answerPage(request, options);
  else relayBy((asked) => skillNamed(asked, options.about), request, options);
  return true;
}

/** What is no skill of a server that has skills is not found, whatever else has that URI. */
function skillNamed(request: ClientRequest, about: About): Addressed {
  const uri = isObject(request.message.params) ? request.message.params['uri'] : undefined;
  if (typeof uri !== 'string') throw new HubError('invalid_input', `${request.method} needs params.uri, a string.`);
  const target = request.view.resource(uri);
  if (!target || !skillServers(request.view, about).includes(target.server)) throw unknownTarget(request);
  return { target, edits: { uri: JSON.stringify(target.key) } };
}

/** A place in the list of an endpoint: a server, and its own cursor. */
interface Place {
  readonly server: string;
  readonly cursor?: string | undefined;
}

function answerPage(request: ClientRequest, options: SkillOptions): void {
  const servers = skillServers(request.view, options.about);
  const place = placeOf(request, servers);
  const after = servers[servers.indexOf(place.server) + 1];
  const page = new PageReply(request, place, after === undefined ? undefined : { server: after }, (why) =>
    options.log.warn('skills of a server are left out of a list: it did not answer', { server: place.server, why }),
  );
  // The only server with skills speaks for itself, also of what went wrong.
  page.isAlone = servers.length === 1;
  const find = (asked: ClientRequest): Addressed => {
    if (!skillServers(asked.view, options.about).includes(place.server)) throw unknownTarget(asked);
    const target = { server: place.server, key: listMethod, pageUri: uriOf(asked.view, place.server) };
    return { target, edits: { cursor: place.cursor === undefined ? null : JSON.stringify(place.cursor) } };
  };
  try {
    relayBy(find, { ...request, reply: page }, options);
  } catch (error) {
    if (page.isAlone || !(error instanceof HubError)) throw error;
    page.leaveOut(error.message);
  }
}

function uriOf({ kind }: View, server: string): PageUri | undefined {
  if (kind === 'server' || server === ownServer) return undefined;
  return (uri) => (uri.startsWith(skillScheme) ? sharedSkillUri(server, uri) : uri);
}

function placeOf({ message }: ClientRequest, servers: readonly string[]): Place {
  const { cursor } = isObject(message.params) ? message.params : {};
  const [first] = servers;
  if (cursor === undefined && first !== undefined) return { server: first };
  const [server, own] = typeof cursor === 'string' ? partsOf(cursor) : [];
  if (typeof server === 'string' && servers.includes(server) && (own === undefined || typeof own === 'string'))
    return { server, cursor: own };
  const text = 'Invalid cursor: it was not given out for this list. Start again without a cursor.';
  throw new HubError('invalid_input', text);
}

function partsOf(cursor: string): readonly unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}

function cursorTo({ server, cursor }: Place): string {
  const parts = cursor === undefined ? [server] : [server, cursor];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** Makes of a page of a server one of the endpoint. */
class PageReply implements Reply {
  isAlone = false;
  readonly #request: ClientRequest;
  readonly #place: Place;
  readonly #after: Place | undefined;
  readonly #failed: (why: string) => void;
  /** Missing where the client cannot be asked. */
  ask?: (text: string) => boolean;

  constructor(request: ClientRequest, place: Place, after: Place | undefined, failed: (why: string) => void) {
    this.#request = request;
    this.#place = place;
    this.#after = after;
    this.#failed = failed;
    const { reply } = request;
    if (reply.ask) this.ask = (text) => reply.ask?.(text) ?? false;
  }

  get gone(): (() => void) | undefined {
    return this.#request.reply.gone;
  }

  set gone(gone: (() => void) | undefined) {
    this.#request.reply.gone = gone;
  }

  notify(text: string): void {
    this.#request.reply.notify(text);
  }

  answer(text: string, status?: number): void {
    const result = memberText(text, 'result');
    if (result !== undefined) return this.#request.reply.answer(resultText(this.#request.id, this.#pageOf(result)));
    if (this.isAlone) return this.#request.reply.answer(text, status);
    this.leaveOut(String(memberText(memberText(text, 'error') ?? '{}', 'message')).slice(0, 300));
  }

  answerBytes(head: string, body: LargeText, tail: string): void {
    this.answer(head + body.toString() + tail);
  }

  answerLarge(head: string, result: LargeText, tail: string): void {
    this.answer(head + result.toString() + tail);
  }

  /** An empty page in place of a server that does not answer: the others' skills are still there. */
  leaveOut(why: string): void {
    this.#failed(why);
    const { id, stateless, reply } = this.#request;
    const more = stateless ? ',"resultType":"complete","ttlMs":0,"cacheScope":"private"' : '';
    const next = this.#after ? `,"nextCursor":"${cursorTo(this.#after)}"` : '';
    reply.answer(resultText(id, `{"skills":[]${next}${more}}`));
  }

  #pageOf(result: string): string {
    const skills = elements(memberText(result, 'skills') ?? '[]').slice(0, mcpLimits.skillsInPage);
    const cursor = memberText(result, 'nextCursor');
    const own: unknown = cursor === undefined ? undefined : JSON.parse(cursor);
    const goesOn = typeof own === 'string' && own !== '' && own.length <= mcpLimits.skillCursorChars;
    const next = goesOn ? { server: this.#place.server, cursor: own } : this.#after;
    return editObject(result, {
      skills: `[${skills.filter((one) => this.#isReadable(one)).join(',')}]`,
      nextCursor: next ? `"${cursorTo(next)}"` : null,
      // It is what this caller may read.
      ...(this.#request.stateless && { cacheScope: '"private"' }),
    });
  }

  /** Whether the caller may read it here, at this server: what is hidden as a resource is no skill either. */
  #isReadable(skill: string): boolean {
    const uri: unknown = JSON.parse(memberText(skill, 'uri') ?? 'null');
    return typeof uri === 'string' && this.#request.view.resource(uri)?.server === this.#place.server;
  }
}
