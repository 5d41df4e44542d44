import { useQuery } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { BookOpen, ChevronsUpDown, LogOut, UserRound } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { send } from '../api/client.ts';
import { queryClient, refresh } from '../api/queries.ts';
import { session } from '../api/session.ts';
import type { Me } from '../api/types.ts';
import { boot } from '../boot.ts';
import { chooseLanguage, languages } from '../i18n/i18n.ts';
import { useStore } from '../lib/store.ts';
import { useErrorText } from '../ui/failure.tsx';
import { Menu, MenuChoice, MenuItem, MenuLine } from '../ui/menu.tsx';
import { toast } from '../ui/toast.tsx';
import { chooseTheme, theme, themes } from './theme.ts';

/** Who is logged in, and what is theirs to choose: theme, language, password. */
export function AccountMenu({ me }: { readonly me: Me | undefined }) {
  const { t } = useTranslation();
  const router = useRouter();
  const words = useErrorText();
  if (!me) return null;
  return (
    <Menu
      trigger={
        <button
          type="button"
          className="hover:bg-hover flex min-h-10 items-center gap-2.5 rounded-md px-2 text-left text-sm focus-visible:-outline-offset-2"
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
      }
    >
      <MenuItem icon={UserRound} onSelect={() => void router.navigate({ to: '/account' })}>
        {t('app.account')}
      </MenuItem>
      <MenuItem icon={BookOpen} onSelect={() => window.open(`${boot.basePath}/api/docs`, '_blank', 'noopener')}>
        {t('app.apiDocs')}
      </MenuItem>
      <MenuLine />
      <ThemeChoice />
      <LanguageChoice />
      <MenuLine />
      <MenuItem icon={LogOut} onSelect={() => logOut(words)}>
        {t('app.logOut')}
      </MenuItem>
    </Menu>
  );
}

export function ThemeChoice() {
  const { t } = useTranslation();
  const chosen = useStore(theme);
  return (
    <MenuChoice
      label={t('app.theme')}
      value={chosen}
      onChange={(value) => chooseTheme(themes.find((name) => name === value) ?? 'system')}
      options={themes.map((value) => ({ value, label: t(`app.${value}`) }))}
    />
  );
}

export function LanguageChoice() {
  const { t, i18n } = useTranslation();
  const { data = [] } = useQuery({
    queryKey: ['languages'],
    queryFn: languages,
    staleTime: Infinity,
    meta: { live: false },
  });
  return (
    <MenuChoice
      label={t('app.language')}
      value={i18n.language}
      onChange={(tag) => void chooseLanguage(tag)}
      options={data.map(({ tag, name }) => ({ value: tag, label: name }))}
    />
  );
}

/** Only the hub can end the session, whose cookie no page can take away: a logout that fails is not one. */
export function logOut(words: (error: unknown) => string): void {
  // What is under way would be refused.
  void queryClient.cancelQueries();
  send('/auth/logout', { method: 'POST' }).then(
    () => session.end(),
    (error: unknown) => {
      toast.bad(words(error));
      refresh();
    },
  );
}
