import { ChevronsUpDown } from 'lucide-react';
import { type ComponentProps, type ComponentType, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Me } from '../api/types.ts';
import { toast } from '../ui/toast.tsx';
import type { AccountChoices } from './account-choices.tsx';

const load = () => import('./account-choices.tsx');

/** Who is logged in. What is theirs to choose is loaded when the button is used first. */
export function AccountMenu({ me }: { readonly me: Me | undefined }) {
  const { t } = useTranslation();
  const [Choices, setChoices] = useState<ComponentType<ComponentProps<typeof AccountChoices>>>();
  if (!me) return null;
  const open = () => {
    load().then(
      ({ AccountChoices }) => setChoices(() => AccountChoices),
      // The hub is away, or was replaced by another version since the page was loaded.
      () => toast.bad(t('app.lost')),
    );
  };
  const trigger = (more: ComponentProps<'button'> = {}) => (
    <button
      type="button"
      className="hover:bg-hover flex min-h-10 items-center gap-2.5 rounded-md px-2 text-left text-sm focus-visible:-outline-offset-2"
      {...more}
    >
      <span
        aria-hidden
        className="bg-accent-wash text-accent-ink grid size-6 place-items-center rounded-full text-xs font-semibold uppercase"
      >
        {me.username.slice(0, 1)}
      </span>
      <span className="min-w-0 flex-1 truncate">
        <span className="sr-only">{t('app.account')}: </span>
        {me.username}
      </span>
      <ChevronsUpDown size={14} aria-hidden className="text-soft" />
    </button>
  );
  return Choices ? (
    <Choices trigger={trigger()} />
  ) : (
    trigger({
      'aria-haspopup': 'menu',
      'aria-expanded': false,
      onClick: open,
      onPointerEnter: () => void load().catch(() => {}),
    })
  );
}
