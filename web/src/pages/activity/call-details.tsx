import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { get, pathOf } from '../../api/client.ts';
import type { Activity } from '../../api/types.ts';
import { bytes, dateTime, duration } from '../../lib/format.ts';
import { Code } from '../../ui/copy.tsx';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loading } from '../../ui/page.tsx';
import { Outcome, whoOf } from './call-table.tsx';

/** One call: who, through what, how long, and what of it was kept. */
export function CallDetails({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { t } = useTranslation();
  const call = useQuery({
    queryKey: ['activities', id],
    queryFn: ({ signal }) => get<Activity>(`/activities${pathOf(id)}`, signal),
    meta: { live: false },
  });
  return (
    <Dialog open wide title={t('activity.details', { tool: call.data?.tool ?? '' })} onClose={onClose}>
      <DialogBody>
        {call.error ? <Failure error={call.error} /> : call.data ? <Details call={call.data} /> : <Loading />}
      </DialogBody>
    </Dialog>
  );
}

function Details({ call }: { readonly call: Activity }) {
  const { t } = useTranslation();
  const { server, tool, status, errorMessage, timestamp, durationMs, resultBytes, group, scope, sourceIp, traceId } =
    call;
  const facts = [
    [t('activity.server'), server],
    [t('activity.tool'), tool],
    [t('activity.time'), dateTime(timestamp)],
    [t('activity.duration'), duration(durationMs)],
    [t('activity.who'), whoOf(call, t('activity.anonymous'))],
    [t('activity.group'), group],
    [t('activity.scope'), scope],
    [t('activity.address'), sourceIp],
    [t('activity.size'), bytes(resultBytes)],
    [t('activity.trace'), traceId],
  ] as const;
  const kept = [
    [t('activity.input'), call.input],
    [t('activity.output'), call.output],
  ] as const;
  return (
    <>
      <div>
        <Outcome status={status} />
      </div>
      {errorMessage !== undefined && <p className="text-bad text-sm break-words">{errorMessage}</p>}
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5 text-sm">
        {facts.map(([name, value]) =>
          value === undefined || value === '' ? null : (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="min-w-0 break-words">{value}</dd>
            </div>
          ),
        )}
      </dl>
      {kept.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <p className="text-soft mb-1 text-xs font-medium">{name}</p>
            <Code wrap label={name} text={value} />
          </div>
        ),
      )}
      {call.input === undefined && call.output === undefined && (
        <p className="text-soft text-xs">{t('activity.notKept')}</p>
      )}
      {call.kind === 'call' && (
        <Link to="/tools" search={{ server, tool }} className="text-accent-ink text-sm hover:underline">
          {t('activity.again')}
        </Link>
      )}
    </>
  );
}
