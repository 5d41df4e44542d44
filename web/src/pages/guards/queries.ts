import { queryOptions } from '@tanstack/react-query';
import { ask, get } from '../../api/client.ts';
import type { System } from '../../api/system.ts';
import type { GuardState, JsonObject } from '../../api/types.ts';

/** Whether the guards that are switched on answer. */
export const guardStatesQuery = queryOptions({
  queryKey: ['guards'],
  queryFn: ({ signal }) => get<readonly GuardState[]>('/guards', signal),
  refetchInterval: 15_000,
});

/** Changes the list as it is at the hub now, so that what others have done meanwhile stays. */
export async function changeGuards(edit: (now: readonly JsonObject[]) => readonly JsonObject[]): Promise<void> {
  const { systemConfig } = await get<{ systemConfig?: System }>('/settings');
  const guards = edit(systemConfig?.guards ?? []);
  await ask('/system-config', { method: 'PUT', body: { guards: guards.length === 0 ? null : guards } });
}
