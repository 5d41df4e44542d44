import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Download, FileClock, SearchX, ShieldCheck } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { ApiError, apiUrl } from '../../api/client.ts';
import { useDelayed } from '../../lib/delayed.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { inputClass } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { Empty, Loading, Page } from '../../ui/page.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { Chain } from './chain.tsx';
import { Details } from './details.tsx';
import { type AuditFilter, auditQuery, checkQuery } from './queries.ts';
import { Records } from './records.tsx';

const route = getRouteApi('/shell/admin/audit');

/** Who did what: for admins. */
export function Audit() {
  const { t } = useTranslation();
  const check = useQuery(checkQuery);
  const found = useRecords();
  // There is no audit log to check or to export either.
  const actions = !hasNoDatabase(found.error) && (
    <>
      <Button icon={ShieldCheck} busy={check.isFetching} onClick={() => void check.refetch()}>
        {t('audit.check')}
      </Button>
      <a href={apiUrl('/audit/export')} download="audit.jsonl" className={buttonClass()}>
        <Download size={15} aria-hidden />
        {t('audit.export')}
      </a>
    </>
  );
  return (
    <Page title={t('nav.audit')} lead={t('audit.lead')} actions={actions}>
      <Chain check={check} />
      <section aria-label={t('audit.list')} className="panel min-w-0">
        {!hasNoDatabase(found.error) && <Filters />}
        <Content found={found} />
      </section>
    </Page>
  );
}

/** First parts of the names of actions (`src/http/frame/audit-actions.ts`), which are names and stay as they are. */
const actions = [
  'login',
  'logout',
  'password',
  'session',
  'second-factor',
  'credential',
  'grant',
  'key',
  'user',
  'group',
  'server',
  'tool',
  'prompt',
  'resource',
  'bundle',
  'settings',
  'system-config',
  'approval',
  'call',
  'read',
  'logs',
  'activity',
  'audit',
];

function Filters() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/audit' });
  const { actor = '', action = '', target = '', since = '', until = '' } = route.useSearch();
  const narrow = (part: Partial<AuditFilter>) =>
    void navigate({ search: (old) => ({ ...old, ...part }), replace: true });
  const known = action === '' || actions.includes(action) ? actions : [action, ...actions];
  return (
    <div className="border-line flex flex-wrap items-end gap-2 border-b p-2.5">
      <SearchBox
        className="flex-1 sm:max-w-52"
        label={t('audit.actor')}
        value={actor}
        onChange={(next) => narrow({ actor: next || undefined })}
      />
      <Select
        aria-label={t('audit.action')}
        value={action}
        onChange={(event) => narrow({ action: event.target.value || undefined })}
        options={[
          { value: '', label: `${t('audit.action')}: ${t('audit.anyAction')}` },
          ...known.map((value) => ({ value, label: value })),
        ]}
      />
      <SearchBox
        className="flex-1 sm:max-w-60"
        label={t('audit.target')}
        value={target}
        onChange={(next) => narrow({ target: next || undefined })}
      />
      <Day label={t('audit.from')} value={since} onChange={(next) => narrow({ since: next })} />
      <Day label={t('audit.until')} value={until} onChange={(next) => narrow({ until: next })} />
    </div>
  );
}

interface DayProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string | undefined) => void;
}

function Day({ label, value, onChange }: DayProps) {
  return (
    <label className="text-soft flex items-center gap-1.5 text-xs">
      {label}
      <input
        type="date"
        className={inputClass}
        value={value}
        onChange={({ target }) => onChange(target.value || undefined)}
      />
    </label>
  );
}

/** The records that fit what is asked for. */
function useRecords() {
  const { actor, action, target, since, until } = route.useSearch();
  const filter = useDelayed(JSON.stringify({ actor, action, target, since, until }), 250);
  return { ...useInfiniteQuery(auditQuery(JSON.parse(filter) as AuditFilter)), isFiltered: filter !== '{}' };
}

function hasNoDatabase(error: unknown): boolean {
  return error instanceof ApiError && error.hasNoDatabase;
}

function Content({ found }: { readonly found: ReturnType<typeof useRecords> }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/audit' });
  const { record: open } = route.useSearch();
  const show = (record: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, record }), replace: true, resetScroll: false });
  if (found.isPending) return <Loading rows={8} />;
  if (found.isError) return <Failure error={found.error} retry={() => void found.refetch()} />;
  const records = found.data.pages.flat();
  const shown = records.find(({ id }) => String(id) === open);
  if (records.length === 0)
    return !found.isFiltered ? (
      <Empty icon={FileClock} title={t('audit.emptyTitle')} text={t('audit.emptyText')} />
    ) : (
      <Empty icon={SearchX} title={t('audit.noneTitle')} text={t('audit.noneText')}>
        <Button onClick={() => void navigate({ search: {}, replace: true })}>{t('audit.reset')}</Button>
      </Empty>
    );
  return (
    <>
      <Records records={records} onOpen={(id) => show(String(id))} />
      {found.hasNextPage && (
        <p className="border-line border-t p-3 text-center">
          <Button busy={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
            {t('audit.older')}
          </Button>
        </p>
      )}
      {shown && <Details record={shown} onClose={() => show(undefined)} />}
    </>
  );
}
