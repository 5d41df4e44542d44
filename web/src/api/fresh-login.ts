import { createStore } from '../lib/store.ts';

/** Set while the password is asked for once more; answered by `FreshLogin`, with whether it was given. */
export const passwordAsk = createStore<((given: boolean) => void) | undefined>(undefined);

let asking: Promise<boolean> | undefined;

/**
 * Asks for the password because the login is too old for something; true when it was given. One dialog for all that
 * wait for it.
 */
export function freshLogin(): Promise<boolean> {
  asking ??= new Promise<boolean>((resolve) => passwordAsk.set(resolve)).finally(() => {
    asking = undefined;
    passwordAsk.set(undefined);
  });
  return asking;
}
