import { type ComponentType, useEffect, useEffectEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { connection } from '../api/live.ts';
import { toast } from '../ui/toast.tsx';

/**
 * A component that is loaded when it is shown first, and then stays. When it cannot be loaded, as from a hub that is
 * away, the page stays as it is and says so: `failed` takes back that it was wanted, and the next time it is tried
 * again. Nothing is asked of a hub that is known to be away: browsers do not ask again for a file that failed.
 */
export function lazily<P extends object>(load: () => Promise<ComponentType<P>>, failed: (props: P) => void) {
  let loaded: ComponentType<P> | undefined;
  return function Lazily(props: P) {
    const { t } = useTranslation();
    const [Shown, show] = useState(() => loaded);
    const giveUp = useEffectEvent(() => {
      toast.bad(t('failure.unreachable'));
      failed(props);
    });
    useEffect(() => {
      if (loaded) return;
      let isGone = false;
      const loading = connection.get() === 'lost' ? Promise.reject(new Error('the hub is away')) : load();
      loading.then(
        (component) => {
          loaded = component;
          if (!isGone) show(() => component);
        },
        () => {
          if (!isGone) giveUp();
        },
      );
      return () => {
        isGone = true;
      };
    }, []);
    return Shown ? <Shown {...props} /> : null;
  };
}
