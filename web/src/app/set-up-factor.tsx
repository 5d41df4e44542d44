import { useTranslation } from 'react-i18next';
import type { Me } from '../api/types.ts';
import { SecondFactor } from '../pages/account-second-factor.tsx';
import { Button } from '../ui/button.tsx';
import { Page, Panel } from '../ui/page.tsx';
import { AccountMenu } from './account-menu.tsx';

interface SetUpFactorProps {
  readonly me: Me;
  /** The hub demands nothing more. */
  readonly isDone: boolean;
  readonly onDone: () => void;
}

/** All that a user sees who has to set up a second factor before anything else. */
export function SetUpFactor({ me, isDone, onDone }: SetUpFactorProps) {
  const { t } = useTranslation();
  return (
    <main className="mx-auto max-w-2xl">
      <Page title={t('factor.first')} lead={t('factor.firstLead')} actions={<AccountMenu me={me} />}>
        <Panel title={t('factor.title')}>
          <SecondFactor />
        </Panel>
        {isDone && (
          <div>
            <Button look="primary" onClick={onDone}>
              {t('factor.continue')}
            </Button>
          </div>
        )}
      </Page>
    </main>
  );
}
