import { queryOptions, useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { get } from '../api/client.ts';
import type { WaitingApprovals as Waiting } from '../api/types.ts';
import { storage } from '../lib/storage.ts';

const waitingQuery = queryOptions({
  queryKey: ['approvals', 'waiting'],
  queryFn: ({ signal }) => get<Waiting>('/approvals/waiting', signal),
});

/** Under which this browser keeps that its user wants notifications. */
export const notifyKey = 'notify.approvals';

/** How many calls wait for the answer of this user, beside the name of the page; new ones are told by the browser. */
export function WaitingApprovals() {
  const { t } = useTranslation();
  const router = useRouter();
  const { data } = useQuery(waitingQuery);
  useEffect(() => {
    if (!data) return;
    for (const { id, server, tool, caller } of newOnes(data)) {
      const about = { body: `${server}/${tool}\n${t('approvals.by', { caller })}`, tag: id };
      tell(t('approvals.notifyTitle'), about, () => void router.navigate({ to: '/approvals' }));
    }
  }, [data, router, t]);
  if (!data || data.count === 0) return null;
  return (
    <span className="bg-accent-wash text-accent-ink ml-auto rounded-full px-1.5 text-xs font-medium">
      <span aria-hidden>{data.count}</span>
      <span className="sr-only">{t('approvals.number', { number: data.count })}</span>
    </span>
  );
}

/** The time of the newest call that was there already. */
let latest: string | undefined;

function newOnes({ newest }: Waiting): Waiting['newest'] {
  const before = latest;
  latest = newest.reduce((last, { createdAt }) => (createdAt > last ? createdAt : last), before ?? '');
  // What waited when the page was opened is on the page.
  return before === undefined ? [] : newest.filter(({ createdAt }) => createdAt > before);
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
