import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/browser';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Download, Fingerprint, KeyRound, Smartphone, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { encode } from 'uqr';
import { ask, pathOf } from '../api/client.ts';
import { queryClient, secondFactorQuery } from '../api/queries.ts';
import { session } from '../api/session.ts';
import type { SecondFactor as State } from '../api/types.ts';
import { boot } from '../boot.ts';
import { useAction } from '../lib/action.ts';
import { download } from '../lib/download.ts';
import { date, dateTime, many } from '../lib/format.ts';
import { problemAt } from '../lib/problems.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { confirm } from '../ui/confirm.tsx';
import { Copyable, CopyButton } from '../ui/copy.tsx';
import { Failure, FormError } from '../ui/failure.tsx';
import { TextField } from '../ui/field.tsx';
import { Loading } from '../ui/page.tsx';
import { toast } from '../ui/toast.tsx';

interface NewPasskey {
  readonly challenge: string;
  readonly options: PublicKeyCredentialCreationOptionsJSON;
}

interface NewTotp {
  readonly secret: string;
  readonly uri: string;
}

/** What the user shows at a login besides the password, and how it is set up. */
export function SecondFactor() {
  const { t } = useTranslation();
  const state = useQuery(secondFactorQuery);
  const [begun, setBegun] = useState<NewTotp>();
  const [codes, setCodes] = useState<readonly string[]>();
  const begin = useAction({
    run: () => ask<NewTotp>('/auth/second-factor/totp', { method: 'POST' }),
    done: ({ data }) => setBegun(data),
  });
  const [isAdding, setAdding] = useState(false);
  // Shown once, and lost if anything else took their place.
  if (codes) return <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />;
  if (begun)
    return (
      <ConfirmTotp
        {...begun}
        onCancel={() => setBegun(undefined)}
        onDone={(given) => {
          setBegun(undefined);
          setCodes(given);
        }}
      />
    );
  if (isAdding)
    return (
      <AddPasskey
        onCancel={() => setAdding(false)}
        onDone={(given) => {
          setAdding(false);
          setCodes(given);
        }}
      />
    );
  if (state.error) return <Failure error={state.error} retry={() => void state.refetch()} />;
  if (!state.data) return <Loading />;
  const { totp, passkeys } = state.data;
  const hasOne = totp !== null || passkeys.length > 0;
  return (
    <div className="flex flex-col gap-4">
      <About state={state.data} />
      <Passkeys state={state.data} />
      {!boot.readonly && (
        <div className="flex flex-wrap gap-2">
          <Button
            look={hasOne ? 'plain' : 'primary'}
            icon={Smartphone}
            busy={begin.isPending}
            onClick={() => begin.mutate()}
          >
            {t(totp ? 'factor.otherApp' : 'factor.setUp')}
          </Button>
          {isPasskeySite() && (
            <Button icon={Fingerprint} onClick={() => setAdding(true)}>
              {t('factor.addPasskey')}
            </Button>
          )}
          {hasOne && <Changes state={state.data} onCodes={setCodes} />}
        </div>
      )}
    </div>
  );
}

function About({ state }: { readonly state: State }) {
  const { t } = useTranslation();
  const { totp, passkeys, recoveryCodesLeft, required } = state;
  if (!totp && passkeys.length === 0) return <p className="text-soft max-w-prose text-sm">{t('factor.none')}</p>;
  return (
    <div className="flex flex-col gap-1 text-sm">
      {totp && (
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {t('factor.app')}
          <Badge tone="good">{t('factor.since', { when: date(totp.since) })}</Badge>
        </p>
      )}
      <p className={recoveryCodesLeft < 3 ? 'text-warn' : 'text-soft'}>
        {t('factor.codesLeft', many(recoveryCodesLeft))}
      </p>
      {required && <p className="text-soft">{t('factor.required')}</p>}
    </div>
  );
}

function Changes({ state, onCodes }: { readonly state: State; readonly onCodes: (codes: readonly string[]) => void }) {
  const { t } = useTranslation();
  const renew = useAction({
    run: () => ask<{ recoveryCodes: readonly string[] }>('/auth/second-factor/recovery-codes', { method: 'POST' }),
    done: ({ data }) => onCodes(data.recoveryCodes),
  });
  const remove = useAction({
    run: () => ask('/auth/second-factor/totp', { method: 'DELETE' }),
    done: () => toast.good(t('factor.off')),
  });
  const turnOff = async () => {
    const question = { title: t('factor.offTitle'), text: t('factor.offText'), action: t('factor.turnOff') };
    if (await confirm(question)) remove.mutate();
  };
  return (
    <>
      <Button icon={KeyRound} busy={renew.isPending} onClick={() => renew.mutate()}>
        {t('factor.newCodes')}
      </Button>
      {state.totp && (!state.required || state.passkeys.length > 0) && (
        <Button onClick={() => void turnOff()}>{t('factor.turnOff')}</Button>
      )}
    </>
  );
}

function Passkeys({ state }: { readonly state: State }) {
  const { t } = useTranslation();
  const remove = useAction<string>({
    run: (id) => ask(`/auth/second-factor/passkeys${pathOf(id)}`, { method: 'DELETE' }),
    done: () => toast.good(t('factor.passkeyGone')),
  });
  const removeOne = async (id: string, name: string) => {
    const title = t('factor.deleteTitle', { name });
    if (await confirm({ title, text: t('factor.deleteText'), action: t('common.delete') })) remove.mutate(id);
  };
  const isLast = state.required && state.totp === null && state.passkeys.length === 1;
  if (state.passkeys.length === 0) return null;
  return (
    <ul aria-label={t('factor.passkeys')} className="divide-line divide-y">
      {state.passkeys.map(({ id, name, host, createdAt, lastUsedAt }) => (
        <li key={id} className="flex items-center gap-3 py-2">
          <div className="min-w-0 flex-1">
            <p className="text-sm font-medium break-words">{name}</p>
            <p className="text-soft text-xs">
              {t('factor.passkeyAbout', { host, since: date(createdAt) })}
              {lastUsedAt !== undefined && ` ${t('factor.passkeyUsed', { when: dateTime(lastUsedAt) })}`}
            </p>
          </div>
          {!boot.readonly && !isLast && (
            <IconButton
              icon={Trash2}
              label={`${t('common.delete')} ${name}`}
              onClick={() => void removeOne(id, name)}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

/** Browsers make passkeys for names alone, and the hub is often reached at an IP address. */
function isPasskeySite(): boolean {
  return 'PublicKeyCredential' in window && !/^[\d.]+$|^\[/.test(location.hostname);
}

interface AddPasskeyProps {
  readonly onCancel: () => void;
  readonly onDone: (codes: readonly string[] | undefined) => void;
}

function AddPasskey({ onCancel, onDone }: AddPasskeyProps) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const path = '/auth/second-factor/passkeys';
  const add = useMutation({
    async mutationFn() {
      const { data } = await ask<NewPasskey>(`${path}/options`, { method: 'POST' });
      const { startRegistration } = await import('@simplewebauthn/browser');
      const passkey = await startRegistration({ optionsJSON: data.options }).catch(() => {
        throw new Error(t('factor.passkeyFailed'));
      });
      const body = { name, challenge: data.challenge, passkey };
      return ask<{ recoveryCodes?: readonly string[] }>(path, { method: 'POST', body, renewsLogin: true });
    },
    onSuccess({ data }) {
      session.begin();
      void queryClient.invalidateQueries();
      toast.good(t('factor.passkeyAdded', { name }));
      onDone(data.recoveryCodes);
    },
  });
  return (
    <form
      className="flex max-w-md flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate();
      }}
    >
      <p className="text-sm">{t('factor.passkeyLead')}</p>
      <TextField
        label={t('factor.passkeyName')}
        hint={t('factor.passkeyNameHint')}
        error={problemAt(add.error, 'name')}
        required
        maxLength={64}
        autoFocus
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <FormError error={problemAt(add.error, 'name') === undefined ? add.error : null} />
      <div className="flex flex-wrap gap-2">
        <Button look="primary" type="submit" busy={add.isPending}>
          {t('factor.makePasskey')}
        </Button>
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
      </div>
    </form>
  );
}

interface ConfirmProps extends NewTotp {
  readonly onCancel: () => void;
  /** With the recovery codes that come with the first factor. */
  readonly onDone: (codes: readonly string[] | undefined) => void;
}

function ConfirmTotp({ secret, uri, onCancel, onDone }: ConfirmProps) {
  const { t } = useTranslation();
  const [code, setCode] = useState('');
  const turnOn = useMutation({
    mutationFn: () =>
      ask<{ recoveryCodes?: readonly string[] }>('/auth/second-factor/totp/confirm', {
        method: 'POST',
        body: { code },
        renewsLogin: true,
      }),
    onSuccess({ data }) {
      // All other logins have ended; this one goes on with other cookies.
      session.begin();
      void queryClient.invalidateQueries();
      toast.good(t('factor.on'));
      onDone(data.recoveryCodes);
    },
    onError: () => setCode(''),
  });
  const problem = problemAt(turnOn.error, 'code');
  return (
    <form
      className="flex flex-wrap gap-x-8 gap-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        turnOn.mutate();
      }}
    >
      <QrCode text={uri} label={t('factor.qr')} />
      <div className="flex min-w-0 flex-1 basis-64 flex-col gap-4">
        <p className="text-sm">{t('factor.scan')}</p>
        <Copyable text={secret} label={t('factor.secret')} />
        <TextField
          label={t('factor.firstCode')}
          error={problem}
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          autoFocus
          value={code}
          onChange={(event) => setCode(event.target.value)}
        />
        <FormError error={problem === undefined ? turnOn.error : null} />
        <div className="flex flex-wrap gap-2">
          <Button look="primary" type="submit" busy={turnOn.isPending}>
            {t('factor.turnOn')}
          </Button>
          <Button onClick={onCancel}>{t('common.cancel')}</Button>
        </div>
      </div>
    </form>
  );
}

/** Dark on light in each theme, which is what cameras read. Drawn here: the secret in it goes to no other page. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(text, { ecc: 'M', border: 3 });
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])));
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      width={200}
      height={200}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={dark.join('')} fill="#000" />
    </svg>
  );
}

function RecoveryCodes({ codes, onDone }: { readonly codes: readonly string[]; readonly onDone: () => void }) {
  const { t } = useTranslation();
  const text = codes.join('\n');
  return (
    <div className="flex flex-col gap-4">
      <p className="max-w-prose text-sm">{t('factor.keepCodes')}</p>
      <ul aria-label={t('factor.codes')} className="grid max-w-md grid-cols-2 gap-x-6 gap-y-1 font-mono text-sm">
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className="flex flex-wrap gap-2">
        <Button look="primary" onClick={onDone}>
          {t('factor.kept')}
        </Button>
        <CopyButton text={text} label={t('common.copy')} />
        <Button look="quiet" icon={Download} onClick={() => download('toolhub-recovery-codes.txt', `${text}\n`)}>
          {t('factor.download')}
        </Button>
      </div>
    </div>
  );
}
