import type { UseQueryResult } from '@tanstack/react-query';
import { ShieldAlert, ShieldCheck } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { AuditCheck } from '../../api/types.ts';
import { count, many } from '../../lib/format.ts';
import { Copyable } from '../../ui/copy.tsx';
import { Failure } from '../../ui/failure.tsx';

/** What came of checking the chain; nothing before it was asked for. */
export function Chain({ check }: { readonly check: UseQueryResult<AuditCheck> }) {
  const { t } = useTranslation();
  const { data, isFetching, isError, error } = check;
  if (isFetching) return <p role="status">{t('audit.checking')}</p>;
  if (isError) return <Failure error={error} retry={() => void check.refetch()} />;
  if (!data) return null;
  if (!data.whole)
    return (
      <div role="alert" className="bg-bad-wash flex gap-3 rounded-lg p-4 text-sm">
        <ShieldAlert size={18} aria-hidden className="text-bad mt-0.5 shrink-0" />
        <div className="min-w-0">
          <p className="text-bad font-semibold">{t('audit.broken', { number: count(data.id ?? data.records) })}</p>
          <p className="wrap-anywhere">{t('audit.brokenText', { why: data.why ?? '' })}</p>
        </div>
      </div>
    );
  return (
    <div role="status" className="bg-good-wash flex gap-3 rounded-lg p-4 text-sm">
      <ShieldCheck size={18} aria-hidden className="text-good mt-0.5 shrink-0" />
      <div className="flex min-w-0 flex-col gap-1.5">
        <p>
          <strong className="text-good font-semibold">{t('audit.whole')}.</strong>{' '}
          {t('audit.wholeText', many(data.records))}
        </p>
        {data.head && (
          <>
            <p>{t('audit.head', { number: count(data.head.id) })}</p>
            <Copyable text={data.head.hash} label={t('audit.hash')} />
          </>
        )}
      </div>
    </div>
  );
}
