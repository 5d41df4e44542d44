import { useQuery } from '@tanstack/react-query';
import { LogOut } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../api/client.ts';
import { sessionsQuery } from '../api/queries.ts';
import type { LoginSession } from '../api/types.ts';
import { guess, useAction } from '../lib/action.ts';
import { dateTime } from '../lib/format.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Failure } from '../ui/failure.tsx';
import { Loading } from '../ui/page.tsx';
import { toast } from '../ui/toast.tsx';

/** Where the user is logged in by a browser, and how that ends. */
export function Sessions() {
  const { t } = useTranslation();
  const sessions = useQuery(sessionsQuery);
  const endOthers = useAction({
    run: () => ask('/auth/sessions', { method: 'DELETE' }),
    at: () => [guess<readonly LoginSession[]>(sessionsQuery.queryKey, (all) => all.filter(({ current }) => current))],
    done: () => toast.good(t('sessions.othersEnded')),
  });
  if (sessions.error) return <Failure error={sessions.error} retry={() => void sessions.refetch()} />;
  if (!sessions.data) return <Loading />;
  return (
    <>
      <ul className="divide-line -my-2 divide-y">
        {sessions.data.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </ul>
      {sessions.data.some(({ current }) => !current) && (
        <Button className="mt-4" onClick={() => endOthers.mutate()}>
          {t('sessions.endOthers')}
        </Button>
      )}
    </>
  );
}

function SessionRow({ session }: { readonly session: LoginSession }) {
  const { t } = useTranslation();
  const { id, address, userAgent, createdAt, lastSeenAt, current } = session;
  const end = useAction({
    run: () => ask(`/auth/sessions${pathOf(id)}`, { method: 'DELETE' }),
    at: () => [guess<readonly LoginSession[]>(sessionsQuery.queryKey, (all) => all.filter((other) => other.id !== id))],
  });
  const browser = browserOf(userAgent) || t('sessions.unknown');
  return (
    <li className="flex items-center gap-3 py-2">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-2 text-sm font-medium" title={userAgent}>
          {browser}
          {current && <Badge tone="good">{t('sessions.current')}</Badge>}
        </p>
        <p className="text-soft text-xs">
          {t('sessions.about', { address, since: dateTime(createdAt), seen: dateTime(lastSeenAt) })}
        </p>
      </div>
      {!current && (
        <IconButton icon={LogOut} label={t('sessions.end', { browser, address })} onClick={() => end.mutate()} />
      )}
    </li>
  );
}

/** What people call a browser and its system; empty for a program that names none. */
function browserOf(userAgent: string): string {
  const browsers = { Edg: 'Edge', OPR: 'Opera', Firefox: 'Firefox', Chrome: 'Chrome', Safari: 'Safari' };
  const systems = ['Windows', 'Android', 'iPhone', 'iPad', 'Macintosh', 'Linux'];
  const [, browser] = Object.entries(browsers).find(([mark]) => userAgent.includes(`${mark}/`)) ?? [];
  const system = systems.find((name) => userAgent.includes(name));
  return [browser ?? userAgent.split(/[/\s]/, 1)[0], system].filter(Boolean).join(', ');
}
