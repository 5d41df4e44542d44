import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { CircleCheck, LoaderCircle } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { clientsQuery, connectQuery, useMe } from '../../api/queries.ts';
import type { ClientSeen, Key } from '../../api/types.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loading } from '../../ui/page.tsx';
import { ClientSnippet, withToken } from './snippets.tsx';
import { type Choices, type Part, scopeOf } from './choices.ts';
import { another, arrived, lastOf } from './seen.ts';

interface FinishProps {
  readonly title: string;
  readonly choices: Choices;
  readonly made: Key | undefined;
  readonly onSet: (part: Part, replace?: boolean) => void;
}

/** The text for the client, and below it whether the client is there. */
export function Finish({ title, choices, made, onSet }: FinishProps) {
  const { t } = useTranslation();
  const { client, credential } = choices;
  const withKey = credential === 'key' || credential === 'have';
  const connect = useQuery(connectQuery({ ...scopeOf(choices), key: withKey }));
  if (connect.error) return <Failure error={connect.error} retry={() => void connect.refetch()} />;
  if (!connect.data) return <Loading rows={4} />;
  const snippet = connect.data.clients.find((each) => each.client === client);
  if (!snippet) return <p className="text-sm">{t('common.nothingFound')}</p>;
  return (
    <div className="flex flex-col gap-4">
      {made && (
        <div className="flex flex-col gap-1.5">
          <p className="text-sm font-medium">{t('connect.yourKey')}</p>
          <Code wrap label={t('connect.yourKey')} text={made.token} />
          <p className="text-soft text-xs">{t('connect.yourKeyOnce')}</p>
        </div>
      )}
      {credential === 'key' && !made && (
        <p className="bg-accent-wash flex flex-wrap items-center gap-3 rounded-md px-3 py-2 text-sm">
          <span className="min-w-0 flex-1 basis-64">{t('connect.keyGone')}</span>
          <Button onClick={() => onSet({ credential: undefined, key: undefined, since: undefined })}>
            {t('connect.another')}
          </Button>
        </p>
      )}
      <ClientSnippet snippet={made ? withToken(snippet, made.token) : withoutPlace(snippet)} />
      <Waiting title={title} choices={choices} onSet={onSet} />
    </div>
  );
}

/** A link that installs would put the words YOUR_ACCESS_KEY into the client's settings. */
function withoutPlace(snippet: Parameters<typeof withToken>[0]): Parameters<typeof withToken>[0] {
  return withToken(snippet, 'YOUR_ACCESS_KEY');
}

function Waiting({ title, choices, onSet }: Pick<FinishProps, 'title' | 'choices' | 'onSet'>) {
  const { t } = useTranslation();
  const me = useMe();
  const clients = useQuery(clientsQuery);
  const { client = '', credential = 'none', key, since } = choices;
  const seen = clients.data;
  const isNew = since === undefined;
  useEffect(() => {
    // By the hub's own clock; one that is there already is not the one that is waited for.
    if (isNew && seen) onSet({ since: lastOf(seen) || '0' }, true);
  }, [isNew, seen, onSet]);
  if (!me.isAdmin && credential === 'none')
    return <p className="text-soft text-sm">{t('connect.credential.noneSeen')}</p>;
  const awaited = { client, credential, key, since: since ?? '9', username: me.username };
  const found = arrived(seen ?? [], awaited);
  const other = found ? undefined : another(seen ?? [], awaited);
  return (
    <div role="status" className="border-line flex flex-col gap-2 rounded-lg border p-4 text-sm">
      {found ? (
        <Connected title={title} client={found} />
      ) : (
        <>
          <p className="flex items-center gap-2 font-medium">
            <LoaderCircle size={18} aria-hidden className="text-accent-ink shrink-0 animate-spin" />
            {t('connect.waiting', { client: title })}
          </p>
          <p className="text-soft">{t('connect.waitingText')}</p>
          {other && <p className="text-soft wrap-anywhere">{t('connect.others', { name: other.name })}</p>}
        </>
      )}
    </div>
  );
}

function Connected({
  title,
  client: { name, hasCalled, keyName },
}: {
  readonly title: string;
  readonly client: ClientSeen;
}) {
  const { t } = useTranslation();
  return (
    <>
      <p className="flex items-center gap-2 font-medium">
        <CircleCheck size={18} aria-hidden className="text-good shrink-0" />
        {t('connect.connected', { client: title })}
      </p>
      <p className="text-soft wrap-anywhere">{t('connect.connectedText', { name })}</p>
      <p className="flex items-center gap-2">
        {hasCalled ? (
          <CircleCheck size={18} aria-hidden className="text-good shrink-0" />
        ) : (
          <LoaderCircle size={18} aria-hidden className="text-accent-ink shrink-0 animate-spin" />
        )}
        {t(hasCalled ? 'connect.called' : 'connect.calls')}
      </p>
      <p className="flex flex-wrap gap-2">
        {hasCalled && (
          <Link to="/activity" search={keyName === undefined ? {} : { keyName }} className={buttonClass()}>
            {t('connect.activity')}
          </Link>
        )}
        <Link to="/" className={buttonClass('primary')}>
          {t('connect.done')}
        </Link>
        <Link to="/account/connect" className={buttonClass()}>
          {t('connect.again')}
        </Link>
      </p>
    </>
  );
}
