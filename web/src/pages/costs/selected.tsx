import { Undo2, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { many, short } from '../../lib/format.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { type BilledTool, byServer, sumOf } from './bill.ts';

const bar = 'lifted sticky bottom-3 z-20 flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg px-4 py-2.5 text-sm';

interface ChosenProps {
  readonly tools: readonly BilledTool[];
  readonly isBusy: boolean;
  readonly onSwitch: (enabled: boolean) => void;
  readonly onClear: () => void;
}

/** What is selected, and what can be done with it. */
export function Chosen({ tools, isBusy, onSwitch, onClear }: ChosenProps) {
  const { t } = useTranslation();
  const isAnyOn = tools.some(({ isOn }) => isOn);
  const isAnyOff = tools.some(({ isOn }) => !isOn);
  return (
    <section aria-label={t('costs.selected')} className={bar}>
      <p className="min-w-0 flex-1 basis-60">
        {t('costs.chosen', { ...many(tools.length), tokens: short(sumOf(tools)) })}
        <span className="text-soft block text-xs">{t('costs.forAll')}</span>
      </p>
      {isAnyOn && (
        <Button look="primary" busy={isBusy} onClick={() => onSwitch(false)}>
          {t('costs.switchOff')}
        </Button>
      )}
      {isAnyOff && (
        <Button look={isAnyOn ? 'plain' : 'primary'} busy={isBusy} onClick={() => onSwitch(true)}>
          {t('costs.switchOn')}
        </Button>
      )}
      <IconButton icon={X} label={t('common.clear')} onClick={onClear} />
    </section>
  );
}

interface ChangedProps {
  readonly last: {
    readonly tools: readonly Pick<BilledTool, 'server' | 'tool' | 'tokens'>[];
    readonly enabled: boolean;
  };
  readonly isBusy: boolean;
  readonly undo: () => void;
  readonly forget: () => void;
}

/** What was switched last, as long as nothing else is. */
export function Changed({ last: { tools, enabled }, isBusy, undo, forget }: ChangedProps) {
  const { t } = useTranslation();
  const sum = { ...many(tools.length), tokens: short(sumOf(tools)), servers: [...byServer(tools).keys()].join(', ') };
  return (
    <section aria-label={t('costs.changed')} className={bar}>
      <p role="status" className="min-w-0 flex-1 basis-60 wrap-anywhere">
        {t(enabled ? 'costs.isOn' : 'costs.isOff', sum)}
      </p>
      <Button icon={Undo2} busy={isBusy} onClick={undo}>
        {t('costs.undo')}
      </Button>
      <IconButton icon={X} label={t('common.close')} onClick={forget} />
    </section>
  );
}
