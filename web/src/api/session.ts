import { boot } from '../boot.ts';
import { storage } from '../lib/storage.ts';
import { createStore } from '../lib/store.ts';

// Who is logged in here, in all tabs of this browser. The page cannot read the cookie that tells the hub; it can read
// the one beside it, whose value changes have to be sent with.

const name = 'toolhub_csrf';

function cookie(): string | undefined {
  return document.cookie
    .split('; ')
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1);
}

const csrf = createStore(cookie());
window.addEventListener('storage', ({ key }) => {
  if (key === 'toolhub.login') csrf.set(cookie());
});

/** Cookies that change are no event in other tabs. */
function tellTabs(): void {
  storage.set('login', 'changed');
  storage.set('login', undefined);
}

// Earlier versions kept an access token.
storage.set('token', undefined);

/** Why the login page is shown; undefined when it was asked for. */
export const endReason = createStore<'expired' | undefined>(undefined);

/** Whether a user was logged in at some time since the page was loaded. */
let isUsed = cookie() !== undefined;

export const session = {
  /** What changes send in `x-csrf-token`; undefined when no user is logged in. */
  csrf: cookie,
  subscribe: csrf.subscribe,
  /** True until a user was logged in on this page. */
  isFirst: () => !isUsed,
  /** What a proxy says with each request is enough for the hub: it gives no cookies, and changes send any value. */
  beginByProxy(): void {
    const secure = location.protocol === 'https:' ? '; Secure' : '';
    document.cookie = `${name}=proxy; Path=${boot.basePath || '/'}; SameSite=Lax${secure}`;
    this.begin();
  },
  /** The hub has answered with new cookies. */
  begin(): void {
    isUsed = true;
    endReason.set(undefined);
    csrf.set(cookie());
    tellTabs();
  },
  /** `expired`: the hub does not accept the session of `refused` any more. One that came since is not touched. */
  end(why?: 'expired', refused = cookie()): void {
    if (refused !== cookie()) return;
    endReason.set(why);
    document.cookie = `${name}=; Path=${boot.basePath || '/'}; Max-Age=0; SameSite=Lax`;
    csrf.set(undefined);
    tellTabs();
  },
};
