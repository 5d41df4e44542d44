import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { notifyKey } from '../../app/waiting-approvals.tsx';
import { storage } from '../../lib/storage.ts';
import { Switch } from '../../ui/switch.tsx';

type State = 'none' | 'blocked' | 'off' | 'on';

/** Whether the browser tells of new calls; it is asked for its permission when the switch is used, and not before. */
export function Notifications() {
  const { t } = useTranslation();
  const [state, setState] = useState(now);
  async function change(isWanted: boolean): Promise<void> {
    if (isWanted && Notification.permission === 'default') await Notification.requestPermission();
    storage.set(notifyKey, isWanted && Notification.permission === 'granted' ? 'on' : undefined);
    setState(now());
  }
  const hint = state === 'none' ? 'notifyNone' : state === 'blocked' ? 'notifyBlocked' : 'notifyHint';
  return (
    <div className="flex items-center gap-3 text-sm">
      <Switch
        checked={state === 'on'}
        onChange={(isWanted) => void change(isWanted)}
        label={t('approvals.notify')}
        disabled={state === 'none' || state === 'blocked'}
      />
      <div>
        <p className="font-medium">{t('approvals.notify')}</p>
        <p className="text-soft text-xs">{t(`approvals.${hint}`)}</p>
      </div>
    </div>
  );
}

function now(): State {
  if (!('Notification' in window) || !window.isSecureContext) return 'none';
  if (Notification.permission === 'denied') return 'blocked';
  return storage.get(notifyKey) !== undefined && Notification.permission === 'granted' ? 'on' : 'off';
}
