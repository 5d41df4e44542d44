import { useQuery } from '@tanstack/react-query';
import { Check, ShieldQuestion, Undo2, X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import type { Approval } from '../../api/types.ts';
import { boot } from '../../boot.ts';
import { useAction } from '../../lib/action.ts';
import { cx } from '../../lib/cx.ts';
import { dateTime, relative } from '../../lib/format.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Empty, Loading, Page, Panel } from '../../ui/page.tsx';
import { Notifications } from './notifications.tsx';
import { approvalQuery, approvalsQuery } from './queries.ts';
import { useRowFocus } from './row-focus.ts';

/** Calls that wait for the yes of a person: for those who may give it, and for those whose calls they are. */
export function Approvals() {
  const { t } = useTranslation();
  const found = useQuery(approvalsQuery);
  const rows = useRowFocus();
  const waiting = found.data?.filter(({ state }) => state === 'waiting') ?? [];
  const decided = found.data?.filter(({ state }) => state !== 'waiting') ?? [];
  return (
    <Page title={t('nav.approvals')} lead={t('approvals.lead')}>
      {found.error ? (
        <Failure error={found.error} retry={() => void found.refetch()} />
      ) : !found.data ? (
        <Loading />
      ) : (
        <div {...rows} className="flex flex-col gap-5">
          <Notifications />
          <Panel title={t('approvals.waiting')} flush>
            {waiting.length === 0 ? (
              <Empty icon={ShieldQuestion} title={t('approvals.emptyTitle')} text={t('approvals.emptyText')} />
            ) : (
              <ul className="divide-line divide-y">
                {waiting.map((approval) => (
                  <Waiting key={approval.id} approval={approval} />
                ))}
              </ul>
            )}
          </Panel>
          {decided.length > 0 && (
            <Panel title={t('approvals.decided')} flush>
              <ul className="divide-line divide-y">
                {decided.slice(0, 50).map((approval) => (
                  <Decided key={approval.id} approval={approval} />
                ))}
              </ul>
            </Panel>
          )}
        </div>
      )}
    </Page>
  );
}

function Waiting({ approval }: { readonly approval: Approval }) {
  const { t } = useTranslation();
  const { id, server, tool, caller, client, address, policy, message, who, expiresAt, mayDecide, mayWithdraw } =
    approval;
  const decide = useAction<'approve' | 'deny'>({
    run: (decision) => ask(`/approvals${pathOf(id)}`, { method: 'POST', body: { decision } }),
  });
  const withdraw = useAction({ run: () => ask(`/approvals${pathOf(id)}`, { method: 'DELETE' }) });
  const from = [client, address].filter(Boolean).join(', ');
  const asked = who === 'admin' ? t('approvals.admins') : t('approvals.group', { group: who });
  return (
    <li className="flex flex-col gap-2 px-4 py-3" tabIndex={-1} aria-label={`${server}/${tool}`}>
      <p className="flex flex-wrap items-center gap-2 text-sm font-medium wrap-anywhere">
        {server}/{tool} <Badge>{policy}</Badge>
      </p>
      {message !== undefined && <p className="text-sm wrap-anywhere">{message}</p>}
      <p className="text-soft text-xs wrap-anywhere">
        {t('approvals.by', { caller })}
        {from !== '' && ` (${from})`} · {asked} · {t('approvals.expires', { time: relative(expiresAt) })}
      </p>
      <Arguments approval={approval} />
      {!boot.readonly && (mayDecide || mayWithdraw) && (
        <div className="flex flex-wrap gap-2">
          {mayDecide && (
            <>
              <Button look="primary" icon={Check} busy={decide.isPending} onClick={() => decide.mutate('approve')}>
                {t('approvals.approve')}
              </Button>
              <Button icon={X} disabled={decide.isPending} onClick={() => decide.mutate('deny')}>
                {t('approvals.deny')}
              </Button>
            </>
          )}
          {mayWithdraw && (
            <Button icon={Undo2} busy={withdraw.isPending} onClick={() => withdraw.mutate()}>
              {t('approvals.withdraw')}
            </Button>
          )}
        </div>
      )}
    </li>
  );
}

/** As they will be sent; long ones as a whole when they are asked for. */
function Arguments({ approval: { id, shown, argumentsCut } }: { readonly approval: Approval }) {
  const { t } = useTranslation();
  const [isWhole, setWhole] = useState(false);
  const whole = useQuery({ ...approvalQuery(id), enabled: isWhole });
  const now = whole.data ?? { shown, argumentsCut };
  return (
    <>
      <pre
        tabIndex={0}
        aria-label={t('approvals.arguments')}
        className={cx(
          'bg-hover overflow-auto rounded-lg p-3 font-mono text-xs wrap-anywhere whitespace-pre-wrap',
          whole.data ? 'max-h-[80dvh]' : 'max-h-60',
        )}
      >
        {now.shown}
      </pre>
      {argumentsCut && !whole.data && (
        <div className="flex flex-wrap items-center gap-2">
          <p className="text-warn text-xs">{t('approvals.cut')}</p>
          <Button busy={whole.isFetching} onClick={() => setWhole(true)}>
            {t('approvals.showAll')}
          </Button>
        </div>
      )}
      {whole.data?.argumentsCut && <p className="text-warn text-xs">{t('approvals.cut')}</p>}
    </>
  );
}

const tones: Record<Approval['state'], Tone> = {
  waiting: 'accent',
  approved: 'good',
  used: 'good',
  denied: 'bad',
  expired: 'plain',
  withdrawn: 'plain',
};

function Decided({ approval }: { readonly approval: Approval }) {
  const { t } = useTranslation();
  const { server, tool, caller, state, decidedBy, decidedAt, createdAt } = approval;
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 text-sm">
      <span className="min-w-0 flex-1 wrap-anywhere">
        {server}/{tool} <span className="text-soft text-xs">{t('approvals.by', { caller })}</span>
      </span>
      <Badge tone={tones[state]}>{t(`approvals.states.${state}`)}</Badge>
      <span className="text-soft text-xs">
        {decidedBy !== undefined && `${decidedBy} · `}
        {dateTime(decidedAt ?? createdAt)}
      </span>
    </li>
  );
}
