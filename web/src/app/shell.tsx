import { useQuery } from '@tanstack/react-query';
import { Outlet, useRouter } from '@tanstack/react-router';
import { CloudOff } from 'lucide-react';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { connection, followChanges } from '../api/live.ts';
import { meQuery, queryClient } from '../api/queries.ts';
import { session } from '../api/session.ts';
import type { Me } from '../api/types.ts';
import { needTexts } from '../i18n/i18n.ts';
import { focusPage } from '../lib/focus-page.ts';
import { lazily } from '../lib/lazily.tsx';
import { useStore } from '../lib/store.ts';
import { Failure } from '../ui/failure.tsx';
import { toast } from '../ui/toast.tsx';
import { Navigation } from './navigation.tsx';
import { PasswordAsked } from './password-asked.tsx';
import { overlay, useShortcuts } from './shortcuts.ts';

// What few pages need is loaded with the first that does.
const SetUpFactor = lazy(() => import('./set-up-factor.tsx').then(({ SetUpFactor }) => ({ default: SetUpFactor })));
const noOverlay = () => overlay.set(undefined);
const Palette = lazily(async () => {
  const [{ Palette }] = await Promise.all([import('./palette/palette.tsx'), needTexts('access', 'groups')]);
  return Palette;
}, noOverlay);
const KeyHelp = lazily(() => import('./palette/key-help.tsx').then(({ KeyHelp }) => KeyHelp), noOverlay);

/** What is around every page after the login. */
export function Shell() {
  const { t } = useTranslation();
  const main = useRef<HTMLElement>(null);
  const me = useQuery(meQuery);
  const mustSetUp = me.data?.mustSetUpSecondFactor === true;
  const [isSettingUp, setSettingUp] = useState(false);
  // Stays until the recovery codes were seen.
  if (mustSetUp && !isSettingUp) setSettingUp(true);
  useLogInAgain();
  useFocusOnPage();
  // Who has to set up a second factor first hears of nothing yet.
  useEffect(() => (mustSetUp ? undefined : followChanges()), [mustSetUp]);
  useShortcuts(isSettingUp ? undefined : me.data);
  if (me.data && isSettingUp)
    return (
      <Suspense>
        <SetUpFactor me={me.data} isDone={!mustSetUp} onDone={() => setSettingUp(false)} />
      </Suspense>
    );
  return (
    <div className="flex min-h-dvh flex-col md:flex-row">
      <a
        href="#main"
        className="lifted sr-only z-50 rounded-md px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t('app.skip')}
      </a>
      <Navigation me={me.data} />
      <main ref={main} id="main" tabIndex={-1} className="min-w-0 flex-1 outline-none">
        <ConnectionBanner />
        {me.data ? (
          <>
            {(me.data.passwordIsInitial === true || me.data.passwordIsWeak === true) && (
              <PasswordAsked weak={me.data.passwordIsWeak === true} />
            )}
            <Outlet />
          </>
        ) : (
          me.error && <Failure error={me.error} retry={() => void me.refetch()} />
        )}
      </main>
      {me.data && <Overlays me={me.data} />}
    </div>
  );
}

/** What keys open over the page; loaded when it is opened first. */
function Overlays({ me }: { readonly me: Me }) {
  const open = useStore(overlay);
  if (!open) return null;
  return open.kind === 'palette' ? <Palette me={me} typed={open.typed} /> : <KeyHelp me={me} />;
}

/** When the session ends, here or in another tab: to the login page, and back to here afterwards. */
function useLogInAgain(): void {
  const router = useRouter();
  useEffect(() => {
    return session.subscribe(() => {
      if (session.csrf() === undefined) {
        queryClient.clear();
        void router.navigate({ to: '/login', search: { from: router.state.location.publicHref } });
        return;
      }
      const shown = queryClient.getQueryData(meQuery.queryKey);
      void queryClient.fetchQuery({ ...meQuery, staleTime: 0 }).then((me) => {
        // Another user has logged in in another tab: what is shown here is not theirs.
        if (shown && shown.username !== me.username) window.location.reload();
      });
    });
  }, [router]);
}

/** Where the button that led to another page went with the last one, the page that has come gets the focus. */
function useFocusOnPage(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        if (fromLocation && pathChanged && document.activeElement === document.body) focusPage();
      }),
    [router],
  );
}

function ConnectionBanner() {
  const { t } = useTranslation();
  const state = useStore(connection);
  const before = useRef(state);
  useEffect(() => {
    if (before.current === 'lost' && state === 'open') toast.good(t('app.back'));
    before.current = state;
  }, [state, t]);
  return (
    <div role="status">
      {state === 'lost' && (
        <p className="bg-warn-wash text-warn sticky top-0 z-30 flex flex-wrap items-center gap-x-2 px-4 py-2 text-sm font-medium">
          <CloudOff size={16} aria-hidden />
          {t('app.lost')}
          <span className="font-normal">{t('app.lostHint')}</span>
        </p>
      )}
    </div>
  );
}
