import { errorText, HubError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import type { AccountOptions } from './account.ts';
import type { Attempts } from './attempts.ts';
import type { Negotiation, Prepared } from './negotiation.ts';

/** The address that somebody is asked to open, for as long as they are asked; never one that is about to expire. */
export interface Invitation {
  readonly url: string | undefined;
  /** Shows an address from now on. */
  show(prepared: Prepared): Promise<string>;
  /** Replaces an address that is used up. */
  renew(): void;
  hide(): void;
  /** An address for one user, not shown to others. */
  for(prepared: Prepared, by: string | undefined): Promise<string>;
  /** Nothing is shown any more, and no answer counts. */
  close(): void;
}

export function createInvitation(
  { server, log, changed }: AccountOptions,
  { authorizationUrl }: Pick<Negotiation, 'authorizationUrl'>,
  attempts: Attempts,
): Invitation {
  const account = {};
  let shown: { readonly prepared: Prepared; readonly url: string } | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function newUrl(prepared: Prepared, by: string | undefined): Promise<string> {
    const state = attempts.newState();
    const { url, verifier } = await authorizationUrl(prepared, state);
    if (closed) throw new HubError('conflict', `Server "${server}" was set up anew meanwhile. Begin again.`);
    attempts.add(state, { account, server, by, ...prepared, verifier });
    return url;
  }

  async function show(prepared: Prepared): Promise<string> {
    const url = await newUrl(prepared, undefined);
    clearTimeout(timer);
    shown = { prepared, url };
    timer = setTimeout(renew, limits.signInMs / 2).unref();
    changed();
    return url;
  }

  function renew(): void {
    if (!shown) return;
    show(shown.prepared).catch((error: unknown) => log.debug('no new address to sign in', { error: errorText(error) }));
  }

  function hide(): void {
    clearTimeout(timer);
    shown = undefined;
  }

  return {
    get url() {
      return shown?.url;
    },
    show,
    renew,
    hide,
    for: newUrl,
    close() {
      closed = true;
      hide();
      attempts.forget(account);
    },
  };
}
