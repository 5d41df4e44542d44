import { storage } from '../lib/storage.ts';
import { createStore } from '../lib/store.ts';

/** Who is logged in here: the access token, kept across reloads and shared by the tabs of this browser. */
const token = createStore(storage.get('token'));

/** Why the login page is shown; undefined when it was asked for. */
export const endReason = createStore<'expired' | undefined>(undefined);

window.addEventListener('storage', ({ key }) => {
  if (key === 'toolhub.token' || key === null) token.set(storage.get('token'));
});

/** The user a token is for. The hub alone decides whether it holds. */
function subjectOf(jwt: string | undefined): string | undefined {
  try {
    const [, payload = ''] = (jwt ?? '').split('.');
    const { sub } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { sub?: string };
    return sub;
  } catch {
    return undefined;
  }
}

export const session = {
  token: () => token.get(),
  username: () => subjectOf(token.get()),
  subscribe: token.subscribe,
  begin(value: string): void {
    endReason.set(undefined);
    storage.set('token', value);
    token.set(value);
  },
  /** `expired`: the hub does not accept `refused` any more. A token that came since is not touched. */
  end(why?: 'expired', refused = token.get()): void {
    if (refused !== token.get()) return;
    endReason.set(why);
    storage.set('token', undefined);
    token.set(undefined);
  },
};
