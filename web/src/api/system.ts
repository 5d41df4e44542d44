import { queryOptions } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { guess, useAction } from '../lib/action.ts';
import { toast } from '../ui/toast.tsx';
import { ask, get } from './client.ts';
import { queryClient } from './queries.ts';
import type { JsonObject } from './types.ts';

/** What becomes of what servers change. */
export type PinMode = 'warn' | 'hold' | 'off';

/** `systemConfig` as far as the pages know it; secrets are masked. */
export interface System {
  readonly routing?: {
    readonly enableBearerAuth?: boolean;
    readonly enableGlobalRoute?: boolean;
    readonly enableGroupNameRoute?: boolean;
    readonly openApiAccess?: 'open' | 'authenticated' | 'off';
  };
  readonly auth?: { readonly requireSecondFactor?: 'no' | 'admins' | 'everyone' };
  readonly nameSeparator?: string;
  readonly listPageSize?: number;
  readonly activityLog?: { readonly storeToolPayload?: boolean; readonly storeSearchQueries?: boolean };
  readonly network?: { readonly allowedCidrs?: readonly string[] };
  readonly install?: { readonly baseUrl?: string };
  readonly policyFolder?: string;
  readonly limits?: { readonly default?: JsonObject };
  readonly pins?: { readonly mode?: PinMode };
  readonly smartRouting?: JsonObject;
  readonly secretsInCalls?: { readonly arguments?: string; readonly results?: string };
  readonly guards?: readonly JsonObject[];
  readonly maxResultTokens?: number;
  readonly skills?: { readonly folder?: string };
  readonly codeMode?: { readonly timeoutSeconds?: number; readonly memoryMb?: number; readonly calls?: number };
}

export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: async ({ signal }) => (await get<{ systemConfig?: System }>('/settings', signal)).systemConfig ?? {},
});

/** Changes some members; `null` takes one out. `guessed` is shown until the hub has answered. */
export function useChangeSystem(guessed?: (old: System) => System) {
  const { t } = useTranslation();
  return useAction<JsonObject, { data: System }>({
    run: (body) => ask<System>('/system-config', { method: 'PUT', body }),
    at: () => (guessed ? [guess<System>(systemQuery.queryKey, guessed)] : []),
    done: ({ data }) => {
      // At once: a form that is made again later would lose what was typed meanwhile.
      queryClient.setQueryData(systemQuery.queryKey, data);
      toast.good(t('common.saved'));
    },
    quiet: guessed === undefined,
  });
}
