import { useTranslation } from 'react-i18next';
import type { System } from '../../api/system.ts';
import { boot } from '../../boot.ts';
import { problemAt } from '../../lib/problems.ts';
import { Button } from '../../ui/button.tsx';
import { Check, SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { limitNames } from '../../lib/limits.ts';
import { LimitsFields } from '../../ui/limits-fields.tsx';
import { Panel } from '../../ui/page.tsx';
import { type Fields, useGeneralForm } from './general-form.ts';
import { Problems } from '../../ui/failure.tsx';

const paths = [
  'nameSeparator',
  'listPageSize',
  'install.baseUrl',
  'network.allowedCidrs',
  ...['maxResultTokens', 'skills.folder', 'codeMode.timeoutSeconds', 'codeMode.memoryMb', 'codeMode.calls'].flatMap(
    (path) => [path, `systemConfig.${path}`],
  ),
  ...limitNames.flatMap((name) => [`limits.default.${name}`, `systemConfig.limits.default.${name}`]),
];

/** `systemConfig` without smart routing, which has a page of its own. */
export function General({ system }: { readonly system: System }) {
  const { t } = useTranslation();
  const { fields, set, isUnchanged, isOvertaken, undo, save, saving, error } = useGeneralForm(system);
  const at = (path: string) => problemAt(error, path) ?? problemAt(error, `systemConfig.${path}`);
  return (
    <form
      className="flex flex-col gap-5"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <fieldset disabled={boot.readonly} className="grid items-start gap-5 lg:grid-cols-2">
        <Access fields={fields} set={set} at={at} />
        <Network fields={fields} set={set} at={at} />
        <Names fields={fields} set={set} at={at} />
        <Records fields={fields} set={set} at={at} />
        <DefaultLimits fields={fields} set={set} at={at} />
        <Context fields={fields} set={set} at={at} />
        <Secrets fields={fields} set={set} at={at} />
      </fieldset>
      <Problems error={error} known={paths} />
      {isOvertaken && (
        <p role="status" className="text-warn text-sm">
          {t('servers.form.overtaken')}
        </p>
      )}
      {!boot.readonly && (
        <div className="flex flex-wrap items-center gap-3">
          <Button look="primary" type="submit" busy={saving} disabled={isUnchanged}>
            {t('common.save')}
          </Button>
          {isUnchanged ? (
            <p className="text-soft text-xs">{t('servers.form.unchanged')}</p>
          ) : (
            <Button look="quiet" onClick={undo}>
              {t('settings.undo')}
            </Button>
          )}
        </div>
      )}
    </form>
  );
}

interface SectionProps {
  readonly fields: Fields;
  readonly set: (part: Partial<Fields>) => void;
  /** What is wrong with the value at this path. */
  readonly at: (path: string) => string | undefined;
}

function Access({ fields, set }: SectionProps) {
  const { t } = useTranslation();
  return (
    <Panel title={t('settings.access')}>
      <div className="flex flex-col gap-4">
        <SelectField
          label={t('settings.bearer')}
          hint={t('settings.bearerHint')}
          value={fields.bearer}
          onChange={(event) => set({ bearer: event.target.value })}
          options={[
            { value: 'auto', label: t('settings.bearerAuto') },
            { value: 'on', label: t('settings.bearerOn') },
            { value: 'off', label: t('settings.bearerOff') },
          ]}
        />
        <SelectField
          label={t('settings.openApi')}
          hint={t('settings.openApiHint')}
          value={fields.openApi}
          onChange={(event) => set({ openApi: event.target.value })}
          options={[
            { value: 'open', label: t('settings.openApiOpen') },
            { value: 'authenticated', label: t('settings.openApiAuth') },
            { value: 'off', label: t('settings.openApiOff') },
          ]}
        />
        <SelectField
          label={t('settings.secondFactor')}
          hint={t('settings.secondFactorHint')}
          value={fields.secondFactor}
          onChange={(event) => set({ secondFactor: event.target.value })}
          options={[
            { value: 'no', label: t('settings.secondFactorNo') },
            { value: 'admins', label: t('settings.secondFactorAdmins') },
            { value: 'everyone', label: t('settings.secondFactorEveryone') },
          ]}
        />
        <Check
          label={t('settings.globalRoute')}
          hint={t('settings.globalRouteHint')}
          checked={fields.globalRoute}
          onChange={(event) => set({ globalRoute: event.target.checked })}
        />
      </div>
    </Panel>
  );
}

function Names({ fields, set, at }: SectionProps) {
  const { t } = useTranslation();
  return (
    <Panel title={t('settings.names')}>
      <div className="flex flex-col gap-4">
        <TextField
          label={t('settings.separator')}
          hint={t('settings.separatorHint')}
          error={at('nameSeparator')}
          required
          value={fields.separator}
          onChange={(event) => set({ separator: event.target.value })}
        />
        <TextField
          label={t('settings.pageSize')}
          hint={t('settings.pageSizeHint')}
          error={at('listPageSize')}
          inputMode="numeric"
          required
          value={fields.pageSize}
          onChange={(event) => set({ pageSize: event.target.value.replace(/\D/g, '') })}
        />
      </div>
    </Panel>
  );
}

function Records({ fields, set }: SectionProps) {
  const { t } = useTranslation();
  return (
    <Panel title={t('settings.records')}>
      <div className="flex flex-col gap-3">
        <Check
          label={t('settings.payload')}
          hint={t('settings.payloadHint')}
          checked={fields.payload}
          onChange={(event) => set({ payload: event.target.checked })}
        />
        <Check
          label={t('settings.queries')}
          hint={t('settings.queriesHint')}
          checked={fields.queries}
          onChange={(event) => set({ queries: event.target.checked })}
        />
      </div>
    </Panel>
  );
}

function Network({ fields, set, at }: SectionProps) {
  const { t } = useTranslation();
  return (
    <Panel title={t('settings.network')}>
      <div className="flex flex-col gap-4">
        <TextField
          label={t('settings.baseUrl')}
          hint={t('settings.baseUrlHint')}
          error={at('install.baseUrl')}
          optional
          inputMode="url"
          value={fields.baseUrl}
          onChange={(event) => set({ baseUrl: event.target.value })}
        />
        <TextAreaField
          code
          label={t('settings.cidrs')}
          hint={t('settings.cidrsHint')}
          error={at('network.allowedCidrs')}
          optional
          rows={3}
          value={fields.cidrs}
          onChange={(event) => set({ cidrs: event.target.value })}
        />
      </div>
    </Panel>
  );
}

/** What keeps the contexts of models small. */
function Context({ fields, set, at }: SectionProps) {
  const { t } = useTranslation();
  const number = (text: string) => text.replace(/\D/g, '');
  const bounds = [
    { field: 'codeSeconds', path: 'codeMode.timeoutSeconds', placeholder: '60' },
    { field: 'codeMemory', path: 'codeMode.memoryMb', placeholder: '64' },
    { field: 'codeCalls', path: 'codeMode.calls', placeholder: '50' },
  ] as const;
  return (
    <Panel title={t('parts.context')}>
      <div className="flex flex-col gap-4">
        <TextField
          label={t('parts.most')}
          hint={t('parts.ofHubHint')}
          error={at('maxResultTokens')}
          optional
          inputMode="numeric"
          value={fields.most}
          onChange={(event) => set({ most: number(event.target.value) })}
        />
        <TextField
          label={t('parts.skills')}
          hint={t('parts.skillsHint')}
          error={at('skills.folder')}
          optional
          autoCapitalize="none"
          value={fields.skills}
          onChange={(event) => set({ skills: event.target.value })}
        />
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-sm font-medium">{t('parts.code')}</legend>
          <p className="text-soft text-xs">{t('parts.codeHint')}</p>
          <div className="grid items-start gap-3 sm:grid-cols-3">
            {bounds.map(({ field, path, placeholder }) => (
              <TextField
                key={field}
                label={t(`parts.${field}`)}
                error={at(path)}
                inputMode="numeric"
                placeholder={placeholder}
                value={fields[field]}
                onChange={(event) => set({ [field]: number(event.target.value) })}
              />
            ))}
          </div>
        </fieldset>
      </div>
    </Panel>
  );
}

/** Tokens and keys in arguments and results, for servers that say nothing themselves. */
function Secrets({ fields, set }: SectionProps) {
  const { t } = useTranslation();
  return (
    <Panel title={t('secrets.title')} lead={t('secrets.hint')}>
      <div className="flex flex-col gap-4">
        {(['secretsIn', 'secretsOut'] as const).map((member) => (
          <SelectField
            key={member}
            label={t(`secrets.${member}`)}
            value={fields[member]}
            onChange={(event) => set({ [member]: event.target.value })}
            options={(['allow', 'mask', 'refuse'] as const).map((value) => ({ value, label: t(`secrets.${value}`) }))}
          />
        ))}
      </div>
    </Panel>
  );
}

function DefaultLimits({ fields: { callsPerMinute, concurrentCalls, callsPerDay }, set, at }: SectionProps) {
  const { t } = useTranslation();
  return (
    <Panel>
      <LimitsFields
        draft={{ callsPerMinute, concurrentCalls, callsPerDay }}
        onChange={set}
        at={(name) => at(`limits.default.${name}`)}
        hint={t('limits.ofAll')}
      />
    </Panel>
  );
}
