import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { get, queryOf } from '../../api/client.ts';
import type { Activity } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { duration } from '../../lib/format.ts';
import { Outcome } from './outcome.tsx';

const colours = { queue: 'bg-warn', server: 'bg-accent', hub: 'bg-edge' } as const;

/** Where the time of a call went; nothing for records that do not say. */
export function Parts({ record }: { readonly record: Activity }) {
  const { t } = useTranslation();
  const { durationMs, queueMs = 0, serverMs } = record;
  if (serverMs === undefined) return null;
  const hub = Math.max(0, durationMs - queueMs - serverMs);
  const parts = [
    ['queue', queueMs],
    ['server', serverMs],
    ['hub', hub],
  ] as const;
  const all = queueMs + serverMs + hub;
  return (
    <section>
      <h3 className="mb-1.5 text-sm font-medium">{t('activity.parts')}</h3>
      <div aria-hidden className="bg-hover flex h-2.5 overflow-hidden rounded-full">
        {parts.map(([name, ms]) => (
          <span
            key={name}
            className={colours[name]}
            style={{ width: all === 0 ? (name === 'server' ? '100%' : 0) : `${(ms / all) * 100}%` }}
          />
        ))}
      </div>
      <dl className="text-soft mt-1.5 flex flex-wrap gap-x-5 gap-y-1 text-xs">
        {parts.map(([name, ms]) => (
          <div key={name} className="flex items-center gap-1.5">
            <span aria-hidden className={cx('size-2 rounded-full', colours[name])} />
            <dt>{t(`activity.part.${name}`)}</dt>
            <dd className="text-ink tabular-nums">{duration(ms)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const kinds = ['search', 'describe', 'call'] as const;
/** Of each kind: a search may have led to many calls. */
const most = 20;

/** The search, what was looked at and what was called of it, in the order in which it happened. */
export function Steps({ record, searchId }: { readonly record: Activity; readonly searchId: string }) {
  const { t } = useTranslation();
  const { data = [] } = useQuery({
    queryKey: ['activity', 'steps', searchId],
    queryFn: async ({ signal }) => {
      const lists = kinds.map((kind) =>
        get<readonly Activity[]>(`/activities${queryOf({ searchId, kind, limit: most })}`, signal),
      );
      return (await Promise.all(lists)).flat().sort((a, b) => begunAt(a) - begunAt(b));
    },
    meta: { live: false },
  });
  const [first] = data;
  if (!first || data.length < 2) return null;
  return (
    <section>
      <h3 className="mb-1.5 text-sm font-medium">{t('activity.steps')}</h3>
      <ol aria-label={t('activity.steps')} className="border-line divide-line divide-y rounded-lg border">
        {data.map((step) => (
          <li key={step.id} aria-current={step.id === record.id ? 'step' : undefined}>
            <Link
              to="/activity"
              search={(old) => ({ ...old, call: step.id })}
              className={cx(
                'flex items-center gap-3 px-3 py-2 text-sm focus-visible:-outline-offset-2 pointer-coarse:min-h-10',
                step.id === record.id ? 'bg-accent-wash' : 'hover:bg-hover',
              )}
            >
              <span className="text-soft w-16 text-xs tabular-nums">+{duration(begunAt(step) - begunAt(first))}</span>
              <span className="min-w-0 flex-1 break-words">
                <span className="text-soft text-xs">{t(`activity.step.${step.kind}`)}</span>{' '}
                <span className="font-medium">
                  {step.kind === 'search' ? (step.query ?? t('activity.queryNotKept')) : step.tool}
                </span>
              </span>
              {step.kind === 'call' && <Outcome status={step.status} />}
              <span className="text-soft text-xs tabular-nums">{duration(step.durationMs)}</span>
            </Link>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Records have the time of their end. */
function begunAt({ timestamp, durationMs }: Activity): number {
  return Date.parse(timestamp) - durationMs;
}
