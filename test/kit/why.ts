import { expect } from 'vitest';
import type { Offer } from '../../src/core/catalogue.ts';
import { type DecisionStep, explain, type WhyQuestion } from '../../src/core/access/explain.ts';
import { principalOf } from '../../src/core/access/principal.ts';
import { view } from '../../src/core/access/view.ts';
import { remark } from '../../src/core/remarks.ts';
import type { CallLimits, GuardSettings } from '../../src/core/settings/governance.ts';
import type { Settings } from '../../src/core/settings/settings.ts';
import { catalogue, type Parts, server, settings, user } from './snapshots.ts';

/** `why` of a call that goes on, but for what a test changes. */

const about = { info: '{}', instructions: undefined, capabilities: ['tools'], protocolVersion: '2025-11-25' };
export const offer = (name: string, tools: readonly string[], annotations = {}): Offer => ({
  server: name,
  about,
  tools: tools.map((tool) => ({ key: tool, text: JSON.stringify({ name: tool, annotations }) })),
  prompts: [],
  resources: [],
  templates: [],
});

/** What governs calls. Policies have the names p0, p1 … */
export interface Governed {
  readonly policies?: readonly string[] | undefined;
  readonly limits?: CallLimits | undefined;
  readonly guards?: readonly GuardSettings[] | undefined;
}

export interface Asked extends Governed, Partial<Omit<WhyQuestion, 'settings' | 'view'>> {
  readonly parts?: Parts;
}

/** Settings of these parts in which calls are governed so. */
export function governed(parts: Parts, { policies, limits, guards }: Governed): Settings {
  const plain = settings(parts);
  const texts = policies?.map((text, i) => ({ id: `p${i}`, text, enabled: true, isFile: false }));
  return {
    ...plain,
    system: {
      ...plain.system,
      ...(texts && { policies: texts }),
      ...(limits && { defaultLimits: limits }),
      ...(guards && { guards }),
    },
  };
}

export const db = server('db', { visibility: 'public' });
export const ann = user('ann');

/** The decision with its reasons in words alone. */
export async function why(asked: Asked = {}) {
  const { steps, ...found } = await explained(asked);
  return { ...found, steps: steps.map(inWords) };
}

export function explained(asked: Asked = {}) {
  const { parts = { servers: [db], users: [ann] }, policies, limits, guards, ...more } = asked;
  const of = governed(parts, { policies, limits, guards });
  const { principal = principalOf(ann), scope = { kind: 'all' }, catalogue: known = offered } = more;
  return explain({
    settings: of,
    catalogue: known,
    principal,
    scope,
    view: view(of, known, principal, scope),
    tool: 'db-query',
    args: {},
    address: undefined,
    now: Date.now(),
    isAdmin: true,
    pin: () => ({ state: 'approved', isHeld: false }),
    look: () => undefined,
    ...more,
  });
}

/** The step without the name of its reason, which says the same. */
function inWords({ said, ...step }: DecisionStep): Omit<DecisionStep, 'said'> {
  if (said) expect(remark(said.code, said.values).text).toBe(step.reason);
  return step;
}

const offered = catalogue(offer('db', ['query', 'drop']));
