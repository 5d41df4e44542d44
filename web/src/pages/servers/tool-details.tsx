import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { queryClient, serverQuery } from '../../api/queries.ts';
import type { ServerDetails, Tool } from '../../api/types.ts';
import { useAction } from '../../lib/action.ts';
import { needTexts } from '../../i18n/i18n.ts';
import { lazily } from '../../lib/lazily.tsx';
import { count } from '../../lib/format.ts';
import { tokensOf } from '../../lib/tokens.ts';
import { toast } from '../../ui/toast.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/copy.tsx';
import { TextAreaField } from '../../ui/field.tsx';
import { LargeResults } from '../overrides/large-results.tsx';
import type { OverrideFormProps } from '../overrides/override-form.tsx';

const OverrideForm = lazily<OverrideFormProps>(
  async () => {
    const [{ OverrideForm: Form }] = await Promise.all([
      import('../overrides/override-form.tsx'),
      needTexts('remarks'),
    ]);
    return Form;
  },
  ({ onClose }) => onClose(),
);

const route = getRouteApi('/shell/servers/$name');

interface ToolDetailsProps {
  readonly server: string;
  readonly tool: Tool;
  readonly changeable: boolean;
}

/** The whole of a tool: its words, which can be replaced, and its schemas. */
export function ToolDetails({ server, tool, changeable }: ToolDetailsProps) {
  const { t } = useTranslation();
  const { originalName, title, description, inputSchema, outputSchema, annotations } = tool;
  const parts = [
    ['servers.input', inputSchema],
    ['servers.output', outputSchema],
    ['servers.annotations', annotations],
  ] as const;
  return (
    <div className="flex flex-col gap-3 py-3 sm:pl-6">
      {title !== undefined && <p className="text-sm font-medium">{title}</p>}
      <p className="text-soft text-xs">
        {t('common.tokens', { tokens: count(tokensOf(tool)) })}{' '}
        <Link
          to="/tools/costs"
          search={{ server, q: originalName }}
          className="touch rounded-sm underline underline-offset-2"
        >
          {t('nav.costs')}
        </Link>
      </p>
      {changeable ? (
        <>
          <Description server={server} tool={tool} />
          <Override server={server} tool={originalName} />
          <LargeResults server={server} tool={originalName} />
        </>
      ) : (
        <p className="text-sm break-words whitespace-pre-wrap">{description}</p>
      )}
      {parts.map(([label, value]) =>
        value === undefined ? null : (
          <div key={label}>
            <p className="text-soft mb-1 text-xs font-medium">{t(label)}</p>
            <Code label={`${t(label)}: ${originalName}`} text={JSON.stringify(value, null, 2)} />
          </div>
        ),
      )}
    </div>
  );
}

function Override({ server, tool }: { readonly server: string; readonly tool: string }) {
  const { t } = useTranslation();
  const { override } = route.useSearch();
  const navigate = useNavigate({ from: '/servers/$name' });
  const show = (override: string | undefined) =>
    void navigate({ search: (old) => ({ ...old, override }), replace: true });
  return (
    <div>
      <Button icon={Pencil} onClick={() => show(tool)}>
        {t('overrides.open')}
      </Button>
      {override === tool && <OverrideForm server={server} tool={tool} onClose={() => show(undefined)} />}
    </div>
  );
}

interface Typed {
  readonly text: string;
  /** What the hub had when one began. */
  readonly since: string;
}

function Description({ server, tool }: { readonly server: string; readonly tool: Tool }) {
  const { t } = useTranslation();
  const { originalName, description, hasDescriptionOverride } = tool;
  // Undefined while nothing is typed that is not saved: then it shows what the hub has, also after changes of others.
  const [typed, setTyped] = useState<Typed>();
  const text = typed?.text ?? description;
  const path = `/servers${pathOf(server)}/tools${pathOf(originalName)}/description`;
  const show = (changed: Partial<Tool>) => {
    const one = (tool: Tool) => (tool.originalName === originalName ? { ...tool, ...changed } : tool);
    queryClient.setQueryData<ServerDetails>(
      serverQuery(server).queryKey,
      (old) => old && { ...old, tools: old.tools.map(one) },
    );
    toast.good(t('common.saved'));
  };
  const save = useAction<string, { data: { description: string } }>({
    run: (words) => ask(path, { method: 'PUT', body: { description: words } }),
    done: ({ data }, words) => {
      show({ description: data.description, hasDescriptionOverride: true });
      // What was typed while it was on its way is not saved yet.
      setTyped((now) => (now && now.text !== words ? { ...now, since: data.description } : undefined));
    },
  });
  const reset = useAction<void, { data: { description: string } }>({
    run: () => ask(path, { method: 'DELETE' }),
    done: ({ data }) => {
      show({ description: data.description, hasDescriptionOverride: false });
      setTyped(undefined);
    },
  });
  return (
    <div className="flex flex-col gap-2">
      <TextAreaField
        label={t('servers.descriptionOf', { name: originalName })}
        rows={Math.min(10, 2 + Math.ceil(text.length / 100))}
        value={text}
        onChange={({ target: { value } }) =>
          setTyped(value === description ? undefined : { text: value, since: typed?.since ?? description })
        }
      />
      {typed && typed.since !== description && text !== description && (
        <p role="status" className="text-warn text-sm">
          {t('servers.form.overtaken')}
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button disabled={text === description} busy={save.isPending} onClick={() => save.mutate(text)}>
          {t('common.save')}
        </Button>
        {hasDescriptionOverride && (
          <Button look="quiet" busy={reset.isPending} onClick={() => reset.mutate()}>
            {t('servers.reset')}
          </Button>
        )}
      </div>
    </div>
  );
}
