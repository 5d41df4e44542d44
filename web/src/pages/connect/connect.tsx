import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { clientsQuery, connectQuery, groupsQuery } from '../../api/queries.ts';
import type { Key } from '../../api/types.ts';
import { relative } from '../../lib/format.ts';
import { useNow } from '../../lib/now.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { Loading, Page, Panel } from '../../ui/page.tsx';
import { ChooseCredential } from './choose-credential.tsx';
import { ChooseReach } from './choose-reach.tsx';
import { Option, Options } from './option.tsx';
import { choicesIn, type Choices, type Part } from './choices.ts';
import { Finish } from './finish.tsx';

const route = getRouteApi('/shell/account/connect');

/** Connects a client, step by step, and shows that it is there. What was chosen is in the address; a key never is. */
export function ConnectPage() {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/account/connect' });
  const choices = choicesIn(route.useSearch());
  const [made, setMade] = useState<Key>();
  const clients = useQuery(connectQuery({ key: false }));
  const set = (part: Part, replace = false) => void navigate({ search: (old) => ({ ...old, ...part }), replace });
  return (
    <Page title={t('connect.title')} lead={t('connect.lead')}>
      {clients.error ? (
        <Failure error={clients.error} retry={() => void clients.refetch()} />
      ) : clients.data ? (
        <Steps
          choices={choices}
          titles={new Map(clients.data.clients.map(({ client, title }) => [client, title]))}
          made={made?.id === choices.key ? made : undefined}
          onSet={set}
          onMade={(key) => {
            setMade(key);
            set({ credential: 'key', key: key.id, since: undefined });
          }}
        />
      ) : (
        <Loading rows={5} />
      )}
      <LastSeen />
    </Page>
  );
}

interface StepsProps {
  readonly choices: Choices;
  readonly titles: ReadonlyMap<string, string>;
  /** The key that was made on this page: after a reload it is not known any more. */
  readonly made: Key | undefined;
  readonly onSet: (part: Part, replace?: boolean) => void;
  readonly onMade: (key: Key) => void;
}

function Steps({ choices, titles, made, onSet, onMade }: StepsProps) {
  const { t } = useTranslation();
  const { data: groups = [] } = useQuery(groupsQuery);
  const { client, reach, name, credential } = choices;
  const title = titles.get(client ?? '');
  const named = name !== undefined && reach !== 'server' ? (groups.find(({ id }) => id === name)?.name ?? name) : name;
  const steps = [
    {
      name: t('connect.steps.client'),
      chosen: title,
      back: { client: undefined },
      open: (
        <Options label={t('connect.steps.client')}>
          {[...titles].map(([value, label]) => (
            <Option key={value} name={label} onChoose={() => onSet({ client: value })} />
          ))}
        </Options>
      ),
    },
    {
      name: t('connect.steps.reach'),
      chosen: reach && [t(`connect.reach.${reach}`), named].filter(Boolean).join(': '),
      back: { reach: undefined, name: undefined, credential: undefined, key: undefined },
      open: <ChooseReach onSet={onSet} />,
    },
    {
      name: t('connect.steps.credential'),
      chosen: credential && t(`connect.credential.${credential}`),
      back: { credential: undefined, key: undefined },
      open: title !== undefined && <ChooseCredential title={title} choices={choices} onSet={onSet} onMade={onMade} />,
    },
    {
      name: t('connect.steps.finish'),
      chosen: undefined,
      back: {},
      open: title !== undefined && <Finish title={title} choices={choices} made={made} onSet={onSet} />,
    },
  ];
  const at = steps.findIndex(({ chosen }) => chosen === undefined);
  const list = useFocusAt(at);
  return (
    <ol ref={list} className="flex flex-col gap-3">
      {steps.map((step, index) => (
        <Step
          key={step.name}
          number={index + 1}
          name={step.name}
          chosen={index < at ? step.chosen : undefined}
          onBack={() => onSet({ ...step.back, since: undefined })}
        >
          {index === at && step.open}
        </Step>
      ))}
    </ol>
  );
}

/** The button that was used is not there any more: the focus goes to the step that has opened. */
function useFocusAt(at: number): RefObject<HTMLOListElement | null> {
  const list = useRef<HTMLOListElement>(null);
  const before = useRef(at);
  useEffect(() => {
    if (before.current === at) return;
    before.current = at;
    list.current?.querySelectorAll<HTMLElement>('h2')[at]?.focus();
  }, [at]);
  return list;
}

interface StepProps {
  readonly number: number;
  readonly name: string;
  /** What was chosen, once it was. */
  readonly chosen: string | undefined;
  readonly onBack: () => void;
  readonly children: ReactNode;
}

function Step({ number, name, chosen, onBack, children }: StepProps) {
  const { t } = useTranslation();
  return (
    <li className="panel">
      <div className="flex min-h-12 items-center gap-3 px-4 py-2">
        {chosen === undefined ? (
          <span
            aria-hidden
            className="bg-hover text-soft grid size-6 shrink-0 place-items-center rounded-full text-xs font-semibold"
          >
            {number}
          </span>
        ) : (
          <CircleCheck size={20} aria-hidden className="text-good mx-0.5 shrink-0" />
        )}
        <h2 tabIndex={-1} className="min-w-0 flex-1 text-sm font-semibold wrap-anywhere">
          {name}
          {chosen !== undefined && <span className="text-soft block font-normal">{chosen}</span>}
        </h2>
        {chosen !== undefined && (
          <Button aria-label={t('connect.changeStep', { step: name })} onClick={onBack}>
            {t('connect.change')}
          </Button>
        )}
      </div>
      {children !== false && <div className="border-line border-t p-4">{children}</div>}
    </li>
  );
}

/** The clients that came last, also those that were connected elsewhere. */
function LastSeen() {
  const { t } = useTranslation();
  useNow(30_000);
  const { data: seen = [] } = useQuery(clientsQuery);
  if (seen.length === 0) return null;
  return (
    <Panel title={t('connect.last')} flush>
      <ul className="divide-line divide-y text-sm">
        {seen.slice(0, 8).map(({ id, name, at, keyName, username }) => (
          <li key={id} className="flex flex-wrap justify-between gap-x-4 px-4 py-2">
            <bdi className="min-w-0 wrap-anywhere">{t('connect.seen', { name, when: relative(at) })}</bdi>
            <span className="text-soft wrap-anywhere">{keyName ?? username}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
