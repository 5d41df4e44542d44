import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type System, useChangeSystem } from '../../api/system.ts';
import { boot } from '../../boot.ts';
import { problemAt } from '../../lib/problems.ts';
import { Button } from '../../ui/button.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { performanceQuery } from './index-panel.tsx';
import { Problems } from '../../ui/failure.tsx';

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

/** As the hub chooses it (`smart/hosted/embedding-choice.ts` there), without its environment. */
function providerOf({ smartRouting = {} }: System): Provider {
  const { enabled, embeddingProvider, openaiApiKey, openaiApiBaseUrl, azureOpenaiEndpoint } = smartRouting;
  const saysOpenai = textOf(openaiApiKey) !== '' || textOf(openaiApiBaseUrl) !== '';
  if (enabled === false || embeddingProvider === 'builtin') return 'builtin';
  if (textOf(embeddingProvider).startsWith('azure')) return 'azure_openai';
  if (saysOpenai) return 'openai';
  return embeddingProvider === undefined && textOf(azureOpenaiEndpoint) !== '' ? 'azure_openai' : 'builtin';
}

/** What is typed and not saved yet. */
interface Edits {
  readonly provider?: Provider;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * Who makes vectors of texts: the hub itself, or a service with its key. What is typed stays when another user changes
 * the rest.
 */
export function Service({ system }: { readonly system: System }) {
  const { t } = useTranslation();
  const [edits, setEdits] = useState<Edits>({ values: {} });
  const provider = edits.provider ?? providerOf(system);
  const values: Readonly<Record<string, unknown>> = { ...system.smartRouting, ...edits.values };
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
    // What was typed while it was on its way is not saved yet.
    const onSuccess = () => setEdits((now) => withoutSaved(now, edits));
    save.mutate({ smartRouting: { ...body, ...Object.fromEntries(given) } }, { onSuccess });
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
          onChange={(event) => {
            const chosen = providers.find((each) => each === event.target.value) ?? provider;
            setEdits({ ...edits, provider: chosen });
          }}
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
            onChange={(event) => setEdits({ ...edits, values: { ...edits.values, [name]: event.target.value } })}
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

function withoutSaved({ provider, values }: Edits, saved: Edits): Edits {
  const left = Object.entries(values).filter(([name, value]) => saved.values[name] !== value);
  return {
    ...(provider !== undefined && provider !== saved.provider && { provider }),
    values: Object.fromEntries(left),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
