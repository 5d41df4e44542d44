import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ask, pathOf } from '../../api/client.ts';
import { queryClient, serverQuery } from '../../api/queries.ts';
import type { JsonObject, ServerDetails } from '../../api/types.ts';
import { useAction } from '../../lib/action.ts';
import { objectIn } from '../../lib/json.ts';
import { toast } from '../../ui/toast.tsx';
import { changesOf, configOf, type Draft, draftOf, editsOf, transportOf, withChanges } from './config.ts';

interface Text {
  readonly text: string;
  /** The configuration that the text was made of. */
  readonly of: JsonObject;
}

/** What is typed and not saved yet: in the fields, or in the JSON text. */
interface Unsaved {
  readonly edits: Partial<Draft>;
  /** What the text has changed that is in the fields again. */
  readonly changes: JsonObject;
  readonly json: Text | undefined;
  /** The configuration when one began. */
  readonly since: JsonObject | undefined;
}

const nothing: Unsaved = { edits: {}, changes: {}, json: undefined, since: undefined };

/**
 * A configuration in a form. Only what is changed in it is kept apart from what the hub has: when another user changes
 * the server meanwhile, the rest of the form shows that, and saving leaves it alone.
 */
export function useConfigForm({ name, type, config }: ServerDetails) {
  const { t } = useTranslation();
  const [unsaved, setUnsaved] = useState(nothing);
  const { edits, changes, json, since = config } = unsaved;
  const base = useMemo(() => {
    const changed = withChanges(config, changes);
    return draftOf(changed, transportOf(changed) ?? (type === 'invalid' ? 'auto' : type));
  }, [config, changes, type]);
  const draft: Draft = { ...base, ...edits };
  const parsed = json === undefined ? undefined : objectIn(json.text);
  const next =
    json === undefined ? configOf(draft) : parsed?.value && withChanges(base.rest, changesOf(json.of, parsed.value));
  const isTouched = next === undefined || Object.keys(changesOf(config, next)).length > 0;
  const begun = isTouched ? since : config;

  const save = useAction<Unsaved, { data: ServerDetails } | undefined>({
    run: async () => {
      const sent = changesOf(config, next ?? config);
      if (Object.keys(sent).length === 0) return undefined;
      return ask<ServerDetails>(`/servers${pathOf(name)}`, { method: 'PUT', body: { config: sent } });
    },
    done: (saved, sent) => {
      if (saved) queryClient.setQueryData(serverQuery(name).queryKey, saved.data);
      // What was typed while it was on its way is not saved yet.
      setUnsaved((now) => ({
        edits: Object.fromEntries(
          Object.entries(now.edits).filter(([field, value]) => sent.edits[field as keyof Draft] !== value),
        ),
        // Those of a text that was left meanwhile are more than what was sent.
        changes: now.changes === sent.changes ? {} : now.changes,
        json: now.json === sent.json ? undefined : now.json,
        since: saved?.data.config,
      }));
      toast.good(t('common.saved'));
    },
    quiet: true,
  });

  return {
    draft,
    setDraft: (changed: Draft) => setUnsaved({ ...unsaved, edits: editsOf(base, changed), since: begun }),
    json: json?.text,
    setJson: (text: string) => setUnsaved({ ...unsaved, json: json && { ...json, text }, since }),
    /** Why the text cannot be saved. */
    why: parsed?.why,
    /** Between the fields and the text; what is in one is in the other. A text that is no object is dropped. */
    turn: () => {
      const all = next ?? base.rest;
      const asText = json === undefined ? { text: textOf(all), of: all } : undefined;
      setUnsaved({ edits: {}, changes: changesOf(config, all), json: asText, since: begun });
    },
    save: () => {
      if (next) save.mutate(unsaved);
    },
    saving: save.isPending,
    error: save.error,
    /** The hub's configuration has changed since the editing began. */
    isOvertaken: isTouched && JSON.stringify(since) !== JSON.stringify(config),
  };
}

function textOf(config: JsonObject): string {
  return JSON.stringify(config, null, 2);
}
