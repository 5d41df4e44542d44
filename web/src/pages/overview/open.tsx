import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Lock, LockOpen } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { get } from '../../api/client.ts';
import type { Callable, Exposure } from '../../api/types.ts';
import { many } from '../../lib/format.ts';
import { Panel } from '../../ui/page.tsx';

/** What an anonymous caller can run. */
export function Open() {
  const { t } = useTranslation();
  const { data } = useQuery({
    queryKey: ['exposure'],
    queryFn: ({ signal }) => get<Exposure>('/exposure', signal),
  });
  if (!data) return null;
  const lines = [
    ['overview.openApi', data.http],
    ['overview.openMcp', data.mcp],
  ] as const;
  const open = lines.filter(([, callable]) => callable !== null && callable.tools > 0);
  return (
    <Panel title={t('overview.open')} lead={t('overview.openLead')}>
      <div className="flex flex-col gap-2 text-sm">
        {open.length === 0 && (
          <p className="flex items-center gap-2">
            <Lock size={15} aria-hidden className="text-good shrink-0" />
            {t('overview.closed')}
          </p>
        )}
        {open.map(([key, callable]) => (
          <p key={key} className="flex items-start gap-2">
            <LockOpen
              size={15}
              aria-hidden
              className={data.loopback ? 'text-soft mt-0.5 shrink-0' : 'text-warn mt-0.5 shrink-0'}
            />
            {callable && t(key, { ...many(callable.tools), servers: named(callable) })}
          </p>
        ))}
        <p className="text-soft text-xs">
          {t(data.loopback ? 'overview.loopback' : 'overview.anyNetwork')}{' '}
          <Link to="/settings" className="touch text-accent-ink underline">
            {t('overview.change')}
          </Link>
        </p>
      </div>
    </Panel>
  );
}

function named({ servers }: Callable): string {
  return servers.length <= 4 ? servers.join(', ') : `${servers.slice(0, 3).join(', ')}, +${servers.length - 3}`;
}
