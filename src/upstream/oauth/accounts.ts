import type { RemoteTransport, ServerSettings } from '../../core/settings.ts';
import { type Account, createAccount } from './account.ts';
import type { Attempts } from './attempts.ts';
import { callbackPath, clientDocumentUrl } from './client-document.ts';
import type { SignInsOptions } from './sign-ins.ts';

/** The accounts of all servers that were connected or signed in to, each as its server is set up now. */
export interface Accounts {
  /** Made when it is not there, and made anew when the server is reached in another way now. */
  of(server: ServerSettings, transport: RemoteTransport): Account;
  get(server: string): Account | undefined;
  names(): string[];
  forget(server: string): void;
}

export function createAccounts(options: SignInsOptions, attempts: Attempts): Accounts {
  const accounts = new Map<string, { readonly account: Account; readonly fingerprint: string }>();

  function open(server: ServerSettings, { url: text, oauth = {} }: RemoteTransport): Account {
    const { name } = server;
    const url = new URL(text);
    url.username = '';
    url.password = '';
    const about = {
      server: name,
      url,
      address: addressOf(text),
      oauth,
      policy: () => options.addresses(options.server(name) ?? server),
      userAgent: options.userAgent,
      redirectUri: () => oauth.redirectUri ?? options.publicUrl() + callbackPath,
      documentUrl: () => clientDocumentUrl(options.publicUrl()),
      log: options.log(`server:${name}`),
      changed: options.changed,
    };
    return createAccount(about, options.grants, attempts);
  }

  return {
    of(server, transport) {
      const fingerprint = JSON.stringify([transport.url, transport.oauth]);
      const known = accounts.get(server.name);
      if (known?.fingerprint === fingerprint) return known.account;
      known?.account.close();
      const account = open(server, transport);
      accounts.set(server.name, { account, fingerprint });
      return account;
    },
    get: (server) => accounts.get(server)?.account,
    names: () => [...accounts.keys()],
    forget(server) {
      accounts.get(server)?.account.close();
      accounts.delete(server);
    },
  };
}

/** All of a server's url that tokens are bound to: on a shared host the path tells whose they are. */
export function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
