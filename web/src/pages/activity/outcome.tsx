import { useTranslation } from 'react-i18next';
import type { Activity, ActivityStatus } from '../../api/types.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';

export const statuses: readonly ActivityStatus[] = ['success', 'error', 'timeout', 'cancelled', 'refused'];

const tones: Record<ActivityStatus, Tone> = {
  success: 'good',
  error: 'bad',
  timeout: 'bad',
  cancelled: 'plain',
  refused: 'warn',
};

export function Outcome({ status }: { readonly status: ActivityStatus }) {
  const { t } = useTranslation();
  return <Badge tone={tones[status]}>{t(`activity.states.${status}`)}</Badge>;
}

/** Who did it: a user, a key, or an anonymous caller. */
export function useWho(): (activity: Pick<Activity, 'username' | 'keyName'>) => string {
  const { t } = useTranslation();
  return ({ username, keyName }) => {
    if (keyName !== undefined) return username === undefined ? keyName : `${username} (${keyName})`;
    return username ?? t('activity.anonymous');
  };
}

/** The `server` of a refused call that named no tool its caller could see (`src/core/activity.ts`). */
export const unknownServer = '$unknown';

/** How a server of the records is called. */
export function useServerName(): (server: string) => string {
  const { t } = useTranslation();
  return (server) => (server === unknownServer ? t('activity.unknownServer') : server);
}
