import { useRouter } from '@tanstack/react-router';
import { BookOpen, LogOut, UserRound } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { boot } from '../boot.ts';
import { chooseLanguage, languages, tags } from '../i18n/i18n.ts';
import { useStore } from '../lib/store.ts';
import { useErrorText } from '../ui/failure.tsx';
import { Menu, MenuChoice, MenuItem, MenuLine } from '../ui/menu.tsx';
import { logOut } from './log-out.ts';
import { chooseTheme, theme, themes } from './theme.ts';

/** The menu of the account, open when it is first there: what is a user's own to choose. */
export function AccountChoices({ trigger }: { readonly trigger: ReactNode }) {
  const { t } = useTranslation();
  const router = useRouter();
  const words = useErrorText();
  return (
    <Menu trigger={trigger} isOpenAtFirst>
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

function ThemeChoice() {
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

function LanguageChoice() {
  const { t, i18n } = useTranslation();
  return (
    <MenuChoice
      label={t('app.language')}
      value={i18n.language}
      onChange={(value) => void chooseLanguage(tags.find((tag) => tag === value) ?? 'en')}
      options={tags.map((tag) => ({ value: tag, label: languages[tag].name }))}
    />
  );
}
