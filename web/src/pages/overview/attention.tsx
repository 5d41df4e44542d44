import { Link } from '@tanstack/react-router';
import { CircleCheck, Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { ServerSummary } from '../../api/types.ts';
import { buttonClass } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { conditionOf, isReady, needsPerson } from '../servers/condition.ts';
import { EditLink, Status, Timing } from '../servers/status.tsx';
import { boot } from '../../boot.ts';
import { whatIsWrong, whatToDo } from '../servers/why.tsx';
import { many } from '../../lib/format.ts';

/** More than these are on the page of the servers. */
const shown = 8;

/** The servers that do not work until a person does something, and why. */
export function Attention({ servers }: { readonly servers: readonly ServerSummary[] }) {
  const { t } = useTranslation();
  const away = servers.filter((server) => server.enabled && !isReady(server));
  const needy = away.filter((server) => needsPerson(server));
  return (
    <Panel title={t('overview.attention')} flush>
      {servers.length === 0 ? (
        <div className="flex flex-col items-start gap-3 p-4 text-sm">
          <p>{t('overview.noServers')}</p>
          {!boot.readonly && (
            <Link to="/servers" search={{ add: 'form' }} className={buttonClass('primary')}>
              <Plus size={15} aria-hidden />
              {t('servers.add')}
            </Link>
          )}
        </div>
      ) : needy.length === 0 ? (
        <p className="flex items-center gap-2 p-4 text-sm">
          <CircleCheck size={16} aria-hidden className="text-good" />
          {away.length === 0 ? t('overview.allGood') : t('overview.noneNeedsYou', many(away.length))}
        </p>
      ) : (
        <ul className="divide-line divide-y">
          {needy.slice(0, shown).map((server) => (
            <li key={server.name} className="flex flex-col gap-1 px-4 py-3">
              <span className="flex flex-wrap items-center gap-2">
                <Link
                  to="/servers/$name"
                  params={{ name: server.name }}
                  className="touch rounded-sm text-sm font-medium hover:underline"
                >
                  {server.name}
                </Link>
                <Status server={server} />
              </span>
              <Why server={server} />
              <span className="text-soft text-xs">
                <Timing server={server} />
              </span>
              {server.managed && !boot.readonly && conditionOf(server) === 'unusable' && (
                <span>
                  <EditLink name={server.name}>{t('servers.correct')}</EditLink>
                </span>
              )}
            </li>
          ))}
          {needy.length > shown && (
            <li className="px-4 py-3 text-sm">
              <Link to="/servers" search={{ status: 'needs' }} className="touch text-accent-ink hover:underline">
                {t('overview.needMore', many(needy.length - shown))}
              </Link>
            </li>
          )}
        </ul>
      )}
    </Panel>
  );
}

function Why({ server }: { readonly server: ServerSummary }) {
  const wrong = whatIsWrong(server);
  if (wrong === undefined) return null;
  return (
    <span className="text-soft text-xs break-words">
      <span className="text-ink line-clamp-3 whitespace-pre-line">{wrong}</span>
      {whatToDo(server)}
    </span>
  );
}
