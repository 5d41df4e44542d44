import { Link } from '@tanstack/react-router';
import i18next from 'i18next';
import { useTranslation } from 'react-i18next';
import type { ServerSummary } from '../../api/types.ts';
import { reasonIn } from '../../i18n/hub-texts.ts';
import { inLines } from '../../lib/format.ts';

type Failing = Pick<ServerSummary, 'error' | 'reason' | 'status'> & {
  readonly managed?: boolean;
  readonly configRestricted?: boolean | undefined;
};

/** What is wrong with a server, in one sentence where the hub knows the reason. */
export function whatIsWrong({ error, reason, status, managed, configRestricted }: Failing): string | undefined {
  if (reason) return reasonIn(reason).text;
  if (error === null) return undefined;
  // Why is for those who manage it: the hub says no more than this to others.
  const isForOthers = managed === false || configRestricted === true;
  return isForOthers && status !== 'oauth_required' ? i18next.t('servers.cannotReach') : inLines(error);
}

/** What to do about it, where the hub knows. */
export function whatToDo({ reason }: Failing): string | undefined {
  return reason && reasonIn(reason).advice;
}

/** What the server said in its last attempt, folded. */
export function Output({ server }: { readonly server: Pick<ServerSummary, 'name' | 'output'> }) {
  const { t } = useTranslation();
  const { name, output } = server;
  return (
    <div className="mt-2 flex flex-col gap-2 text-sm">
      {output !== undefined && (
        <details>
          <summary className="text-soft cursor-pointer rounded-sm">{t('servers.lastOutput')}</summary>
          <pre
            tabIndex={0}
            role="region"
            aria-label={t('servers.lastOutput')}
            className="bg-page border-line mt-2 max-h-64 overflow-auto rounded-md border p-3 text-xs leading-relaxed"
          >
            {output}
          </pre>
        </details>
      )}
      <p>
        <Link to="/logs" search={{ service: `server:${name}` }} className="touch text-accent-ink hover:underline">
          {t('servers.logAll')}
        </Link>
      </p>
    </div>
  );
}
