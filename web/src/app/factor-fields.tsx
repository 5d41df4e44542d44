import { Fingerprint } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { FactorAsked } from '../api/client.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';

interface FactorFieldsProps {
  readonly asked: FactorAsked;
  readonly code: string;
  readonly onCode: (code: string) => void;
  /** With what a passkey answered. */
  readonly onPasskey: (answer: unknown) => void;
}

/** Where a user shows the second factor: a passkey of this browser or a key, or a code that is typed. */
export function FactorFields({ asked, code, onCode, onPasskey }: FactorFieldsProps) {
  const { t } = useTranslation();
  const [failed, setFailed] = useState(false);
  const { passkey, methods } = asked;
  const usePasskey = () => {
    if (!passkey) return;
    setFailed(false);
    import('@simplewebauthn/browser')
      .then(({ startAuthentication }) => startAuthentication({ optionsJSON: passkey }))
      .then(onPasskey, () => setFailed(true));
  };
  const hasPasskey = passkey !== undefined && 'PublicKeyCredential' in window;
  return (
    <>
      {hasPasskey && (
        <div className="flex flex-col gap-1">
          <Button icon={Fingerprint} onClick={usePasskey}>
            {t('factor.usePasskey')}
          </Button>
          {failed && (
            <p role="alert" className="text-bad text-xs">
              {t('factor.passkeyFailed')}
            </p>
          )}
        </div>
      )}
      <TextField
        label={t(methods.includes('totp') ? 'factor.code' : 'factor.recoveryCode')}
        {...(methods.includes('totp') && { hint: t('factor.codeHint') })}
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        required
        autoFocus
        value={code}
        onChange={(event) => onCode(event.target.value)}
      />
    </>
  );
}
