import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { type Period, type Span, spans } from '../../api/records.ts';
import { dateTime } from '../../lib/format.ts';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/select.tsx';
import { allFailed, filterNames } from './filters.tsx';

const route = getRouteApi('/shell/activity');
const names = Object.keys(spans) as Span[];
const usual: Span = '24h';

/** A time that was chosen in a chart, or how far back. */
export function PeriodChoice() {
  const { t } = useTranslation();
  const { span, period } = useFilter();
  const navigate = useNavigate({ from: '/activity' });
  const goTo = (since: string, replace: boolean) =>
    void navigate({ search: (old) => ({ ...old, since, from: undefined, to: undefined, page: undefined }), replace });
  const isChosen = typeof period !== 'string';
  return (
    <>
      {isChosen && (
        <Button onClick={() => goTo(span, false)} title={t('activity.allTimes')}>
          <span className="tabular-nums">
            {t('activity.fromTo', { first: dateTime(period.from), last: dateTime(period.to) })}
          </span>
          <X size={15} aria-hidden />
          <span className="sr-only">{t('activity.allTimes')}</span>
        </Button>
      )}
      <Select
        aria-label={t('overview.range')}
        value={isChosen ? '' : span}
        onChange={({ target: { value } }) => goTo(value, true)}
        options={[
          ...(isChosen ? [{ value: '', label: t('activity.chosenTime') }] : []),
          ...names.map((value) => ({ value, label: t(`overview.${value}`) })),
        ]}
      />
    </>
  );
}

/** Which calls are shown: all of it is in the address. */
export function useFilter() {
  const search = route.useSearch();
  const span = names.find((name) => name === search.since) ?? usual;
  const [from, to] = [Date.parse(search.from ?? ''), Date.parse(search.to ?? '')];
  const period: Period = from <= to ? { from: new Date(from).toISOString(), to: new Date(to).toISOString() } : span;
  const chosen = Object.fromEntries(filterNames.map((name) => [name, search[name]]));
  const filter = search.status === allFailed ? { ...chosen, status: undefined, failed: 'true' } : chosen;
  const narrowed = typeof period !== 'string' || filterNames.some((name) => search[name] !== undefined);
  return { span, period, filter, narrowed, page: Math.max(1, Math.floor(Number(search.page ?? 1)) || 1) };
}

export type Chosen = Pick<ReturnType<typeof useFilter>, 'period' | 'filter'>;
