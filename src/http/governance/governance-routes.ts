import { Hono } from 'hono';
import { z } from 'zod';
import { explain } from '../../core/access/explain.ts';
import { principalOf, type Principal } from '../../core/access/principal.ts';
import type { Views } from '../../core/access/view.ts';
import type { ExplanationAnswer, PolicyAnswer, SimulationAnswer } from '../../core/answers/governance.ts';
import type { Catalogue } from '../../core/catalogue.ts';
import { invalid, parseInput } from '../../core/input.ts';
import { coreLimits } from '../../core/limits.ts';
import { policyAdvice, policyEntities } from '../../core/policies/policy-advice.ts';
import { readPolicy } from '../../core/policies/read-policy.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import { saying } from '../../core/sentences.ts';
import type { PolicySettings } from '../../core/settings/governance.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { Pins } from '../../governance/pins.ts';
import type { CallCounts } from '../../governance/call-counts.ts';
import type { ActivityLog } from '../../logs/activity.ts';
import { jsonBody } from '../frame/body.ts';
import { adminOnly, type ApiEnv, type Caller, editorOf } from '../frame/caller.ts';
import { endpointNamed } from '../frame/reachable.ts';
import { ok } from '../frame/reply.ts';
import { simulate } from './simulate.ts';

export interface GovernanceRoutes {
  /** As the views have them. */
  readonly settings: () => Settings;
  readonly catalogue: () => Catalogue;
  readonly views: Views;
  readonly counts: Pick<CallCounts, 'look'>;
  readonly activity: Pick<ActivityLog, 'list'>;
  readonly pins: Pick<Pins, 'of'>;
}

const policyInput = z.strictObject({
  id: z.string().min(1).max(100),
  text: z.string().max(coreLimits.policyChars),
  enabled: z.boolean().optional(),
});

export const simulateInput = z.object({
  policies: z.array(policyInput).max(coreLimits.policies),
  since: z.iso.datetime({ offset: true, error: 'must be a time in ISO 8601, such as 2030-01-31T12:00:00Z' }).nullish(),
});

/** Policies and `why` (CONTRACT §9). */
export function governanceRoutes(options: GovernanceRoutes): Hono<ApiEnv> {
  const { settings, catalogue, activity } = options;
  const routes = new Hono<ApiEnv>();

  routes.get('/policies', adminOnly, (c) => {
    const now = { settings: settings(), catalogue: catalogue() };
    return ok(
      c,
      (now.settings.system.policies ?? []).map((policy) => policyAnswer(policy, now)),
    );
  });

  routes.post('/policies/simulate', adminOnly, async (c) => {
    const attempt = 'Cannot simulate the policies';
    const input = parseInput(simulateInput, await jsonBody(c.req.raw), attempt);
    const problems = input.policies.flatMap(({ text }, i) =>
      readPolicy(text).problems.map(({ line, column, message }) => ({
        path: `policies[${i}].text`,
        message: `line ${line}, column ${column}: ${message}`,
      })),
    );
    if (problems.length > 0) throw invalid(attempt, problems);
    const policies = input.policies.map(({ id, text, enabled = true }) => ({ id, text, enabled, isFile: false }));
    const since = input.since ? new Date(input.since) : undefined;
    const now = { settings: settings(), catalogue: catalogue() };
    const warnings = policies.flatMap(({ id, text }) =>
      warningsOf(text, now).map((warning) => ({ policy: id, ...warning })),
    );
    return ok(c, { ...(await simulate({ policies, since, ...now, activity })), warnings } satisfies SimulationAnswer);
  });

  routes.get('/why', async (c) => {
    const query = parseInput(whyInput, c.req.query(), 'Cannot explain');
    const asked = whoIsMeant(query, c.var.caller, settings());
    const group = query.group && endpointNamed({ settings: settings(), principal: asked }, query.group);
    const scope = group ? ({ kind: 'named', name: group } as const) : ({ kind: 'all' } as const);
    const answer = await explain({
      settings: settings(),
      catalogue: catalogue(),
      principal: asked,
      scope,
      view: options.views.get(asked, scope),
      tool: query.tool,
      args: argumentsIn(query.arguments),
      address: undefined,
      now: Date.now(),
      isAdmin: c.var.caller.admin,
      pin: ({ server, key }) => options.pins.of(server, key),
      look: (counted) => options.counts.look(counted),
    });
    return ok(c, answer satisfies ExplanationAnswer);
  });

  return routes;
}

interface Now {
  readonly settings: Settings;
  readonly catalogue: Catalogue;
}

function policyAnswer({ id, text, enabled, isFile }: PolicySettings, now: Now): PolicyAnswer {
  const { statements } = readPolicy(text);
  const warnings = warningsOf(text, now);
  return {
    id,
    text,
    enabled,
    source: isFile ? 'file' : 'settings',
    concerns: policyEntities(text),
    asks: [...new Set(statements.flatMap(({ approve }) => (approve === undefined ? [] : [approve || 'admin'])))],
    warnings: warnings.map((warning) => warning.text),
    said: warnings.map(({ said }) => said),
  };
}

/** In English and by name. What has a place in the text has it among its values. */
function warningsOf(text: string, now: Now): { readonly text: string; readonly said: Named }[] {
  const placed = readPolicy(text).warnings.map(({ line, column, message, said: { code, values } }) => ({
    text: `Line ${line}, column ${column}: ${message}.`,
    said: { code, values: { ...values, line: String(line), column: String(column) } },
  }));
  return [...placed, ...policyAdvice(text, now)];
}

type Named = PolicyAnswer['said'][number];

const whyInput = z.object({
  tool: z.string().min(1, 'is required: a tool as it is exposed, or <server>/<tool>').max(coreLimits.textChars),
  user: z.string().min(1).max(coreLimits.textChars).optional(),
  key: z.string().min(1).max(coreLimits.textChars).optional(),
  group: z.string().min(1).max(coreLimits.textChars).optional(),
  arguments: z.string().max(coreLimits.policyArgumentChars).optional(),
});

/** Admins ask about all; others about themselves and their own keys. */
function whoIsMeant({ user, key }: z.output<typeof whyInput>, caller: Caller, settings: Settings): Principal {
  const { username, isAdmin } = editorOf(caller);
  if (user !== undefined && key !== undefined)
    throw invalid('Cannot explain', [{ path: 'key', message: 'and user are both given; send one of them' }]);
  if (key !== undefined) {
    const found = settings.keys.find(({ id }) => id === key) ?? settings.keys.find(({ name }) => name === key);
    if (!found || (!isAdmin && found.owner !== username)) throw saying('not_found', 'no_key', { name: key });
    return { kind: 'key', id: found.id };
  }
  const name = user ?? username;
  if (name !== username && !isAdmin) throw saying('forbidden', 'admins_only');
  const found = settings.users.find((one) => one.username === name);
  if (!found) throw saying('not_found', 'no_user', { name });
  return principalOf(found);
}

function argumentsIn(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  try {
    const given: unknown = JSON.parse(text);
    if (isObject(given)) return given;
  } catch {
    // Said below.
  }
  throw invalid('Cannot explain', [{ path: 'arguments', message: 'must be a JSON object' }]);
}
