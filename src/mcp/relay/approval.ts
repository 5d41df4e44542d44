import { randomUUID } from 'node:crypto';
import { actorOf } from '../../core/audit.ts';
import { HubError } from '../../core/errors.ts';
import { shownJson, visible } from '../../core/json/shown.ts';
import { type Edits, memberText } from '../../core/json/text.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { ServerRequest } from '../../core/protocol/server-requests.ts';
import { type ApprovalQuestion, argumentsForCaller } from '../../governance/approvals.ts';
import type { Round } from '../../governance/call-counts.ts';
import { mcpLimits } from '../limits.ts';
import { abilitiesFor, type ClientRequest } from '../request.ts';
import type { RoundPass } from '../server-requests/request-state.ts';
import type { Admission, Governance } from './admission.ts';

/** An admission that is not settled yet. */
export interface WaitingAdmission extends Admission {
  /** The end of what it counts against limits, where it is counted already. */
  readonly counted: (() => void) | Promise<() => void> | undefined;
  /** The request is another round of a call that was approved before, as the state in it says. */
  readonly pass: RoundPass | undefined;
  /** Of a call that was counted before. */
  readonly round: Round | undefined;
}

/** What of a call is needed to ask a person about it. */
export interface AskingCall {
  readonly request: ClientRequest;
  readonly options: { readonly governance: Governance };
  /** Aborts when the call is over. */
  readonly left: AbortController;
  asked(ask: ServerRequest): void;
  approvals: CallApprovals;
}

/** The ids of the kept approvals that a call passed by. */
export interface CallApprovals {
  /** Used up for it. */
  readonly used: readonly string[];
  /** Used up for an earlier round of it, and the use of this one. */
  readonly earlier: readonly { readonly id: string; readonly use: string }[];
}

/** One object for all calls that ask no one. */
export const noApprovals: CallApprovals = { used: [], earlier: [] };

/** What lets the next round of the call pass, once. */
export function nextPass({ used, earlier }: CallApprovals): RoundPass | undefined {
  const approvals = [...used, ...earlier.map(({ id }) => id)];
  return approvals.length > 0 ? { approvals, use: randomUUID() } : undefined;
}

/** A yes is good for one call that is made: one that ends before it was sent gives it back. */
export function giveBackApprovals({ approvals, options }: Pick<AskingCall, 'approvals' | 'options'>): void {
  for (const id of approvals.used) void options.governance.approvals.giveBack(id);
  for (const { id, use } of approvals.earlier) void options.governance.approvals.giveBack(id, use);
}

/**
 * Waits for the yes of a person; gives the changes of the request's params from then on. Throws HubError `approval`,
 * also for a client that cannot ask its user, and `cancelled` when the caller has left.
 */
export async function approvedEdits(call: AskingCall, admission: WaitingAdmission, edits: Edits): Promise<Edits> {
  const { question, pass } = admission;
  const { approvals } = call.options.governance;
  if (!question) return edits;
  if (question.who !== 'caller') {
    const { signal } = call.left;
    const passed = pass && (await approvals.passRound(question, pass));
    if (!pass || passed === undefined) await byOthers(call, question);
    else if (signal.aborted) void approvals.giveBack(passed, pass.use);
    else call.approvals = { ...call.approvals, earlier: [...call.approvals.earlier, { id: passed, use: pass.use }] };
    return edits;
  }
  const before = call.request;
  await byCaller(call, question);
  if (call.request === before) return edits;
  // A stateless client came back with another request: what it answered was for the hub, and not for the server.
  const responses = memberText(before.params ?? '{}', 'inputResponses');
  return { inputResponses: responses ?? null, requestState: null, ...edits };
}

/** A client that wants progress hears what its call waits for, again and again, so that it does not give up. */
async function byOthers(call: AskingCall, question: ApprovalQuestion): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const { approvals } = call.options.governance;
  try {
    const id = await approvals.approved(question, call.left.signal, () => {
      const meta = memberText(call.request.params ?? '{}', '_meta');
      const progressToken = meta === undefined ? undefined : memberText(meta, 'progressToken');
      if (progressToken === undefined) return;
      let times = 0;
      const tell = (): void => call.request.reply.notify(waitingText(progressToken, times++, question));
      tell();
      timer = setInterval(tell, mcpLimits.approvalProgressMs).unref();
    });
    // It has ended meanwhile, without this one.
    if (call.left.signal.aborted) void approvals.giveBack(id);
    else call.approvals = { ...call.approvals, used: [...call.approvals.used, id] };
  } finally {
    clearInterval(timer);
  }
}

/** Progress has to grow: what the hub says stays below what the server will. */
function waitingText(progressToken: string, times: number, { who, server, tool }: ApprovalQuestion): string {
  const asked = who === 'admin' ? 'an admin' : `the group ${who}`;
  const message = `Waiting for approval by ${asked}: ${tool} of server "${server}".`;
  const params = `{"progressToken":${progressToken},"progress":${times / 1_000_000},"message":${JSON.stringify(message)}}`;
  return `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`;
}

interface Answered extends Pick<ApprovalQuestion, 'server' | 'tool' | 'policy'> {
  /** What the caller is told as its id. */
  readonly approval: string;
  readonly isYes: boolean;
}

/** A caller can be asked as often as it calls, so its answers are counted. */
function recordAnswer({ request, options }: AskingCall, { server, tool, policy, approval, isYes }: Answered): void {
  const { audit, settings } = options.governance;
  audit.counted({
    actor: actorOf(settings(), request.principal),
    address: request.address,
    via: request.via ?? 'mcp',
    action: 'approval.decide',
    target: `${server}/${tool}`,
    after: { decision: isYes ? 'approve' : 'deny', policy, approval },
    result: isYes ? 'success' : 'refused',
  });
}

/** Asks the client, which asks its user (elicitation; 2025-11-25 and 2026-07-28). */
function byCaller(call: AskingCall, question: ApprovalQuestion): Promise<void> {
  const { server, tool, policy, message } = question;
  const approval = randomUUID();
  if (!abilitiesFor(call.request).includes('f'))
    throw new HubError(
      'approval',
      `The policy "${policy}" wants the yes of the person who makes this call, and this client cannot ask for it (elicitation). Use a client that can.`,
      { data: { policy, approval } },
    );
  const args = argumentsForCaller(question);
  const cut = `\n… (${args.length} characters in all)`;
  const shown = shownJson(args.slice(0, mcpLimits.approvalChars)) + (args.length > mcpLimits.approvalChars ? cut : '');
  const params = {
    message: `${message ?? `The policy "${policy}" asks before this call.`}\n\n${visible(tool)} (${server})\n${shown}`,
    requestedSchema: { type: 'object', properties: {} },
  };
  return new Promise((resolve, reject) => {
    const refuse = (why: string): void => reject(new HubError('approval', why, { data: { policy, approval } }));
    call.left.signal.addEventListener('abort', () => refuse('The caller has left.'), { once: true });
    call.asked({
      server,
      method: 'elicitation/create',
      params,
      paramsText: JSON.stringify(params),
      answer(member, text) {
        const answer: unknown = JSON.parse(text);
        const isYes = member === 'result' && isObject(answer) && answer['action'] === 'accept';
        recordAnswer(call, { server, tool, policy, approval, isYes });
        if (isYes) resolve();
        else
          refuse(
            `The person who was asked did not say yes to ${tool} of server "${server}". Do not make the call again as it is.`,
          );
      },
      refuse: ({ message: why }) => refuse(`The person who makes this call could not be asked: ${why}`),
      progressed: () => undefined,
      withdrawn: undefined,
    });
  });
}
