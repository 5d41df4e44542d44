import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type System, useChangeSystem } from '../../api/system.ts';
import { boot } from '../../boot.ts';
import { problemAt } from '../../lib/problems.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { Problems } from '../servers/configuration.tsx';
import { performanceQuery } from './index-panel.tsx';

/** Members of `systemConfig.smartRouting` by provider, with their labels. */
const members = {
  builtin: [],
  openai: [
    ['openaiApiKey', 'key'],
    ['openaiApiBaseUrl', 'url'],
    ['embeddingModel', 'model'],
  ],
  azure_openai: [
    ['azureOpenaiEndpoint', 'azureEndpoint'],
    ['azureOpenaiApiKey', 'key'],
    ['azureOpenaiEmbeddingDeployment', 'deployment'],
    ['azureOpenaiApiVersion', 'version'],
  ],
} as const;

type Provider = keyof typeof members;
const providers = Object.keys(members) as Provider[];

/** What the form is made of, and nothing else: other changes leave alone what is typed in it. */
export function savedService({ smartRouting = {} }: System): readonly unknown[] {
  const names = providers.flatMap((provider) => members[provider].map(([name]) => name));
  return ['enabled', 'embeddingProvider', ...names].map((name) => smartRouting[name]);
}

/** As the hub chooses it (`smart/hosted/embedding-choice.ts` there), without its environment. */
function providerOf({ smartRouting = {} }: System): Provider {
  const { enabled, embeddingProvider, openaiApiKey, openaiApiBaseUrl, azureOpenaiEndpoint } = smartRouting;
  const saysOpenai = textOf(openaiApiKey) !== '' || textOf(openaiApiBaseUrl) !== '';
  if (enabled === false || embeddingProvider === 'builtin') return 'builtin';
  if (textOf(embeddingProvider).startsWith('azure')) return 'azure_openai';
  if (saysOpenai) return 'openai';
  return embeddingProvider === undefined && textOf(azureOpenaiEndpoint) !== '' ? 'azure_openai' : 'builtin';
}

/** Who makes vectors of texts: nobody outside, or a service with its key. */
export function Service({ system }: { readonly system: System }) {
  const { t } = useTranslation();
  const [provider, setProvider] = useState(() => providerOf(system));
  const [values, setValues] = useState<Readonly<Record<string, unknown>>>(system.smartRouting ?? {});
  const save = useChangeSystem();
  const { data: performance } = useQuery(performanceQuery);
  // What is in use is another one than what is saved here: then the environment says so.
  const used = performance?.config.provider;
  const overruled = used !== undefined && used !== providerOf(system) && !save.isPending;
  const known = members[provider];
  const same =
    provider === providerOf(system) &&
    known.every(([name]) => textOf(values[name]) === textOf(system.smartRouting?.[name]));
  const submit = () => {
    const given = known.map(([name]) => [name, textOf(values[name]) === '' ? null : values[name]]);
    const body = { enabled: provider !== 'builtin', embeddingProvider: provider === 'builtin' ? null : provider };
    save.mutate({ smartRouting: { ...body, ...Object.fromEntries(given) } });
  };
  return (
    <Panel title={t('smart.service')}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <SelectField
          label={t('smart.provider')}
          value={provider}
          disabled={boot.readonly}
          onChange={(event) => setProvider(providers.find((each) => each === event.target.value) ?? provider)}
          options={providers.map((value) => ({ value, label: t(`smart.${value}`) }))}
        />
        {overruled && (
          <p className="bg-warn-wash text-warn rounded-md px-3 py-2 text-sm">{t('smart.overruled', { used })}</p>
        )}
        {provider !== 'builtin' && <p className="text-soft text-xs">{t('smart.leaves')}</p>}
        {known.map(([name, label]) => (
          <TextField
            key={name}
            label={t(`smart.${label}`)}
            hint={label === 'key' ? t('smart.keyHint') : undefined}
            error={
              problemAt(save.error, `systemConfig.smartRouting.${name}`) ??
              problemAt(save.error, `smartRouting.${name}`)
            }
            type={label === 'key' ? 'password' : 'text'}
            autoComplete="off"
            spellCheck={false}
            disabled={boot.readonly}
            value={textOf(values[name])}
            onChange={(event) => setValues({ ...values, [name]: event.target.value })}
          />
        ))}
        <Problems error={save.error} known={known.map(([name]) => `smartRouting.${name}`)} />
        {!boot.readonly && (
          <div>
            <Button look="primary" type="submit" busy={save.isPending} disabled={same}>
              {t('common.save')}
            </Button>
          </div>
        )}
      </form>
    </Panel>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
