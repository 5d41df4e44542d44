import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask } from '../api/client.ts';
import { cx } from '../lib/cx.ts';
import { useDelayed } from '../lib/delayed.ts';

interface Judged {
  readonly strength: 'weak' | 'fair' | 'good' | 'strong';
  readonly weakness?: 'short' | 'common' | 'name' | 'product' | 'repeated' | 'sequence';
  readonly refusal?: string;
  readonly minLength: number;
}

const filled = { weak: 1, fair: 2, good: 3, strong: 4 } as const;
const colours = { weak: 'bg-bad', fair: 'bg-warn', good: 'bg-good', strong: 'bg-good' } as const;

/**
 * How strong a new password is, as the hub judges it; nothing while nothing is typed, or when the hub does not answer.
 */
export function PasswordStrength({ password, username }: { readonly password: string; readonly username: string }) {
  const { t } = useTranslation();
  const typed = useDelayed(password, 250);
  const [answer, setAnswer] = useState<{ readonly to: string; readonly judged: Judged }>();
  const judged = answer?.to === password ? answer.judged : undefined;
  useEffect(() => {
    if (typed === '') return undefined;
    const leaving = new AbortController();
    const body = { password: typed, username };
    ask<Judged>('/auth/password-check', { method: 'POST', body, signal: leaving.signal }).then(
      ({ data }) => setAnswer({ to: typed, judged: data }),
      () => undefined,
    );
    return () => leaving.abort();
  }, [typed, username]);
  return (
    <div role="status" className="flex flex-col gap-1">
      {judged && (
        <>
          <div aria-hidden className="flex gap-1">
            {[1, 2, 3, 4].map((part) => (
              <span
                key={part}
                className={cx(
                  'h-1 flex-1 rounded-full',
                  part <= filled[judged.strength] ? colours[judged.strength] : 'bg-line',
                )}
              />
            ))}
          </div>
          <p className="text-soft text-xs">
            {t(`strength.${judged.strength}`)}
            {judged.weakness !== undefined && ` ${t(`strength.${judged.weakness}`)}`}
          </p>
        </>
      )}
    </div>
  );
}
