import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Me } from '../../api/types.ts';
import { Dialog, DialogBody } from '../../ui/dialog.tsx';
import { placesOf } from '../places.ts';
import { isMac, overlay } from '../shortcuts.ts';

/** All keys that work on every page. */
export function KeyHelp({ me }: { readonly me: Me }) {
  const { t } = useTranslation();
  const [before] = useState(() => document.activeElement);
  const close = () => {
    overlay.set(undefined);
    if (before instanceof HTMLElement) before.focus();
  };
  const everywhere = [
    { keys: [isMac ? '⌘' : 'Ctrl', 'K'], text: t('palette.title') },
    { keys: ['/'], text: t('palette.slash') },
    { keys: ['J', 'K'], text: t('palette.records') },
    { keys: ['?'], text: t('palette.keys') },
    { keys: ['Esc'], text: t('palette.escape') },
  ];
  const pages = placesOf(me)
    .flat()
    .map(({ letter, name }) => ({ keys: ['g', letter], text: t(`nav.${name}`) }));
  return (
    <Dialog open title={t('palette.keys')} description={t('palette.keysText')} onClose={close}>
      <DialogBody label={t('palette.keys')}>
        {[
          { title: t('palette.everywhere'), rows: everywhere },
          { title: t('palette.pages'), rows: pages },
        ].map(({ title, rows }) => (
          <section key={title} aria-label={title}>
            <h2 className="text-soft mb-1 text-xs font-medium">{title}</h2>
            <dl className="grid gap-x-8 text-sm sm:grid-cols-2">
              {rows.map(({ keys, text }) => (
                <div key={text} className="flex min-h-8 items-center justify-between gap-3">
                  <dt>{text}</dt>
                  <dd className="flex gap-1">
                    {keys.map((key) => (
                      <kbd key={key} className="border-edge bg-page min-w-6 rounded border px-1.5 text-center text-xs">
                        {key}
                      </kbd>
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </DialogBody>
    </Dialog>
  );
}
