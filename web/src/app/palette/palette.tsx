import { Search } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type KeyboardEvent, useDeferredValue, useId, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Me } from '../../api/types.ts';
import { cx } from '../../lib/cx.ts';
import { focusPage } from '../../lib/focus-page.ts';
import { useFocusBack } from '../../lib/focus.ts';
import { many } from '../../lib/format.ts';
import { overlay } from '../shortcuts.ts';
import { type Entry, useEntries } from './entries.ts';
import { best } from './rank.ts';

/** As many as are worth looking through; of more, another letter finds them. */
const most = 50;

interface PaletteProps {
  readonly me: Me;
  /** What was typed before this was loaded. */
  readonly typed: string;
}

/** One field that finds everything that the user may see or do, and goes there or does it. */
export function Palette({ me, typed }: PaletteProps) {
  const { t } = useTranslation();
  const list = useId();
  const [q, setQ] = useState(typed);
  const [chosen, setChosen] = useState(0);
  const { field, leave, focus } = useFocus();
  const entries = useEntries(me);
  // Ten thousand tools are searched while the next letter is typed.
  const searched = useDeferredValue(q);
  const found = useMemo(
    () => best(searched.trim() === '' ? entries.filter(isOffered) : entries, searched, most),
    [entries, searched],
  );
  const at = Math.min(chosen, found.length - 1);
  const choose = (entry: Entry | undefined) => {
    if (!entry) return;
    if (entry.kind !== 'action') leave();
    overlay.set(undefined);
    entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const next = stepped(event.key, at, found.length);
    if (next !== undefined) {
      event.preventDefault();
      setChosen(next);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      // What is shown may be for fewer letters than are typed.
      choose(searched === q ? found[at] : best(entries, q, 1)[0]);
    }
  };
  return (
    <Dialog.Root open onOpenChange={(open) => open || overlay.set(undefined)}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/45" />
        <Dialog.Content
          aria-describedby={undefined}
          {...focus}
          className="lifted animate-appear fixed inset-x-3 top-3 z-50 mx-auto flex max-h-[min(32rem,80dvh)] max-w-xl flex-col overflow-hidden rounded-xl outline-none sm:top-[12vh]"
        >
          <Dialog.Title className="sr-only">{t('palette.title')}</Dialog.Title>
          <div className="border-line flex items-center gap-2.5 border-b px-4">
            <Search size={16} aria-hidden className="text-soft shrink-0" />
            <input
              ref={field}
              role="combobox"
              aria-label={t('palette.title')}
              aria-expanded={found.length > 0}
              aria-controls={list}
              aria-autocomplete="list"
              aria-activedescendant={found.length > 0 ? `${list}-${at}` : undefined}
              placeholder={t('palette.placeholder')}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={q}
              onChange={(event) => {
                setQ(event.target.value);
                setChosen(0);
              }}
              onKeyDown={onKeyDown}
              className="placeholder:text-soft min-h-12 min-w-0 flex-1 bg-transparent text-base outline-none sm:text-sm"
            />
          </div>
          <div id={list} role="listbox" aria-label={t('palette.title')} className="overflow-y-auto p-1.5 empty:hidden">
            {found.map((entry, index) => (
              <Option
                key={entry.id}
                id={`${list}-${index}`}
                entry={entry}
                isChosen={index === at}
                onPoint={() => setChosen(index)}
                onChoose={() => choose(entry)}
              />
            ))}
          </div>
          <p role="status" className={cx('text-soft text-sm', found.length > 0 ? 'sr-only' : 'p-6 text-center')}>
            {found.length > 0 ? t('palette.found', many(found.length)) : t('common.nothingFound')}
          </p>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Where the focus goes: into the field, and afterwards to where it was, or to the page that was chosen. */
function useFocus() {
  const giveBack = useFocusBack();
  const moved = useRef(false);
  const field = useRef<HTMLInputElement>(null);
  const focus = {
    onOpenAutoFocus(event: Event) {
      // What was typed already stays as it is, and is typed on.
      event.preventDefault();
      field.current?.focus();
    },
    onCloseAutoFocus(event: Event) {
      if (!moved.current) return giveBack(event);
      event.preventDefault();
      focusPage();
    },
  };
  const leave = () => {
    moved.current = true;
  };
  return { field, leave, focus };
}

/** Before anything is typed: not what there may be thousands of. */
function isOffered({ kind, id }: Entry): boolean {
  return kind === 'page' || (kind === 'action' && !id.startsWith('reconnect '));
}

/** The place that a key leads to; undefined: the key leads nowhere. */
function stepped(key: string, at: number, length: number): number | undefined {
  if (length === 0) return undefined;
  if (key === 'ArrowDown') return (at + 1) % length;
  if (key === 'ArrowUp') return (at - 1 + length) % length;
  if (key === 'PageDown') return Math.min(length - 1, at + 8);
  if (key === 'PageUp') return Math.max(0, at - 8);
  return undefined;
}

interface OptionProps {
  readonly id: string;
  readonly entry: Entry;
  readonly isChosen: boolean;
  readonly onPoint: () => void;
  readonly onChoose: () => void;
}

function Option({ id, entry: { name, more, kind, icon: Icon }, isChosen, onPoint, onChoose }: OptionProps) {
  const { t } = useTranslation();
  return (
    <button
      type="button"
      tabIndex={-1}
      id={id}
      role="option"
      aria-selected={isChosen}
      ref={(element) => {
        if (isChosen) element?.scrollIntoView({ block: 'nearest' });
      }}
      onPointerMove={() => isChosen || onPoint()}
      onClick={onChoose}
      className={cx(
        'flex min-h-9 w-full cursor-default text-left items-center gap-2.5 rounded-md px-2.5 py-1 text-sm select-none pointer-coarse:min-h-11',
        isChosen && 'bg-accent-wash text-accent-ink',
      )}
    >
      <Icon size={15} aria-hidden className="shrink-0" />
      <span className="min-w-0 flex-1 truncate">
        {name}
        {more !== '' && <span className={cx('ml-2 text-xs', !isChosen && 'text-soft')}>{more}</span>}
      </span>
      <span className={cx('shrink-0 text-xs', !isChosen && 'text-soft')}>{t(`palette.kinds.${kind}`)}</span>
    </button>
  );
}
