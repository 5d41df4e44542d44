import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import type { Key } from '../../api/types.ts';
import { useAction } from '../../lib/action.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { DialogForm } from '../../ui/dialog-form.tsx';
import { SelectField } from '../../ui/field.tsx';

interface RotateKeyProps {
  readonly entry: Key;
  readonly onClose: () => void;
  readonly onMade: (key: Key) => void;
}

/** How long the token before still works, in seconds. */
const overlaps = { none: 0, hour: 3_600, day: 86_400, week: 604_800 };
const choices = ['none', 'hour', 'day', 'week'] as const;

/** Gives a key another token; the one before works on for as long as its programs need to be changed. */
export function RotateKey({ entry, onClose, onMade }: RotateKeyProps) {
  const { t } = useTranslation();
  const [overlap, setOverlap] = useState<(typeof choices)[number]>('day');
  const rotate = useAction<void, { data: Key }>({
    run: () =>
      ask<Key>(`/auth/keys${pathOf(entry.id)}/rotate`, {
        method: 'POST',
        body: { overlapSeconds: overlaps[overlap] },
      }),
    done: ({ data }) => onMade(data),
    quiet: true,
  });
  return (
    <Dialog open title={t('keys.rotate', { name: entry.name })} onClose={onClose}>
      <DialogForm
        submit={t('keys.rotateGo')}
        onSubmit={() => rotate.mutate()}
        busy={rotate.isPending}
        error={rotate.error}
        known={[]}
        onCancel={onClose}
      >
        <p className="text-soft text-sm">{t('keys.rotateText')}</p>
        <SelectField
          label={t('keys.overlap')}
          value={overlap}
          onChange={(event) => setOverlap(choices.find((choice) => choice === event.target.value) ?? 'day')}
          options={choices.map((value) => ({ value, label: t(`keys.overlaps.${value}`) }))}
        />
      </DialogForm>
    </Dialog>
  );
}
