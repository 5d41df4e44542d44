import { queryOptions } from '@tanstack/react-query';
import { ask, get, queryOf } from '../../api/client.ts';
import type { Explanation, Policy, Simulation } from '../../api/types.ts';

/** The policies in force, those switched off, and those of files. */
export const policiesQuery = queryOptions({
  queryKey: ['policies'],
  queryFn: ({ signal }) => get<readonly Policy[]>('/policies', signal),
});

/** A policy as the settings have it. */
export type Written = Pick<Policy, 'id' | 'text' | 'enabled'>;

/** What a change makes of the policies of the settings. */
export type Edit = (now: readonly Written[]) => readonly Written[];

/** Changes the list as it is at the hub now, so that what others have done meanwhile stays. */
export async function changePolicies(edit: Edit): Promise<void> {
  const now = await get<readonly Policy[]>('/policies');
  const written = now.flatMap(({ id, text, enabled, source }) =>
    source === 'settings' ? [{ id, text, enabled }] : [],
  );
  const policies = edit(written).map(({ id, text, enabled }) => ({ id, text, ...(!enabled && { enabled }) }));
  await ask('/system-config', { method: 'PUT', body: { policies: policies.length === 0 ? null : policies } });
}

/** What this policy alone would have done with the recorded calls. */
export async function tryPolicy(id: string, text: string): Promise<Simulation> {
  const policies = [{ id: id === '' ? 'new' : id, text }];
  return (await ask<Simulation>('/policies/simulate', { method: 'POST', body: { policies } })).data;
}

/** A call that is asked about; empty for what is not said. */
export interface WhyAsked {
  readonly tool: string;
  readonly user?: string;
  readonly key?: string;
  readonly group: string;
  readonly arguments: string;
}

export const whyQuery = (asked: WhyAsked | undefined) =>
  queryOptions({
    queryKey: ['why', asked],
    queryFn: ({ signal }) => get<Explanation>(`/why${queryOf({ ...asked })}`, signal),
    enabled: asked !== undefined,
  });
