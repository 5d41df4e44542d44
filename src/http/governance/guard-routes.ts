import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { z } from 'zod';
import type { GuardAnswer, GuardTriedAnswer } from '../../core/answers/governance.ts';
import { policyPrincipal } from '../../core/access/decision.ts';
import { actorOf } from '../../core/audit.ts';
import { readGuardAnswer } from '../../core/guards/guard-answer.ts';
import { parseInput } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { saying } from '../../core/sentences.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { Guards } from '../../governance/guards.ts';
import { jsonBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv } from '../frame/caller.ts';
import { ok } from '../frame/reply.ts';

export interface GuardRoutes {
  readonly settings: () => Settings;
  readonly guards: Pick<Guards, 'ask' | 'failure'>;
}

const name = z.string().max(coreLimits.nameChars);

export const guardTryInput = z.object({
  on: z.enum(['call', 'result'], { error: 'must be call or result' }),
  /** What the sample is of; empty where it is not said. */
  server: name.nullish(),
  tool: name.nullish(),
  /** Arguments of a call, or a result. */
  sample: z.record(z.string(), z.json()),
});

/** `/guards` (CONTRACT §9): whether the guards that are switched on answer, for admins. They are settings. */
export function guardRoutes({ settings, guards }: GuardRoutes): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>();

  routes.get('/guards', adminOnly, (c) => {
    const all = settings().system.guards ?? [];
    return ok(
      c,
      all.map((guard): GuardAnswer => ({ guard: guard.name, ...guards.failure(guard) })),
    );
  });

  // The question looks like that of a call of the admin who asks; nothing is called.
  routes.post('/guards/:guard/try', adminOnly, async (c) => {
    const { on, server, tool, sample } = parseInput(guardTryInput, await jsonBody(c.req.raw), 'Cannot try the guard');
    const asked = c.req.param('guard');
    const { principal, settings: now } = c.var.caller;
    const guard = (now.system.guards ?? []).find((one) => one.name === asked);
    if (!guard) throw saying('not_found', 'no_guard', { name: asked });
    const subject = on === 'call' ? 'arguments' : 'result';
    const question = {
      on,
      id: randomUUID(),
      kind: 'tool',
      server: server ?? '',
      name: tool ?? '',
      caller: { ...actorOf(now, principal), groups: policyPrincipal(now, principal).groups },
      scope: '',
      [subject]: sample,
    };
    const reply = await guards.ask(guard, JSON.stringify(question), c.req.raw.signal);
    const verdict = reply.kind === 'text' ? readGuardAnswer(reply.text, subject) : reply;
    return ok(c, {
      decision: verdict.kind,
      ...(verdict.kind === 'refuse' && verdict.message !== undefined && { message: verdict.message }),
      ...(verdict.kind === 'failed' && { message: verdict.why, code: verdict.code }),
      ...(verdict.kind === 'change' && { changed: verdict.value }),
    } satisfies GuardTriedAnswer);
  });

  return routes;
}
