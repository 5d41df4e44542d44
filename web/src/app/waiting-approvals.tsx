import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import type { WaitingApprovals as Waiting } from '../api/types.ts';
import { newestOf } from './waiting.ts';
import { storage } from '../lib/storage.ts';

/** Under which this browser keeps that its user wants notifications. */
export const notifyKey = 'notify.approvals';

interface WaitingProps {
  readonly waiting: Waiting;
  /** What waited then was there when the dashboard was opened, and is on the page. */
  readonly since: string;
}

/** How many calls wait for the answer of this user, beside the name of the page; new ones are told by the browser. */
export function WaitingApprovals({ waiting, since }: WaitingProps) {
  const { t } = useTranslation();
  const router = useRouter();
  useEffect(() => {
    for (const { id, server, tool, caller } of newOnes(waiting, since)) {
      const about = { body: `${server}/${tool}\n${t('approvals.by', { caller })}`, tag: id };
      tell(t('approvals.notifyTitle'), about, () => void router.navigate({ to: '/approvals' }));
    }
  }, [waiting, since, router, t]);
  if (waiting.count === 0) return null;
  return (
    <span className="bg-accent-wash text-accent-ink ml-auto rounded-full px-1.5 text-xs font-medium">
      <span aria-hidden>{waiting.count}</span>
      <span className="sr-only">{t('approvals.number', { number: waiting.count })}</span>
    </span>
  );
}

/** The time of the newest call that was told already. */
let latest = '';

function newOnes({ newest }: Waiting, since: string): Waiting['newest'] {
  const before = since > latest ? since : latest;
  latest = newestOf(newest, before);
  return newest.filter(({ createdAt }) => createdAt > before);
}

function tell(title: string, about: NotificationOptions, open: () => void): void {
  if (storage.get(notifyKey) === undefined || !('Notification' in window) || Notification.permission !== 'granted')
    return;
  try {
    const shown = new Notification(title, about);
    shown.addEventListener('click', () => {
      window.focus();
      shown.close();
      open();
    });
  } catch {
    // Some browsers on phones have them for installed pages only.
  }
}
