import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useMe } from '../../api/queries.ts';
import { problemAt } from '../../lib/problems.ts';
import { Check, SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { limitNames } from '../../lib/limits.ts';
import { LimitsFields } from '../../ui/limits-fields.tsx';
import { KeyValues } from '../../ui/key-values.tsx';
import { fieldsOf } from './command-line.ts';
import { boundMembers, type Draft, hasInlineDocument, transports } from './config.ts';

interface FieldsProps {
  readonly draft: Draft;
  readonly onChange: (draft: Draft) => void;
  readonly error: unknown;
  /** Who is no admin adds remote servers only. */
  readonly programs: boolean;
}

/** Paths that a field here speaks of; what the hub says of others stands above the buttons. */
export const fieldPaths = [
  'name',
  'newName',
  'config.type',
  'config.command',
  'config.args',
  'config.url',
  'config.openapi.url',
  'config.openapi.baseUrl',
  'config.description',
  'config.visibility',
  'config.sharedWithUsers',
  'config.options.timeout',
  ...limitNames.map((name) => `config.limits.${name}`),
  'config.maxResultTokens',
  'config.secretsInCalls.arguments',
  'config.secretsInCalls.results',
  'config.idleTimeoutMs',
  'config.sandbox',
  'config.sandbox.read',
  'config.sandbox.write',
  ...boundMembers.map((member) => `config.sandbox.${member}`),
];

export function ServerFields({ draft, onChange, error, programs }: FieldsProps) {
  const { t } = useTranslation();
  const set = (part: Partial<Draft>) => onChange({ ...draft, ...part });
  const at = (path: string) => problemAt(error, `config.${path}`);
  const shown = transports.filter((type) => programs || type !== 'stdio');
  return (
    <>
      <SelectField
        label={t('servers.form.type')}
        error={at('type')}
        value={draft.type}
        onChange={(event) => set({ type: shown.find((type) => type === event.target.value) ?? draft.type })}
        options={shown.map((value) => ({ value, label: t(`servers.form.${value}`) }))}
      />
      <Reach draft={draft} set={set} at={at} />
      <TextField
        label={t('servers.form.description')}
        hint={t('servers.form.descriptionHint')}
        error={at('description')}
        optional
        value={draft.description}
        onChange={(event) => set({ description: event.target.value })}
      />
      <details>
        <summary className="text-soft rounded-sm text-sm font-medium">{t('servers.form.more')}</summary>
        <div className="mt-3 flex flex-col gap-4">
          <More draft={draft} set={set} at={at} />
        </div>
      </details>
    </>
  );
}

interface PartProps {
  readonly draft: Draft;
  readonly set: (part: Partial<Draft>) => void;
  readonly at: (path: string) => string | undefined;
}

/** How the hub gets to it: what to start, or where it is. */
function Reach({ draft, set, at }: PartProps) {
  const { t } = useTranslation();
  if (draft.type === 'stdio') {
    return (
      <>
        <TextField
          label={t('servers.form.command')}
          hint={t('servers.form.commandHint')}
          error={at('command')}
          required
          spellCheck={false}
          autoCapitalize="none"
          value={draft.command}
          onChange={(event) => {
            const { value } = event.target;
            // An address is no program. The field stays the same one, so that the focus stays in it.
            if (/^https?:\/\/./i.test(value.trim())) set({ type: 'auto', url: value.trim() });
            else set({ command: value });
          }}
          onPaste={(event) => {
            const whole = draft.command === '' ? fieldsOf(event.clipboardData.getData('text')) : undefined;
            if (!whole) return;
            event.preventDefault();
            set({ ...whole, env: [...draft.env, ...whole.env] });
          }}
          onBlur={() => {
            const whole = draft.args === '' ? fieldsOf(draft.command) : undefined;
            if (whole) set({ ...whole, env: [...draft.env, ...whole.env] });
          }}
        />
        <TextAreaField
          code
          label={t('servers.form.args')}
          hint={t('servers.form.argsHint')}
          error={at('args')}
          optional
          rows={3}
          value={draft.args}
          onChange={(event) => set({ args: event.target.value })}
        />
        <KeyValues
          label={t('servers.form.env')}
          rows={draft.env}
          onChange={(env) => set({ env })}
          errorOf={(key) => at(`env.${key}`)}
        />
      </>
    );
  }
  const isApi = draft.type === 'openapi';
  const isInline = isApi && hasInlineDocument(draft);
  return (
    <>
      <TextField
        label={t(isApi ? 'servers.form.apiUrl' : 'servers.form.url')}
        hint={isInline ? t('servers.form.apiInline') : isApi ? undefined : t('servers.form.urlHint')}
        error={at(isApi ? 'openapi.url' : 'url')}
        required={!isInline}
        inputMode="url"
        spellCheck={false}
        autoCapitalize="none"
        placeholder="https://"
        value={isApi ? draft.apiUrl : draft.url}
        onChange={(event) => set(isApi ? { apiUrl: event.target.value } : { url: event.target.value })}
      />
      {isApi && (
        <TextField
          label={t('servers.form.apiBase')}
          hint={t('servers.form.apiBaseHint')}
          error={at('openapi.baseUrl')}
          optional
          inputMode="url"
          spellCheck={false}
          autoCapitalize="none"
          placeholder="https://"
          value={draft.apiBase}
          onChange={(event) => set({ apiBase: event.target.value })}
        />
      )}
      <KeyValues
        label={t('servers.form.headers')}
        rows={draft.headers}
        onChange={(headers) => set({ headers })}
        errorOf={(key) => at(`headers.${key}`)}
      />
    </>
  );
}

function More({ draft, set, at }: PartProps) {
  const { t } = useTranslation();
  const { isAdmin } = useMe();
  const [before] = useState(draft.visibility);
  const choices = (['', 'private', 'group', 'public'] as const).filter(
    (value) => isAdmin || value !== 'public' || value === before,
  );
  const visibilities = choices.map((value) => ({
    value,
    label: t(`servers.form.vis.${value === '' ? 'default' : value}`),
  }));
  return (
    <>
      <SelectField
        label={t('servers.form.visibility')}
        error={at('visibility')}
        value={draft.visibility}
        onChange={(event) => set({ visibility: event.target.value })}
        options={visibilities}
      />
      {draft.visibility === 'group' && (
        <TextAreaField
          label={t('servers.form.shared')}
          hint={t('servers.form.sharedHint')}
          error={at('sharedWithUsers')}
          rows={3}
          value={draft.shared}
          onChange={(event) => set({ shared: event.target.value })}
        />
      )}
      <TextField
        label={t('servers.form.timeout')}
        error={at('options.timeout')}
        optional
        inputMode="numeric"
        placeholder="60000"
        value={draft.timeout}
        onChange={(event) => set({ timeout: event.target.value.replace(/\D/g, '') })}
      />
      {draft.type === 'stdio' && (
        <Check
          label={t('servers.form.onDemand')}
          checked={draft.onDemand}
          onChange={(event) => set({ onDemand: event.target.checked })}
        />
      )}
      {draft.type === 'stdio' && draft.onDemand && (
        <TextField
          label={t('servers.form.idle')}
          error={at('idleTimeoutMs')}
          optional
          inputMode="numeric"
          placeholder="300000"
          value={draft.idle}
          onChange={(event) => set({ idle: event.target.value.replace(/\D/g, '') })}
        />
      )}
      {draft.type === 'stdio' && <Sandbox draft={draft} set={set} at={at} />}
      <Check
        label={t('servers.form.perSession')}
        checked={draft.perSession}
        onChange={(event) => set({ perSession: event.target.checked })}
      />
      <TextField
        label={t('parts.ofServer')}
        hint={t('parts.ofServerHint')}
        error={at('maxResultTokens')}
        optional
        inputMode="numeric"
        value={draft.most}
        onChange={(event) => set({ most: event.target.value.replace(/\D/g, '') })}
      />
      {isAdmin && <Governance draft={draft} set={set} at={at} />}
      {isAdmin && (
        <TextAreaField
          label={t('servers.form.template')}
          hint={t('servers.form.templateHint')}
          error={at('credentialTemplate')}
          optional
          code
          rows={2}
          value={draft.template}
          onChange={(event) => set({ template: event.target.value })}
        />
      )}
    </>
  );
}

/** What a program reaches of the machine. */
function Sandbox({ draft, set, at }: PartProps) {
  const { t } = useTranslation();
  const choices = ['default', 'own', 'off'] as const;
  return (
    <>
      <SelectField
        label={t('servers.form.sandbox')}
        hint={t('servers.form.sandboxHint')}
        error={at('sandbox')}
        value={draft.sandbox}
        onChange={(event) => set({ sandbox: choices.find((one) => one === event.target.value) ?? 'default' })}
        options={choices.map((value) => ({ value, label: t(`servers.form.sandbox_${value}`) }))}
      />
      {draft.sandbox === 'own' && (
        <>
          <Check
            label={t('servers.form.sandboxNetwork')}
            checked={draft.network}
            onChange={(event) => set({ network: event.target.checked })}
          />
          {(['read', 'write'] as const).map((list) => (
            <TextAreaField
              key={list}
              code
              label={t(`servers.form.sandbox_${list}`)}
              hint={t('servers.form.sandboxPaths')}
              error={at(`sandbox.${list}`)}
              optional
              rows={2}
              value={draft[list]}
              onChange={(event) => set({ [list]: event.target.value })}
            />
          ))}
          {boundMembers.map((member) => (
            <TextField
              key={member}
              label={t(`servers.form.sandbox_${member}`)}
              hint={t('servers.form.sandboxBound')}
              error={at(`sandbox.${member}`)}
              optional
              inputMode="decimal"
              value={draft[member]}
              onChange={(event) => set({ [member]: event.target.value })}
            />
          ))}
        </>
      )}
    </>
  );
}

/** How much is called, and what becomes of what the server changes. */
function Governance({ draft, set, at }: PartProps) {
  const { t } = useTranslation();
  return (
    <>
      <LimitsFields
        draft={draft.limits}
        onChange={(limits) => set({ limits })}
        at={(name) => at(`limits.${name}`)}
        hint={t('limits.ofServer')}
      />
      <SelectField
        label={t('pinModes.ofServer')}
        value={draft.pins}
        onChange={(event) => set({ pins: event.target.value })}
        options={[
          { value: '', label: t('pinModes.default') },
          ...(['warn', 'hold', 'off'] as const).map((value) => ({ value, label: t(`pinModes.${value}`) })),
        ]}
      />
      {(['secretsIn', 'secretsOut'] as const).map((member) => (
        <SelectField
          key={member}
          label={t(`secrets.${member}`)}
          {...(member === 'secretsIn' && { hint: t('secrets.hint') })}
          error={at(member === 'secretsIn' ? 'secretsInCalls.arguments' : 'secretsInCalls.results')}
          value={draft[member]}
          onChange={(event) => set({ [member]: event.target.value })}
          options={(['', 'allow', 'mask', 'refuse'] as const).map((value) => ({
            value,
            label: t(value === '' ? 'pinModes.default' : `secrets.${value}`),
          }))}
        />
      ))}
    </>
  );
}
