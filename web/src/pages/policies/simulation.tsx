import { useTranslation } from 'react-i18next';
import type { Policy, Simulation } from '../../api/types.ts';
import { remarkIn } from '../../i18n/hub-texts.ts';
import { dateTime, many } from '../../lib/format.ts';
import { Badge } from '../../ui/badge.tsx';
import { hitsOf } from './hits.ts';

/** As many tools and callers are listed, those with the most calls. */
const shownMost = 100;

/** What a policy would have done with the recorded calls, and who is hit. */
export function Simulated({ found }: { readonly found: Simulation }) {
  const { t } = useTranslation();
  const { checked, withoutArguments, unknownCallers, refused, asked, warnings } = found;
  const hits = hitsOf(found);
  return (
    <section aria-label={t('policies.simulation')} className="flex flex-col gap-2 text-sm">
      <Warnings warnings={warnings} />
      <p role="status">
        {checked === 0 ? t('policies.noCalls') : t('policies.checked', many(checked))}{' '}
        {checked > 0 &&
          (hits.length === 0
            ? t('policies.noneHit')
            : `${t('policies.refused', many(refused.length))} ${t('policies.asked', many(asked.length))}`)}
      </p>
      {withoutArguments > 0 && (
        <p className="text-soft text-xs">{t('policies.withoutArguments', many(withoutArguments))}</p>
      )}
      {unknownCallers > 0 && <p className="text-soft text-xs">{t('policies.unknownCallers', many(unknownCallers))}</p>}
      {hits.length > 0 && (
        <>
          <h3 className="text-soft text-xs font-medium">{t('policies.hit')}</h3>
          <ul
            tabIndex={0}
            aria-label={t('policies.hit')}
            className="divide-line border-line max-h-60 divide-y overflow-y-auto rounded-lg border"
          >
            {hits.slice(0, shownMost).map(({ tool, caller, refused: no, asked: ask, last }) => (
              <li
                key={JSON.stringify([tool, caller])}
                className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-xs"
              >
                <span className="min-w-0 flex-1 basis-40 wrap-anywhere">
                  <span className="font-medium">{tool}</span>{' '}
                  <span className="text-soft">{caller ?? t('policies.withoutCredential')}</span>
                </span>
                {no > 0 && <Badge tone="bad">{t('policies.refusedShort', many(no))}</Badge>}
                {ask > 0 && <Badge tone="warn">{t('policies.askedShort', many(ask))}</Badge>}
                <span className="text-soft">{t('policies.last', { time: dateTime(last) })}</span>
              </li>
            ))}
          </ul>
          {hits.length > shownMost && (
            <p className="text-soft text-xs">{t('policies.moreHit', many(hits.length - shownMost))}</p>
          )}
        </>
      )}
    </section>
  );
}

interface Warning {
  readonly text: string;
  readonly said: Simulation['warnings'][number]['said'] | undefined;
}

/** The warnings of a policy, each with its name. */
export function warningsOf({ warnings, said }: Pick<Policy, 'warnings' | 'said'>): readonly Warning[] {
  return warnings.map((text, at) => ({ text, said: said[at] }));
}

/** What a policy names that is not there; nothing where all is well. */
export function Warnings({ warnings }: { readonly warnings: readonly Warning[] }) {
  const { t } = useTranslation();
  if (warnings.length === 0) return null;
  return (
    <ul className="bg-warn-wash text-warn flex flex-col gap-1 rounded-md px-3 py-2 text-xs wrap-anywhere">
      {warnings.map(({ text, said }) => {
        const message = remarkIn(said);
        const { line, column }: Partial<Record<string, string>> = said?.values ?? {};
        const isPlaced = message !== undefined && line !== undefined && column !== undefined;
        return <li key={text}>{isPlaced ? t('policies.problem', { line, column, message }) : (message ?? text)}</li>;
      })}
    </ul>
  );
}
