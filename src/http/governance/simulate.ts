import { setImmediate } from 'node:timers/promises';
import { judge } from '../../core/access/decision.ts';
import { anonymous, type Principal, principalOf } from '../../core/access/principal.ts';
import { scopeFromId } from '../../core/access/scope.ts';
import type { Activity } from '../../core/activity.ts';
import type { SimulationAnswer } from '../../core/answers/governance.ts';
import type { Catalogue } from '../../core/catalogue.ts';
import { isObject } from '../../core/protocol/rpc.ts';
import type { PolicySettings } from '../../core/settings/governance.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { ActivityLog } from '../../logs/activity.ts';
import { logLimits } from '../../logs/limits.ts';
import { httpLimits } from '../limits.ts';

export interface Simulation {
  readonly policies: readonly PolicySettings[];
  readonly since: Date | undefined;
  readonly settings: Settings;
  readonly catalogue: Catalogue;
  readonly activity: Pick<ActivityLog, 'list'>;
}

/**
 * What these policies, in place of those in force, would have done with the calls that were recorded, the newest first,
 * `httpLimits.simulatedCalls` at most. Where arguments were not kept, policies that read them cannot be tried. Calls of
 * callers who are not there any more are counted only: what would hold for them is not known.
 */
export async function simulate({
  policies,
  since,
  settings,
  catalogue,
  activity,
}: Simulation): Promise<Omit<SimulationAnswer, 'warnings'>> {
  const tried = { ...settings, system: { ...settings.system, policies } };
  const found = { refused: [] as Hit[], asked: [] as Hit[] };
  let checked = 0;
  let withoutArguments = 0;
  let unknownCallers = 0;
  for (let page = 1; checked < httpLimits.simulatedCalls; page++) {
    const listing = { kind: 'call', page, limit: logLimits.activityPageMost, ...(since && { start: since }) } as const;
    const { data } = await activity.list(listing);
    for (const one of data) {
      if (one.status === 'refused' || checked >= httpLimits.simulatedCalls) continue;
      checked += 1;
      const principal = principalIn(one, settings);
      if (!principal) {
        unknownCallers += 1;
        continue;
      }
      const args = argumentsOf(one);
      if (!args) withoutArguments += 1;
      const verdict = judgedAgain(one, { principal, args: args ?? {} }, tried, catalogue);
      if (verdict?.kind === 'refuse') found.refused.push(hit(one, verdict.policy));
      if (verdict?.kind === 'ask') found.asked.push(hit(one, verdict.policy));
    }
    if (data.length < listing.limit) break;
    await setImmediate();
  }
  return { checked, withoutArguments, unknownCallers, ...found };
}

type Hit = SimulationAnswer['refused'][number];

function hit({ id, server, tool, username, keyName, timestamp }: Activity, policy: string): Hit {
  const caller = username ?? keyName;
  return { activity: id, tool: `${server}/${tool}`, policy, timestamp, ...(caller !== undefined && { caller }) };
}

interface Caller {
  readonly principal: Principal;
  readonly args: Record<string, unknown>;
}

function judgedAgain(one: Activity, { principal, args }: Caller, settings: Settings, catalogue: Catalogue) {
  const verdict = judge({
    settings,
    catalogue,
    principal,
    scope: scopeFromId(one.scope ?? ''),
    action: 'call',
    target: { server: one.server, key: one.tool },
    args,
    client: one.client,
    address: one.sourceIp,
    now: Date.parse(one.timestamp),
  });
  return verdict?.policy;
}

/** Who made the call; undefined where the record names no one who is there now: tokens of issuers, deleted accounts. */
function principalIn(one: Activity, { users, keys }: Settings): Principal | undefined {
  const { principal, username, keyId } = one;
  if (principal === 'anonymous') return anonymous;
  if (principal === 'key' && keys.some(({ id }) => id === keyId)) return { kind: 'key', id: keyId ?? '' };
  const user = users.find((one) => one.username === username);
  return user && principalOf(user);
}

/** Undefined where they were not kept, or not whole. */
function argumentsOf({ input }: Activity): Record<string, unknown> | undefined {
  if (input === undefined) return undefined;
  try {
    const params: unknown = JSON.parse(input);
    const args = isObject(params) ? (params['arguments'] ?? {}) : undefined;
    return isObject(args) ? args : undefined;
  } catch {
    return undefined;
  }
}
