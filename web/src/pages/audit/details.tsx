import { useTranslation } from 'react-i18next';
import type { AuditRecord } from '../../api/types.ts';
import { count, dateTime } from '../../lib/format.ts';
import { type Change, changesOf } from '../../lib/changes.ts';
import { BeforeAfter } from '../../ui/before-after.tsx';
import { Copyable } from '../../ui/copy.tsx';
import { Drawer } from '../../ui/drawer.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Result, useActor } from './records.tsx';

interface DetailsProps {
  readonly record: AuditRecord;
  readonly onClose: () => void;
}

/** One record: who, what, and each value as it was and is. */
export function Details({ record, onClose }: DetailsProps) {
  const { t } = useTranslation();
  const who = useActor();
  const { id, time, address, via, action, target, prev, hash } = record;
  return (
    <Drawer title={`${action} · ${t('audit.record', { number: count(id) })}`} onClose={onClose}>
      <Facts
        facts={[
          [
            t('audit.time'),
            <time key="time" dateTime={time}>
              {dateTime(time)}
            </time>,
          ],
          [t('audit.actor'), who(record)],
          [t('audit.address'), address || undefined],
          [t('audit.via'), t(`audit.ways.${via}`)],
          [
            t('audit.target'),
            target === '' ? undefined : (
              <span key="target" className="wrap-anywhere">
                {target}
              </span>
            ),
          ],
          [t('audit.result'), <Result key="result" record={record} />],
        ]}
      />
      <Changes changes={changesOf(record)} />
      <div className="flex flex-col gap-2 text-sm">
        <p className="text-soft text-xs">{t('audit.hash')}</p>
        <Copyable text={hash} label={t('audit.hash')} />
        <p className="text-soft text-xs">{t('audit.prev')}</p>
        <Copyable text={prev} label={t('audit.prev')} />
      </div>
    </Drawer>
  );
}

function Changes({ changes }: { readonly changes: readonly Change[] }) {
  const { t } = useTranslation();
  if (changes.length === 0) return <p className="text-soft text-sm">{t('audit.noChanges')}</p>;
  return (
    <section aria-label={t('audit.changes')} className="flex flex-col gap-2">
      <h3 className="text-sm font-semibold">{t('audit.changes')}</h3>
      <BeforeAfter changes={changes} before={t('audit.before')} after={t('audit.after')} nothing={t('audit.nothing')} />
    </section>
  );
}
