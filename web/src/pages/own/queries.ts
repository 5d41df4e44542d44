import { queryOptions } from '@tanstack/react-query';
import { ask, get } from '../../api/client.ts';
import type { BuiltinPrompt, BuiltinResource, JsonObject } from '../../api/types.ts';
import { editsOf } from '../../lib/edits.ts';

/** What the hub itself offers to all clients. */
export const promptsQuery = queryOptions({
  queryKey: ['own', 'prompts'],
  queryFn: ({ signal }) => get<readonly BuiltinPrompt[]>('/prompts', signal),
});

export const resourcesQuery = queryOptions({
  queryKey: ['own', 'resources'],
  queryFn: ({ signal }) => get<readonly BuiltinResource[]>('/resources', signal),
});

/** Sends what was changed alone, so that what others have changed meanwhile stays. */
export async function putChanges(path: string, before: JsonObject, after: JsonObject): Promise<void> {
  const body = editsOf(before, after);
  if (Object.keys(body).length > 0) await ask(path, { method: 'PUT', body });
}
