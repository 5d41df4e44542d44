import { queryOptions, useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { boot } from '../boot.ts';

interface Logins {
  readonly oidc?: readonly { readonly id: string; readonly name: string }[];
  /** False: passwords are for one admin alone. */
  readonly passwordLogin?: boolean;
  /** A proxy may say who is there. */
  readonly forwardAuth?: boolean;
}

/** How people can log in. It is asked for without a login, so not as the rest of the API is. */
export const loginsQuery = queryOptions({
  queryKey: ['logins'],
  staleTime: Infinity,
  async queryFn(): Promise<Logins> {
    const answer = await fetch(`${boot.basePath}/public-config`);
    return ((await answer.json()) as { data: Logins }).data;
  },
});

interface ProviderLinksProps {
  /** The path to come back to, without `BASE_PATH`. */
  readonly back: string;
  /** The person has to log in at the provider again. */
  readonly isFresh?: boolean;
}

/** A link for each provider where people can log in. */
export function ProviderLinks({ back, isFresh = false }: ProviderLinksProps) {
  const { t } = useTranslation();
  const { data } = useQuery(loginsQuery);
  const query = new URLSearchParams({ return: back, ...(isFresh && { fresh: '1' }) }).toString();
  return data?.oidc?.map(({ id, name }) => (
    <a
      key={id}
      href={`${boot.basePath}/api/auth/oidc/${id}/start?${query}`}
      className="panel block px-3 py-2 text-center text-sm font-medium"
    >
      {t('login.withProvider', { name })}
    </a>
  ));
}

/** The user whom a proxy says with each request; undefined where none does. */
export function useByProxy(): string | undefined {
  const { data: logins } = useQuery(loginsQuery);
  const { data } = useQuery({
    queryKey: ['by-proxy'],
    enabled: logins?.forwardAuth === true,
    async queryFn(): Promise<string | null> {
      const answer = await fetch(`${boot.basePath}/api/auth/user`);
      return answer.ok ? ((await answer.json()) as { user: { username: string } }).user.username : null;
    },
  });
  return data ?? undefined;
}
