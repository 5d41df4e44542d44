import { Hono } from 'hono';
import { z } from 'zod';
import { principalFromId } from '../../core/access/principal.ts';
import { userOf } from '../../core/access/identity.ts';
import type { ApprovalAnswer, WaitingApprovalsAnswer } from '../../core/answers/governance.ts';
import type { AuditSink } from '../../core/audit.ts';
import { forEachYielding } from '../../core/for-each-yielding.ts';
import { parseInput } from '../../core/input.ts';
import { shownJson } from '../../core/json/shown.ts';
import type { Approval } from '../../governance/approval-store.ts';
import { type Approvals, argumentsForCaller } from '../../governance/approvals.ts';
import { governanceLimits } from '../../governance/limits.ts';
import { recordRequest } from '../frame/audited.ts';
import { jsonBody } from '../frame/body.ts';
import { type ApiEnv, type Caller, editorOf, mustBeInPerson } from '../frame/caller.ts';
import { ok, okText } from '../frame/reply.ts';
import { httpLimits } from '../limits.ts';

export interface ApprovalRoutes {
  readonly approvals: Pick<Approvals, 'list' | 'waiting' | 'find' | 'decide'>;
  readonly audit: Pick<AuditSink, 'record'>;
}

export const decisionInput = z.object({
  decision: z.enum(['approve', 'deny'], { error: 'must be "approve" or "deny"' }),
});

/** Questions to people about calls (CONTRACT §9): for who may answer them, and for who made the call. */
export function approvalRoutes({ approvals, audit }: ApprovalRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/approvals', async (c) => {
    const { caller } = c.var;
    editorOf(caller);
    const all = (await approvals.list()).filter((one) => maySee(caller, one));
    const texts: string[] = [];
    await forEachYielding(all, httpLimits.approvalsInATurn, (one) => {
      texts.push(JSON.stringify(approvalAnswer(one, caller, governanceLimits.approvalListedChars)));
    });
    return okText(c, `[${texts.join()}]`);
  });

  routes.get('/approvals/waiting', async (c) => {
    const { caller } = c.var;
    editorOf(caller);
    const own = (await approvals.waiting()).filter((one) => mayDecide(caller, one));
    const newest = own
      .slice(0, governanceLimits.approvalsNewest)
      .map(({ id, server, tool, caller: by, createdAt }) => ({
        id,
        server,
        tool,
        caller: by,
        createdAt: new Date(createdAt).toISOString(),
      }));
    return ok(c, { count: own.length, newest } satisfies WaitingApprovalsAnswer);
  });

  routes.get('/approvals/:id', async (c) => {
    const { caller } = c.var;
    editorOf(caller);
    const found = await approvals.find(c.req.param('id'), (one) => maySee(caller, one));
    return ok(c, approvalAnswer(found, caller));
  });

  routes.post('/approvals/:id', async (c) => {
    const { caller } = c.var;
    const { username } = editorOf(caller);
    mustBeInPerson(caller.principal);
    const { decision } = parseInput(decisionInput, await jsonBody(c.req.raw), 'Cannot decide');
    const decided = await approvals.decide(c.req.param('id'), decision, username, (one) => mayDecide(caller, one));
    const { server, tool, policy, caller: asking, hash } = decided;
    const after = { decision, policy, caller: asking, call: hash };
    recordRequest(c, audit.record, { target: `${server}/${tool}`, after });
    return ok(c, approvalAnswer(decided, caller));
  });

  routes.delete('/approvals/:id', async (c) => {
    const { caller } = c.var;
    const { username } = editorOf(caller);
    mustBeInPerson(caller.principal);
    const ended = await approvals.decide(c.req.param('id'), 'withdraw', username, (one) => isOwn(caller, one));
    const { server, tool, policy, hash } = ended;
    recordRequest(c, audit.record, { target: `${server}/${tool}`, after: { policy, call: hash } });
    return ok(c, approvalAnswer(ended, caller));
  });

  return routes;
}

function maySee(caller: Caller, approval: Approval): boolean {
  return mayDecide(caller, approval) || isOwn(caller, approval);
}

/** Admins, and the members of the group that is asked; also about a call of their own (decisions/0072). */
function mayDecide({ admin, user, settings }: Caller, { who }: Pick<Approval, 'who'>): boolean {
  if (admin) return true;
  const group = who === 'admin' ? undefined : settings.groups.find(({ name }) => name === who);
  return (
    group !== undefined && user !== undefined && (user.groups.includes(group.id) || user.groups.includes(group.name))
  );
}

/** The call is of the user, of a key of theirs, or of an app that they let in. */
function isOwn({ user, settings }: Caller, { principal }: Pick<Approval, 'principal'>): boolean {
  const made = principalFromId(principal);
  return user !== undefined && made !== undefined && userOf(settings, made)?.username === user.username;
}

/** Who decides sees what is sent. Out of a text that was cut nothing can be taken. */
function argumentsFor(caller: Caller, approval: Approval): string {
  const { arguments: args, hidden = [], isCut } = approval;
  if (hidden.length === 0 || mayDecide(caller, approval)) return args;
  return isCut ? '' : argumentsForCaller(approval);
}

function approvalAnswer(approval: Approval, caller: Caller, chars = Infinity): ApprovalAnswer {
  const { id, who, policy, server, tool, state, callerKind, message, client, address, decidedBy, decidedAt } = approval;
  const all = argumentsFor(caller, approval);
  const isListed = all.length <= chars;
  const args = isListed ? all : all.slice(0, chars);
  const isWaiting = state === 'waiting';
  return {
    id,
    who,
    policy,
    server,
    tool,
    state,
    callerKind,
    caller: approval.caller,
    arguments: args,
    shown: shownJson(args),
    argumentsCut: approval.isCut || !isListed,
    ...(message !== undefined && { message }),
    ...(client !== undefined && { client }),
    ...(address !== undefined && { address }),
    createdAt: new Date(approval.createdAt).toISOString(),
    expiresAt: new Date(approval.expiresAt).toISOString(),
    ...(decidedBy !== undefined && { decidedBy }),
    ...(decidedAt !== undefined && { decidedAt: new Date(decidedAt).toISOString() }),
    mayDecide: isWaiting && mayDecide(caller, approval),
    mayWithdraw: isWaiting && isOwn(caller, approval),
  };
}
