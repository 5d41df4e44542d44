import { queryOptions } from '@tanstack/react-query';
import { get } from '../../api/client.ts';
import type { BuiltinPrompt, BuiltinResource } from '../../api/types.ts';

/** What the hub itself offers to all clients. */
export const promptsQuery = queryOptions({
  queryKey: ['own', 'prompts'],
  queryFn: ({ signal }) => get<readonly BuiltinPrompt[]>('/prompts', signal),
});

export const resourcesQuery = queryOptions({
  queryKey: ['own', 'resources'],
  queryFn: ({ signal }) => get<readonly BuiltinResource[]>('/resources', signal),
});
