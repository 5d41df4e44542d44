import { useState } from 'react';

/**
 * What was found under a key when it was opened, for as long as the key is the same: a form over it keeps what is typed
 * when the hub does not have it any more.
 */
export function useKept<T>(key: string | undefined, now: T | undefined): T | undefined {
  const [kept, setKept] = useState<{ readonly key: string | undefined; readonly value: T }>();
  const isKept = kept !== undefined && kept.key === key;
  if (!isKept && now !== undefined) setKept({ key, value: now });
  return isKept ? kept.value : now;
}
