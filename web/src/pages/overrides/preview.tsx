import { useTranslation } from 'react-i18next';
import type { JsonObject } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { count } from '../../lib/format.ts';
import { inOrderOf } from '../../lib/json.ts';
import { DiffLines } from '../../ui/diff-lines.tsx';

interface PreviewProps {
  /** The tool as its server lists it, and as clients get it; null while the server has not listed it. */
  readonly before: JsonObject | null;
  readonly after: JsonObject | null;
  /** What may be a mistake. */
  readonly message: string | undefined;
  /** Something has been typed since. */
  readonly isOld: boolean;
}

/** What clients see of a tool in their lists: without its override and with it. */
export function Preview({ before, after, message, isOld }: PreviewProps) {
  const { t } = useTranslation();
  if (!before || !after) return null;
  const was = JSON.stringify(before, null, 2);
  const is = JSON.stringify(inOrderOf(before, after), null, 2);
  const costs = { before: tokens(before), after: tokens(after) };
  return (
    <section aria-label={t('overrides.preview')} className={cx('flex flex-col gap-1.5', isOld && 'opacity-60')}>
      <h3 className="text-sm font-medium">{t('overrides.preview')}</h3>
      <p className="text-soft text-xs" role="status">
        {was === is ? t('overrides.same') : t('overrides.costs', costs)}
      </p>
      {message !== undefined && <p className="text-warn text-sm">{message}</p>}
      <DiffLines label={t('overrides.difference')} before={was} after={is} />
    </section>
  );
}

/** As the hub counts them: a token is taken for four characters. */
function tokens(tool: JsonObject): string {
  return count(Math.ceil(JSON.stringify(tool).length / 4));
}
