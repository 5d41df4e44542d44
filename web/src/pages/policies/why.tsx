import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { endpointNameOf } from '../../../../src/core/access/endpoint.ts';
import { groupsQuery, keysQuery, serverNamesQuery, usersQuery } from '../../api/queries.ts';
import { systemQuery } from '../../api/system.ts';
import type { Explanation } from '../../api/types.ts';
import { remarkIn } from '../../i18n/hub-texts.ts';
import { matches } from '../../lib/search.ts';
import { problemAt } from '../../lib/problems.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { FormError } from '../../ui/failure.tsx';
import { SelectField, TextAreaField, TextField } from '../../ui/field.tsx';
import { Panel } from '../../ui/page.tsx';
import { type WhyAsked, whyQuery } from './queries.ts';

/** Tools are offered by what is typed, so many at once. */
const offeredMost = 50;

/** Asks why a call is allowed or not: the steps of the decision. */
export function Why() {
  const { t } = useTranslation();
  const [asked, setAsked] = useState<WhyAsked>();
  const why = useQuery(whyQuery(asked));
  const ask = (next: WhyAsked) => {
    if (JSON.stringify(next) === JSON.stringify(asked)) void why.refetch();
    else setAsked(next);
  };
  return (
    <Panel title={t('policies.why')} lead={t('policies.whyLead')}>
      <Question onAsk={ask} busy={why.isFetching} error={why.error} />
      <div aria-live="polite" className="mt-4 flex flex-col gap-3 empty:hidden">
        {why.error ? <FormError error={why.error} /> : why.data && <Steps found={why.data} />}
      </div>
    </Panel>
  );
}

interface QuestionProps {
  readonly onAsk: (asked: WhyAsked) => void;
  readonly busy: boolean;
  readonly error: unknown;
}

function Question({ onAsk, busy, error }: QuestionProps) {
  const { t } = useTranslation();
  const [tool, setTool] = useState('');
  const [caller, setCaller] = useState('');
  const [group, setGroup] = useState('');
  const [args, setArgs] = useState('');
  const { data: servers = [] } = useQuery(serverNamesQuery);
  const names = servers.flatMap(({ name, tools }) => tools.map((each) => `${name}/${each}`));
  return (
    <form
      className="grid items-start gap-4 sm:grid-cols-2 lg:grid-cols-3"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk({ tool: tool.trim(), group, arguments: args.trim(), ...callerOf(caller) });
      }}
    >
      <TextField
        label={t('policies.whyTool')}
        hint={t('policies.whyToolHint')}
        error={problemAt(error, 'tool')}
        required
        list="policy-tools"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={tool}
        onChange={(event) => setTool(event.target.value)}
      />
      <datalist id="policy-tools">
        {names
          .filter((name) => matches(tool, name))
          .slice(0, offeredMost)
          .map((name) => (
            <option key={name} value={name} />
          ))}
      </datalist>
      <Who caller={caller} onCaller={setCaller} endpoint={group} onEndpoint={setGroup} />
      <TextAreaField
        className="sm:col-span-2 lg:col-span-3"
        label={t('policies.whyArguments')}
        hint={t('policies.whyArgumentsHint')}
        error={problemAt(error, 'arguments')}
        optional
        code
        rows={2}
        placeholder="{}"
        value={args}
        onChange={(event) => setArgs(event.target.value)}
      />
      <div className="sm:col-span-2 lg:col-span-3">
        <Button look="primary" type="submit" busy={busy}>
          {t('policies.whyAsk')}
        </Button>
      </div>
    </form>
  );
}

interface WhoProps {
  readonly caller: string;
  readonly onCaller: (caller: string) => void;
  readonly endpoint: string;
  readonly onEndpoint: (endpoint: string) => void;
}

/** Who calls, and at which endpoint. */
function Who({ caller, onCaller, endpoint, onEndpoint }: WhoProps) {
  const { t } = useTranslation();
  const { data: users = [] } = useQuery(usersQuery);
  const { data: keys = [] } = useQuery(keysQuery);
  const { data: groups = [] } = useQuery(groupsQuery);
  const { data: servers = [] } = useQuery(serverNamesQuery);
  const { data: system } = useQuery(systemQuery);
  const routing = { enableGroupNameRoute: system?.routing?.enableGroupNameRoute !== false };
  const routes = { groups, system: { routing } };
  const names = [...groups.map((group) => endpointNameOf(routes, group)), ...servers.map(({ name }) => name)];
  return (
    <>
      <SelectField
        label={t('policies.whyCaller')}
        value={caller}
        onChange={(event) => onCaller(event.target.value)}
        options={[
          { value: '', label: t('policies.whyMe') },
          ...users.map(({ username }) => ({ value: `user ${username}`, label: t('policies.whyUser', { username }) })),
          ...keys.map(({ id, name }) => ({ value: `key ${id}`, label: t('policies.whyKey', { name }) })),
        ]}
      />
      <SelectField
        label={t('policies.whyEndpoint')}
        value={endpoint}
        onChange={(event) => onEndpoint(event.target.value)}
        options={[
          { value: '', label: '/mcp' },
          ...[...new Set(names)].map((name) => ({ value: name, label: `/mcp/${name}` })),
        ]}
      />
    </>
  );
}

/** Of the value of a choice: `user ann`, `key 1f…`. */
function callerOf(value: string): Pick<WhyAsked, 'user' | 'key'> {
  const name = value.slice(value.indexOf(' ') + 1);
  if (value.startsWith('user ')) return { user: name };
  return value.startsWith('key ') ? { key: name } : {};
}

const tones: Record<Explanation['steps'][number]['result'], Tone> = {
  allow: 'good',
  refuse: 'bad',
  ask: 'warn',
  none: 'plain',
};

function Steps({ found: { allowed, steps } }: { readonly found: Explanation }) {
  const { t } = useTranslation();
  return (
    <>
      <p className="text-sm font-medium">{t(allowed ? 'policies.whyAllowed' : 'policies.whyNot')}</p>
      <ol className="divide-line border-line divide-y rounded-lg border">
        {steps.map(({ step, result, reason, said, ref }) => (
          <li key={step} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-sm">
            <span className="w-28 font-medium">{t(`policies.steps.${step}`)}</span>
            <Badge tone={tones[result]}>{t(`policies.results.${result}`)}</Badge>
            <span className="text-soft min-w-0 flex-1 basis-60 wrap-anywhere">
              {remarkIn(said) ?? reason}
              {ref !== undefined && !reason.includes(ref) && ` (${ref})`}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}
