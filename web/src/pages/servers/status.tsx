import { Link } from '@tanstack/react-router';
import { Settings2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ServerStatus, ServerSummary } from '../../api/types.ts';
import { duration, many, relative } from '../../lib/format.ts';
import { useNow } from '../../lib/now.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Badge, Dot, type Tone } from '../../ui/badge.tsx';
import { type Condition, conditionOf, type Described } from './condition.ts';

export const statuses: readonly ServerStatus[] = [
  'connected',
  'connecting',
  'asleep',
  'disconnected',
  'oauth_required',
  'disabled',
];

const tones: Record<Condition, Tone> = {
  connected: 'good',
  asleep: 'plain',
  connecting: 'accent',
  installing: 'accent',
  waitsToInstall: 'plain',
  waitsToStart: 'plain',
  disconnected: 'bad',
  unusable: 'bad',
  oauth_required: 'warn',
  disabled: 'plain',
};

/** A server's condition in one or two words; `brief`: on phones its colour, and words for who is read to. */
export function Status({ server, brief = false }: { readonly server: Described; readonly brief?: boolean }) {
  const { t } = useTranslation();
  const condition = conditionOf(server);
  return (
    <Badge tone={tones[condition]}>
      <Dot tone={tones[condition]} lively={condition === 'connecting' || condition === 'installing'} />
      {brief ? (
        <span className="max-sm:sr-only">{t(`servers.state.${condition}`)}</span>
      ) : (
        t(`servers.state.${condition}`)
      )}
    </Badge>
  );
}

type Timed = Described & Pick<ServerSummary, 'nextRetryAt' | 'lastConnectedAt' | 'attempts' | 'phaseSince'>;

/** When it connected, how long it has been installing or waiting, or when the hub tries again; counts along. */
export function Timing({ server }: { readonly server: Timed }) {
  const { t } = useTranslation();
  const now = useNow(1_000);
  const { nextRetryAt, lastConnectedAt, attempts, phaseSince } = server;
  switch (conditionOf(server)) {
    case 'connected':
      return lastConnectedAt && t('servers.since', { when: relative(lastConnectedAt, now) });
    case 'installing':
    case 'waitsToInstall':
    case 'waitsToStart': {
      if (phaseSince === undefined) return null;
      const seconds = Math.max(1, Math.round((now - Date.parse(phaseSince)) / 1_000));
      return t('servers.soFar', { time: duration(seconds * 1_000) });
    }
    case 'connecting':
      if (attempts === 0) return null;
      return `${t('servers.attempts', many(attempts))} · ${t('servers.tryingNow')}`;
    case 'disconnected': {
      const next = nextRetryAt && relative(Math.max(now, Date.parse(nextRetryAt)), now);
      const parts = [attempts > 0 && t('servers.attempts', many(attempts)), next && t('servers.retry', { when: next })];
      return parts.filter(Boolean).join(' · ');
    }
    default:
      return null;
  }
}

/** A link to the configuration of a server, where it can be changed. */
export function EditLink({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <Link to="/servers/$name" params={{ name }} search={{ tab: 'config' }} className={buttonClass()}>
      <Settings2 size={15} aria-hidden />
      {children}
    </Link>
  );
}
