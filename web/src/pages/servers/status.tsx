import { useTranslation } from 'react-i18next';
import type { ServerStatus, ServerSummary } from '../../api/types.ts';
import { duration, many, relative } from '../../lib/format.ts';
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

/** `isInstalling`: it is connecting, and its package is being installed first. */
export function Status({
  status,
  isInstalling = false,
}: {
  readonly status: ServerStatus;
  readonly isInstalling?: boolean;
}) {
  const { t } = useTranslation();
  return (
    <Badge tone={toneOf[status]}>
      <Dot tone={toneOf[status]} lively={status === 'connecting'} />
      {isInstalling ? t('servers.installing') : t(`servers.state.${status}`)}
    </Badge>
  );
}

interface Installing {
  readonly status: ServerStatus;
  readonly phase?: ServerSummary['phase'] | undefined;
}

export function isInstalling({ status, phase }: Installing): boolean {
  return status === 'connecting' && phase === 'installing';
}

type Timed = Pick<
  ServerSummary,
  'status' | 'nextRetryAt' | 'lastConnectedAt' | 'attempts' | 'phase' | 'phaseSince' | 'waiting'
>;

/** When it connected, how long its package has been installed, or when the hub tries again; counts along. */
export function Timing({ status, nextRetryAt, lastConnectedAt, attempts, phase, phaseSince, waiting }: Timed) {
  const { t } = useTranslation();
  const now = useNow(1_000);
  if (status === 'connected' && lastConnectedAt !== undefined) {
    return <>{t('servers.since', { when: relative(lastConnectedAt, now) })}</>;
  }
  if (isInstalling({ status, phase }) && waiting === true) return <>{t('servers.installsLater')}</>;
  if (isInstalling({ status, phase }) && phaseSince !== undefined) {
    const seconds = Math.max(0, Math.round((now - Date.parse(phaseSince)) / 1_000));
    return <>{t('servers.installsFor', { time: duration(seconds * 1_000) })}</>;
  }
  if (status !== 'disconnected') return null;
  const parts = [
    attempts > 0 && t('servers.attempts', many(attempts)),
    nextRetryAt !== undefined && t('servers.retry', { when: relative(Math.max(now, Date.parse(nextRetryAt)), now) }),
  ];
  return <>{parts.filter(Boolean).join(' · ')}</>;
}
