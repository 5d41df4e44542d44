import { HubError } from '../core/errors.ts';
import { type Principal, principalId } from '../core/access/principal.ts';
import { coreLimits } from '../core/limits.ts';
import { errorResponseText, isObject, type RpcMessage, rpcErrors } from '../core/protocol/rpc.ts';
import { metaKeys, statelessRevision } from '../core/protocol/stateless.ts';
import type { Target, View, Views } from '../core/access/view.ts';
import type { ClientRequest, FindTarget } from './request.ts';
import { createKnownTasks, type Known } from './known-tasks.ts';
import { mcpLimits } from './limits.ts';
import { type DecidedBy, forbiddenNow, type MadeCall, madeCall } from './made-call.ts';
import type { FinishedCall } from './records.ts';
import { forbidden } from './relay/admission.ts';
import type { Sessions } from './sessions.ts';

/**
 * The requests about a task: of 2025-11-25 (Tasks), and of the extension `io.modelcontextprotocol/tasks` of 2026-07-28.
 */
export const taskMethods: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/cancel', 'tasks/update']);

/** The extension of 2026-07-28 that has them. */
const tasksExtension = 'io.modelcontextprotocol/tasks';

/**
 * Whether a request is one about a task. 2026-07-28 removed `tasks/result`, since `tasks/get` gives the result there;
 * a server with sessions gives it in no other way, so that it stays for the tasks of such servers. `revisionOf`: what
 * the server speaks, as far as it is known.
 */
export function isTaskRequest(
  request: ClientRequest,
  tasks: Pick<Tasks, 'serverOf'>,
  revisionOf: (server: string) => string | undefined,
): boolean {
  if (!taskMethods.has(request.method)) return false;
  if (!request.stateless || request.method !== 'tasks/result') return true;
  const server = tasks.serverOf(request);
  const revision = server === undefined ? undefined : revisionOf(server);
  return revision !== undefined && revision !== statelessRevision;
}

/**
 * The answer to a client of 2026-07-28 that asks about a task and does not declare the extension, as JSON text (the
 * extension, Capability negotiation); undefined for every other.
 */
export function undeclaredTasks({ stateless, message, method, id }: ClientRequest): string | undefined {
  if (!stateless) return undefined;
  const meta = isObject(message.params) ? message.params['_meta'] : undefined;
  const declared = isObject(meta) ? meta[metaKeys.clientCapabilities] : undefined;
  const extensions = isObject(declared) ? declared['extensions'] : undefined;
  if (isObject(extensions) && isObject(extensions[tasksExtension])) return undefined;
  const text = `${method} needs a client that declares the extension ${tasksExtension}.`;
  const requiredCapabilities = { extensions: { [tasksExtension]: {} } };
  return errorResponseText(id, rpcErrors.missingClientCapability, text, { requiredCapabilities });
}

/**
 * Whose task is at which server. A task belongs to the principal whose call made it, for whom it exists as long as the
 * tool that made it; for all others there is no such task. While a policy forbids the call, requests about its task
 * are refused. Kept in memory: a restart of the hub forgets it, as a
 * restart of a server forgets the task.
 */
export interface Tasks {
  /** Looks whether the answer to a call is a task. */
  learn(call: FinishedCall): void;
  /**
   * Where a request about a task goes. Throws HubError `invalid_input`, or `not_found` alike for what is not there and
   * what is another's, or `policy`.
   */
  readonly addressed: FindTarget;
  /** The server that has the task of a request about it; undefined where `addressed` throws. */
  serverOf(request: ClientRequest): string | undefined;
  /**
   * `notifications/tasks/status`: told to the session whose call made the task, as long as it sees the tool that did
   * and no policy forbids the call. `text` is made only then.
   */
  changed(server: string, message: RpcMessage, text: () => string, sessions: Pick<Sessions, 'byId'>): void;
  /** Whether a server has a task whose result may still be asked for. */
  isOpenAt(server: string): boolean;
  readonly size: number;
}

export interface TasksOptions extends DecidedBy {
  readonly views: Views;
  /**
   * A value that changes as soon as the server may use the ids of its tasks again: for other clients, or as another
   * server of that name.
   */
  readonly life: (server: string) => unknown;
}

export function createTasks(options: TasksOptions, now: () => number = Date.now): Tasks {
  const { views, life } = options;
  const tasks = createKnownTasks(life, now);
  /** The task that a request names, where its caller has it and sees its tool. */
  function seen(request: ClientRequest): Known | undefined {
    const id = taskOf(request);
    const known = id === undefined ? undefined : tasks.find(principalId(request.principal), id);
    return known && isVisible(known.target, request.view) ? known : undefined;
  }

  /** The answer to a request about a task may be its last one. */
  function learnEnd({ request: { method }, target: { server, key }, outcome, answer }: FinishedCall): void {
    const known = outcome === 'ok' ? tasks.at(server, key) : undefined;
    if (known && (method !== 'tasks/get' || isLast(answer))) known.isOver = true;
  }

  return {
    learn(call) {
      const { request, target, outcome, answer } = call;
      if (endingMethods.has(request.method)) return learnEnd(call);
      if (request.method !== 'tools/call' || outcome !== 'ok' || typeof answer !== 'string') return;
      // A handle is short; what is long is not looked through for one.
      if (answer.length > mcpLimits.taskHandleChars || !answer.includes('"taskId"')) return;
      const task = taskIn(JSON.parse(answer) as unknown);
      if (!task) return;
      const owner = principalId(request.principal);
      // The first server that named it keeps it, and so does the first owner: another server must not draw its requests
      // to itself, nor be made to by another client.
      if (tasks.find(owner, task.id) || tasks.at(target.server, task.id)) return;
      const sid = request.session?.facts.sid;
      tasks.add(task.id, {
        target,
        ...callOf(request, target),
        owner,
        sid,
        life: life(target.server),
        expiresAt: now() + (task.ttlMs ?? mcpLimits.taskMs),
      });
    },
    serverOf: (request) => seen(request)?.target.server,
    addressed(request) {
      const id = taskOf(request);
      if (id === undefined) throw new HubError('invalid_input', `${request.method} needs params.taskId, a string.`);
      const known = seen(request);
      if (!known) throw new HubError('not_found', `Unknown task: ${id.slice(0, 300)}`);
      const refused = refusalOf(known, request.principal, options);
      if (refused) throw refused;
      return { target: { server: known.target.server, key: id }, edits: {} };
    },
    changed(server, message, text, sessions) {
      const id = taskOf({ message });
      const known = id === undefined ? undefined : tasks.at(server, id);
      const session = sessions.byId(known?.sid ?? '');
      if (!known || !session) return;
      const { principal, scope } = session.facts;
      if (isVisible(known.target, views.get(principal, scope)) && !refusalOf(known, principal, options))
        session.send(text());
    },
    isOpenAt: (server) => tasks.isOpenAt(server),
    get size() {
      return tasks.size;
    },
  };
}

/** Why its caller may not use it now; undefined where no policy forbids the call that made it. */
function refusalOf({ call, argsText }: Known, principal: Principal, by: DecidedBy): HubError | undefined {
  const made =
    argsText === undefined
      ? { ...call, args: {}, unclear: () => 'its arguments are not kept any more.' }
      : { ...call, args: JSON.parse(argsText) as MadeCall['args'] };
  const policy = forbiddenNow(principal, made, by);
  return policy && forbidden(policy.policy, policy.message, call.target);
}

function callOf(request: ClientRequest, target: Target): Pick<Known, 'call' | 'argsText'> {
  const { args, ...call } = madeCall(request, target);
  const argsText = JSON.stringify(args);
  return { call, argsText: argsText.length > coreLimits.policyArgumentChars ? undefined : argsText };
}

/** The task that a message names. */
function taskOf({ message }: { readonly message: RpcMessage }): string | undefined {
  const id = isObject(message.params) ? message.params['taskId'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

/** The task that a result is: a handle in `task` (2025-11-25), or the result itself (`resultType: "task"`). */
function taskIn(result: unknown): { id: string; ttlMs: number | undefined } | undefined {
  if (!isObject(result)) return undefined;
  const task = result['resultType'] === 'task' ? result : result['task'];
  if (!isObject(task) || typeof task['taskId'] !== 'string') return undefined;
  const ttl = task['ttlMs'] ?? task['ttl'];
  // It is known here a little longer than the server keeps it; after that the server's own answer counts.
  const ttlMs = typeof ttl === 'number' && ttl > 0 ? Math.min(ttl * 2 + 60_000, mcpLimits.taskMs) : undefined;
  return { id: task['taskId'], ttlMs };
}

/** After these a task may be over; those of `tasks/get` and `tasks/cancel` say it. */
const endingMethods: ReadonlySet<string> = new Set(['tasks/get', 'tasks/result', 'tasks/cancel']);

/** Whether what a task's state says is the last word of it: it failed, or its result is there (2026-07-28). */
function isLast(answer: FinishedCall['answer']): boolean {
  if (typeof answer !== 'string' || answer.length > mcpLimits.taskHandleChars) return answer !== undefined;
  const state: unknown = JSON.parse(answer);
  if (!isObject(state)) return false;
  return state['status'] === 'failed' || state['status'] === 'cancelled' || state['result'] !== undefined;
}

/** Also of a tool for apps alone, which pages call. */
function isVisible(target: Target, { all }: View): boolean {
  return all.targets.some(({ server, key }) => server === target.server && key === target.key);
}
