import { useTranslation } from 'react-i18next';
import type { ServerStatus, ServerSummary } from '../../api/types.ts';
import { many, relative } from '../../lib/format.ts';
import { useNow } from '../../lib/now.ts';
import { Badge, Dot, type Tone } from '../../ui/badge.tsx';

export const statuses: readonly ServerStatus[] = [
  'connected',
  'connecting',
  'disconnected',
  'oauth_required',
  'disabled',
];

export const toneOf: Record<ServerStatus, Tone> = {
  connected: 'good',
  connecting: 'accent',
  disconnected: 'bad',
  oauth_required: 'warn',
  disabled: 'plain',
};

export function Status({ status }: { readonly status: ServerStatus }) {
  const { t } = useTranslation();
  return (
    <Badge tone={toneOf[status]}>
      <Dot tone={toneOf[status]} lively={status === 'connecting'} />
      {t(`servers.state.${status}`)}
    </Badge>
  );
}

type Timed = Pick<ServerSummary, 'status' | 'nextRetryAt' | 'lastConnectedAt' | 'attempts'>;

/** When it connected, or when the hub tries again; counts along. */
export function Timing({ status, nextRetryAt, lastConnectedAt, attempts }: Timed) {
  const { t } = useTranslation();
  const now = useNow(1_000);
  if (status === 'connected' && lastConnectedAt !== undefined) {
    return <>{t('servers.since', { when: relative(lastConnectedAt, now) })}</>;
  }
  if (status !== 'disconnected') return null;
  const parts = [
    attempts > 0 && t('servers.attempts', many(attempts)),
    nextRetryAt !== undefined && t('servers.retry', { when: relative(Math.max(now, Date.parse(nextRetryAt)), now) }),
  ];
  return <>{parts.filter(Boolean).join(' · ')}</>;
}
